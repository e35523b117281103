"""From the facts that an operator needs to few reads that fetch them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from scenecypher.db.store.footprint import START, NodeFilter, PatternRead, ReadPlan, RelationPattern
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.reading import ANY, Need, needs, seeds

Path: TypeAlias = tuple[RelationPattern, ...]

MANY: Final = 3
"""So many joins cost more to plan than the relations that they leave out cost to read."""
WHOLE: Final = "whole"
"""What the node that is read whole is called in every path to one, so that paths can be compared."""


def reads_of(operator: Operator) -> ReadPlan:
    """What an action of this operator reads. Raises ValueError for what can't be reached from its parameters."""
    return few_reads(seeds(operator), tuple(dict.fromkeys(needs(operator))))


def few_reads(bound: tuple[str, ...], found: Sequence[Need]) -> ReadPlan:
    """Reads that fetch all of `found`, where the variables `bound` are seeds."""
    reads: list[PatternRead] = []
    always: list[Path] = []
    for guard in sorted({need.guard or () for need in found}):
        chosen = [need for need in found if (need.guard or ()) == guard]
        paths = _relation_paths(bound, chosen, always)
        when = (guard[0], guard[1]) if guard else None
        news = [(path, _new_hops(path, [*paths, *always])) for path in paths]
        reads += [PatternRead(path, rows=hops, guard=when) for path, hops in news if hops]
        nodes = [(_called(need.hops, need.whole), need.only) for need in chosen if need.whole is not None]
        for path in _fewest_wholes([path for path, _ in nodes]):
            reads.append(PatternRead(path, whole=(WHOLE,), only=_only(path, nodes), guard=when))
        always = always or paths
    classes = {need.class_ for need in found if need.class_ is not None}
    return ReadPlan(bound, tuple(_together(reads, bound)), tuple(sorted(classes)))


def _together(reads: Iterable[PatternRead], bound: tuple[str, ...]) -> Iterator[PatternRead]:
    """Reads that do the same from several seeds as one."""
    alike: dict[PatternRead, list[PatternRead]] = {}
    for read in reads:
        alike.setdefault(_from_start(read, bound), []).append(read)
    for read, same in alike.items():
        yield replace(read, starts=tuple(each.hops[0].source for each in same)) if len(same) > 1 else same[0]


def _from_start(read: PatternRead, bound: tuple[str, ...]) -> PatternRead:
    """A read of one hop away from a seed, its seed called START."""
    first, *others = read.hops
    if others or read.guard or first.source not in bound or first.target in bound:
        return read
    hop = replace(first, source=START)
    return replace(read, hops=(hop,), rows=(hop,) if read.rows else ())


def _relation_paths(bound: tuple[str, ...], found: Sequence[Need], always: Sequence[Path]) -> list[Path]:
    """The paths to read for the relations of `found`, beside those that are `always` read."""
    paths = [_opened(need.hops, bound) for need in found if need.hops and need.whole is None]
    return _two_way([path for path in _fewest(_spokes(paths, bound)) if _new_hops(path, always)])


def _fewest(paths: Iterable[Path]) -> list[Path]:
    """Without the paths all of whose relations are read by others."""
    kept = _split(paths)
    for path in sorted(kept, key=lambda path: (-len(path), path)):
        others = [other for other in kept if other != path]
        if not _new_hops(path, others):
            kept = others
    return _merged(kept)


def _spokes(paths: Sequence[Path], bound: tuple[str, ...]) -> list[Path]:
    """Many joins that end in a seed's relations of the same types as one read of all of those."""
    ends = Counter(_end(path, bound) for path in dict.fromkeys(paths))
    return [(end,) if (end := _end(path, bound)) and ends[end] >= MANY else path for path in paths]


def _end(path: Path, bound: tuple[str, ...]) -> RelationPattern | None:
    """The last hop from a seed, its other end left open, of a path that leads on; None where there is no such hop."""
    *before, last = path
    reached = {end for hop in before for end in (hop.source, hop.target)} - {*bound}
    if last.source in bound and last.target in reached:
        return replace(last, target=ANY)
    return replace(last, source=ANY) if last.target in bound and last.source in reached else None


def _two_way(paths: Iterable[Path]) -> list[Path]:
    """Two paths that differ in the direction of their last hop as one, along which both are read."""
    ways: dict[Path, dict[str, Path]] = {}
    for *before, last in paths:
        ends = sorted((last.source, last.target))
        between = replace(last, source=ends[0], target=ends[1], types=())
        ways.setdefault((*before, between), {})[last.source] = (*before, last)
    return sorted(_both(path, [*directions.values()]) for path, directions in ways.items())


def _both(path: Path, directions: Sequence[Path]) -> Path:
    if len(directions) == 1 or path[-1].far:
        return directions[0]
    types = {type_ for direction in directions for type_ in direction[-1].types}
    return (*path[:-1], replace(path[-1], types=tuple(sorted(types)), mutual=True))


def _new_hops(path: Path, others: Sequence[Path]) -> Path:
    """The hops of `path` whose relations no other path reads."""
    return tuple(hop for hop in path if not any(_reads(other, hop, path) for other in others if other != path))


def _reads(other: Path, hop: RelationPattern, path: Path) -> bool:
    """Whether `other` reads at least those relations of `hop` that `path` does, since it asks for no more."""
    *before, last = other
    if not {*before} <= {*path} or not any(_includes(last, asked) for asked in path):
        return False
    return hop in before or _includes(last, hop)


def _includes(wide: RelationPattern, narrow: RelationPattern) -> bool:
    """Whether every relation of `narrow` is one of `wide`, which may leave an end open."""
    if not {*narrow.types} <= {*wide.types} or (narrow.far and not wide.far):
        return False
    ends = [(wide.source, wide.target), (wide.target, wide.source)][: 2 if wide.mutual else 1]
    return any(source in (narrow.source, ANY) and target in (narrow.target, ANY) for source, target in ends)


def _opened(path: Path, bound: tuple[str, ...]) -> Path:
    """`path` with an end that nothing else speaks of left open."""
    *before, last = path
    others = {end for hop in before for end in (hop.source, hop.target)} | {*bound}
    if last.source not in others:
        return (*before, replace(last, source=ANY))
    return (*before, replace(last, target=ANY)) if last.target not in others else path


def _split(paths: Iterable[Path]) -> list[Path]:
    """Paths with one type in their last hop each, each once, sorted."""
    return sorted({(*before, replace(last, types=(type_,))) for *before, last in paths for type_ in last.types})


def _merged(paths: Iterable[Path]) -> list[Path]:
    """Paths that differ only in the types of their last hop as one, sorted."""
    types: dict[tuple[Path, RelationPattern], set[str]] = {}
    for *before, last in paths:
        types.setdefault((tuple(before), replace(last, types=())), set()).update(last.types)
    return sorted((*before, replace(last, types=tuple(sorted(names)))) for (before, last), names in types.items())


def _fewest_wholes(paths: Iterable[Path]) -> list[Path]:
    """Without the paths whose nodes are reached by a wider one."""
    kept = _split(paths)
    for path in sorted(kept, key=lambda path: (-len(path), path)):
        others = [other for other in kept if other != path]
        if any(_reaches(other, path) for other in others):
            kept = others
    return _merged(kept)


def _reaches(wide: Path, narrow: Path) -> bool:
    """Whether `wide` leads to every node that `narrow` leads to, since it asks for no more."""
    return all(any(_includes(hop, asked) for asked in narrow) for hop in wide)


def _only(path: Path, nodes: Iterable[tuple[Path, NodeFilter | None]]) -> tuple[NodeFilter, ...]:
    """What the nodes at the end of `path` must be any of to matter; nothing where all of them do."""
    wanted = {only for other, only in nodes for each in _split([other]) if _reaches(path, each)}
    return tuple(sorted(only for only in wanted if only)) if None not in wanted else ()


def _called(path: Path, name: str | None) -> Path:
    """`path` with the node `name` called WHOLE."""
    renamed = {name: WHOLE}
    return tuple(
        replace(hop, source=renamed.get(hop.source, hop.source), target=renamed.get(hop.target, hop.target))
        for hop in path
    )

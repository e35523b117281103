"""Few reads that fetch the whole read set of an operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from scenecypher.db.store.footprint import START, NodeFilter, PatternRead, ReadPlan, RelationPattern
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.read_set import ANY_NODE, ReadNeed, read_needs, seed_variables

HopPath: TypeAlias = tuple[RelationPattern, ...]

MIN_JOINS: Final = 3
"""From this number of joins on, planning them costs more than reading the relations that they exclude."""
WHOLE_NODE: Final = "whole"
"""The common name of the node that is read whole, so that paths can be compared."""


def reads_of(operator: Operator) -> ReadPlan:
    """Return the reads of an operator. Raises ValueError if a node is not reachable from its parameters."""
    return minimal_reads(seed_variables(operator), tuple(dict.fromkeys(read_needs(operator))))


def reads_or_everything(operator: Operator) -> ReadPlan:
    """Return the reads of an operator; of one that no single statement can follow, the whole scene."""
    try:
        return reads_of(operator)
    except ValueError:
        return ReadPlan(seed_variables(operator)[:1], everything=True)


def minimal_reads(seeds: tuple[str, ...], found: Sequence[ReadNeed]) -> ReadPlan:
    """Return few reads that fetch all of `found`; `seeds` are variables that are bound already."""
    reads: list[PatternRead] = []
    always: list[HopPath] = []
    for guard in sorted({need.guard or () for need in found}):
        chosen = [need for need in found if (need.guard or ()) == guard]
        paths = _relation_paths(seeds, chosen, always)
        when = (guard[0], guard[1]) if guard else None
        uncovered = [(path, _uncovered_hops(path, [*paths, *always])) for path in paths]
        reads += [PatternRead(path, rows=hops, guard=when) for path, hops in uncovered if hops]
        nodes = [(_rename_whole(need.hops, need.whole), need.only) for need in chosen if need.whole is not None]
        for path in _drop_covered_nodes([path for path, _ in nodes]):
            reads.append(PatternRead(path, whole=(WHOLE_NODE,), only=_filters(path, nodes), guard=when))
        always = always or paths
    classes = {need.class_ for need in found if need.class_ is not None}
    return ReadPlan(seeds, tuple(_merge_starts(reads, seeds)), tuple(sorted(classes)))


def _merge_starts(reads: Iterable[PatternRead], seeds: tuple[str, ...]) -> Iterator[PatternRead]:
    """Yield equal reads that start at different seeds as one read."""
    by_start: dict[PatternRead, list[PatternRead]] = {}
    for read in reads:
        by_start.setdefault(_generalize_start(read, seeds), []).append(read)
    for read, equal in by_start.items():
        yield replace(read, starts=tuple(each.hops[0].source for each in equal)) if len(equal) > 1 else equal[0]


def _generalize_start(read: PatternRead, seeds: tuple[str, ...]) -> PatternRead:
    """Return a one-hop read with its seed replaced by START; any other read unchanged."""
    first, *others = read.hops
    if others or read.guard or first.source not in seeds or first.target in seeds:
        return read
    hop = replace(first, source=START)
    return replace(read, hops=(hop,), rows=(hop,) if read.rows else ())


def _relation_paths(seeds: tuple[str, ...], found: Sequence[ReadNeed], always: Sequence[HopPath]) -> list[HopPath]:
    """Return the paths to read for the relations of `found`, except those in `always`."""
    paths = [_open_end(need.hops, seeds) for need in found if need.hops and need.whole is None]
    return _merge_directions(
        [path for path in _drop_covered(_merge_joins(paths, seeds)) if _uncovered_hops(path, always)]
    )


def _drop_covered(paths: Iterable[HopPath]) -> list[HopPath]:
    """Drop paths whose relations are all read by other paths."""
    kept = _split_types(paths)
    for path in sorted(kept, key=lambda path: (-len(path), path)):
        others = [other for other in kept if other != path]
        if not _uncovered_hops(path, others):
            kept = others
    return _merge_types(kept)


def _merge_joins(paths: Sequence[HopPath], seeds: tuple[str, ...]) -> list[HopPath]:
    """Replace MIN_JOINS or more joins that end in the same relations of a seed by one read of those relations."""
    ends = Counter(_end(path, seeds) for path in dict.fromkeys(paths))
    return [(end,) if (end := _end(path, seeds)) and ends[end] >= MIN_JOINS else path for path in paths]


def _end(path: HopPath, seeds: tuple[str, ...]) -> RelationPattern | None:
    """Return the last hop of a join that ends at a seed, its other end open; None if the path is no such join."""
    *before, last = path
    reached = {end for hop in before for end in (hop.source, hop.target)} - {*seeds}
    if last.source in seeds and last.target in reached:
        return replace(last, target=ANY_NODE)
    return replace(last, source=ANY_NODE) if last.target in seeds and last.source in reached else None


def _merge_directions(paths: Iterable[HopPath]) -> list[HopPath]:
    """Merge two paths that differ only in the direction of their last hop."""
    by_ends: dict[HopPath, dict[str, HopPath]] = {}
    for *before, last in paths:
        ends = sorted((last.source, last.target))
        between = replace(last, source=ends[0], target=ends[1], types=())
        by_ends.setdefault((*before, between), {})[last.source] = (*before, last)
    return sorted(_bidirectional(path, [*directions.values()]) for path, directions in by_ends.items())


def _bidirectional(path: HopPath, directions: Sequence[HopPath]) -> HopPath:
    if len(directions) == 1 or path[-1].far:
        return directions[0]
    types = {type_ for direction in directions for type_ in direction[-1].types}
    return (*path[:-1], replace(path[-1], types=tuple(sorted(types)), mutual=True))


def _uncovered_hops(path: HopPath, others: Sequence[HopPath]) -> HopPath:
    """Return the hops of `path` whose relations no other path reads."""
    return tuple(hop for hop in path if not any(_covers(other, hop, path) for other in others if other != path))


def _covers(other: HopPath, hop: RelationPattern, path: HopPath) -> bool:
    """Return whether `other` reads at least the relations of `hop` that `path` reads, since it joins on no more."""
    *before, last = other
    if not {*before} <= {*path} or not any(_includes(last, asked) for asked in path):
        return False
    return hop in before or _includes(last, hop)


def _includes(wide: RelationPattern, narrow: RelationPattern) -> bool:
    """Return whether every relation of `narrow` matches `wide`, which may have an open end."""
    if not {*narrow.types} <= {*wide.types} or (narrow.far and not wide.far):
        return False
    ends = [(wide.source, wide.target), (wide.target, wide.source)][: 2 if wide.mutual else 1]
    return any(source in (narrow.source, ANY_NODE) and target in (narrow.target, ANY_NODE) for source, target in ends)


def _open_end(path: HopPath, seeds: tuple[str, ...]) -> HopPath:
    """Return `path` with its last hop's end open if no other hop mentions that end."""
    *before, last = path
    others = {end for hop in before for end in (hop.source, hop.target)} | {*seeds}
    if last.source not in others:
        return (*before, replace(last, source=ANY_NODE))
    return (*before, replace(last, target=ANY_NODE)) if last.target not in others else path


def _split_types(paths: Iterable[HopPath]) -> list[HopPath]:
    """Return the paths with one relation type in each last hop, without duplicates, sorted."""
    return sorted({(*before, replace(last, types=(type_,))) for *before, last in paths for type_ in last.types})


def _merge_types(paths: Iterable[HopPath]) -> list[HopPath]:
    """Merge paths that differ only in the types of their last hop, sorted."""
    types: dict[tuple[HopPath, RelationPattern], set[str]] = {}
    for *before, last in paths:
        types.setdefault((tuple(before), replace(last, types=())), set()).update(last.types)
    return sorted((*before, replace(last, types=tuple(sorted(names)))) for (before, last), names in types.items())


def _drop_covered_nodes(paths: Iterable[HopPath]) -> list[HopPath]:
    """Drop paths whose end nodes a wider path reaches."""
    kept = _split_types(paths)
    for path in sorted(kept, key=lambda path: (-len(path), path)):
        others = [other for other in kept if other != path]
        if any(_reaches(other, path) for other in others):
            kept = others
    return _merge_types(kept)


def _reaches(wide: HopPath, narrow: HopPath) -> bool:
    """Return whether `wide` reaches every node that `narrow` reaches, since it joins on no more."""
    return all(any(_includes(hop, asked) for asked in narrow) for hop in wide)


def _filters(path: HopPath, nodes: Iterable[tuple[HopPath, NodeFilter | None]]) -> tuple[NodeFilter, ...]:
    """Return filters of which a node at the end of `path` must pass one; empty if every node matters."""
    wanted = {only for other, only in nodes for each in _split_types([other]) if _reaches(path, each)}
    return tuple(sorted(only for only in wanted if only)) if None not in wanted else ()


def _rename_whole(path: HopPath, name: str | None) -> HopPath:
    """Return `path` with the node `name` renamed to WHOLE_NODE."""
    renamed = {name: WHOLE_NODE}
    return tuple(
        replace(hop, source=renamed.get(hop.source, hop.source), target=renamed.get(hop.target, hop.target))
        for hop in path
    )

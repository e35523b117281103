"""Placement of sightings: on or in the observed node, directly, over others, or over what is believed there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from scenecypher.db.graph.scene import GraphView, Node
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.wording import normal_form, singular_forms

Support: TypeAlias = int | str
"""What bears a thing: the number of another sighting, or the id of a node."""
_Candidate: TypeAlias = tuple[Support, tuple[str, str], str]
"""What may bear a thing, with its names and its class."""

BEARING: Final = {"ON": frozenset({"put_on", "surfaces"}), "INSIDE": frozenset({"put_inside", "put_in", "containers"})}
"""Affordances of what can bear a thing, by the type of the relation."""
NO_SUPPORT: Final = (None, None)


@dataclass(frozen=True, slots=True)
class Placement:
    """Number of a sighting, its relation type, and its support; `inferred` if the observer did not say all of it."""

    number: int
    type: str
    support: Support
    inferred: bool = False


def placements(observation: Observation, belief: GraphView, *, vocabulary: str) -> tuple[Placement, ...]:
    """Return the placements of sightings; supports come first.

    A support is the observed node, another sighting, or what is believed on or in the observed node (in a room also its
    furniture): by id, by name, else by class if only one is of it. Sightings without a support, with an unknown one, or
    in a cycle are left out.
    """
    found = _Supports(observation, belief, vocabulary)
    waiting = [placement for number in range(len(observation.sightings)) for placement in found.placement(number)]
    placed: set[int] = set()
    ordered: list[Placement] = []
    while ready := [it for it in waiting if isinstance(it.support, str) or it.support in placed]:
        ordered += ready
        placed |= {placement.number for placement in ready}
        waiting = [placement for placement in waiting if placement.number not in placed]
    return tuple(ordered)


def fixtures_of(belief: GraphView, of: str, *, vocabulary: str) -> tuple[str, ...]:
    """Return the ids of a room's furniture and doors, sorted; none of another node."""
    if belief.nodes[of].kind != "Place":
        return ()
    below = belief.reaching(of, *conventions_of(vocabulary).containment)
    near = {*below, *belief.targets(of, "CONNECTS"), *belief.sources(of, "BETWEEN", "CONNECTS")}
    return tuple(sorted(it for it in near if belief.nodes[it].kind in {"Asset", "Door"}))


def is_covered(graph: GraphView, thing: str, place: str, *, containment: tuple[str, ...]) -> bool:
    """Check if `place` is a room and a thing in it is hidden from a look: it is in or on something there."""
    containers = {*graph.targets(thing, *containment)} - {place}
    return graph.nodes[place].kind == "Place" and any(graph.nodes[it].kind != "Place" for it in containers)


def is_shut_in(graph: GraphView, thing: str, *, containment: tuple[str, ...]) -> bool:
    """Check if a thing is inside something closed, over any number of containers."""
    chain = {thing, *graph.reached(thing, *containment)}
    return any("closed" in graph.nodes[lid].states for it in chain for lid in graph.targets(it, "INSIDE"))


@dataclass(slots=True)
class _Supports:
    """The supports that sightings of one observation may have, by names, by classes, and by ends of classes."""

    observation: Observation
    belief: GraphView
    vocabulary: str
    exact: dict[str, list[int]] = field(default_factory=dict)
    indexes: tuple[dict[str, set[Support]], ...] = field(init=False)

    def __post_init__(self) -> None:
        sightings = self.observation.sightings
        seen: list[_Candidate] = [
            (number, (it.name, it.id or it.name), it.class_) for number, it in enumerate(sightings)
        ]
        for number, it in enumerate(sightings):
            for name in {it.name.casefold(), (it.id or it.name).casefold()}:
                self.exact.setdefault(name, []).append(number)
        told = {normal_form(name) for _, names, _ in seen for name in names}
        nodes = (self.belief.nodes[it] for it in (self.observation.of, *self._believed_supports()))
        believed: Iterable[_Candidate] = ((it.id, (it.id, it.name), it.class_) for it in nodes)
        free = (it for it in believed if it[0] == self.observation.of or not told & {*map(normal_form, it[1])})
        by_name, by_class, by_end = (defaultdict[str, set[Support]](set) for _ in range(3))
        for support, names, class_ in (*seen, *free):
            words = normal_form(class_).split()
            by_class[" ".join(words)].add(support)
            for name in names:
                by_name[normal_form(name)].add(support)
            for start in range(1, len(words)):
                by_end[" ".join(words[start:])].add(support)
        self.indexes = by_name, by_class, by_end

    def placement(self, number: int) -> Iterator[Placement]:
        """Yield the placement of a sighting, if its support is clear."""
        type_, target = self.observation.sightings[number].support or NO_SUPPORT
        of = self.belief.nodes[self.observation.of]
        if target is None:
            if of.kind == "Place" or type_ is not None:
                yield Placement(number, "INSIDE" if of.kind == "Place" else type_ or "", of.id, inferred=True)
            return
        support, named = self._support(target, but=number)
        if support is None:
            return
        relation = self._relation(number, type_, support)
        if relation is not None:
            yield Placement(number, relation, support, inferred=not named or type_ is None)

    def _support(self, target: str, *, but: int) -> tuple[Support | None, bool]:
        """Return the support that a text means, None if unclear, and whether it is named, not described."""
        of = self.belief.nodes[self.observation.of]
        if target.casefold() in {of.id.casefold(), of.name.casefold()}:
            return of.id, True
        for number in self.exact.get(target.casefold(), ()):
            if number != but:
                return number, True
        forms = singular_forms(target)
        for index, words in zip(self.indexes, ((normal_form(target),), forms, forms), strict=True):
            found = {support for word in words for support in index.get(word, ())} - {but}
            if found:
                return (found.pop() if len(found) == 1 else None), index is self.indexes[0]
        return None, False

    def _believed_supports(self) -> Iterable[str]:
        """Return what is believed on or in the observed node; the agent and what it holds bear nothing."""
        containment = conventions_of(self.vocabulary).containment
        below = self.belief.reaching(self.observation.of, *containment) - {self.observation.of}
        return sorted(it for it in below if self.belief.nodes[it].kind in {"Asset", "Object"})

    def _relation(self, number: int, type_: str | None, support: Support) -> str | None:
        """Return the type of the relation to a support: the observer's, else the only one that the support allows."""
        if isinstance(support, int):
            return type_ or _only_relation(self._affordances(self.observation.sightings[support]))
        node = self.belief.nodes[support]
        if node.kind == "Place":
            return "INSIDE"
        return type_ or self._believed_relation(number, node) or _only_relation(node.affordances)

    def _affordances(self, seen: Sighting) -> Iterable[str]:
        """Return the affordances of a sighting: those that it tells, else those of the first believed thing like it."""
        alike = self.belief.by_class.get(seen.class_, ())
        return seen.affordances or (self.belief.nodes[alike[0]].affordances if alike else ())

    def _believed_relation(self, number: int, support: Node) -> str | None:
        sighting: Sighting = self.observation.sightings[number]
        names = {normal_form(sighting.name), normal_form(sighting.id or sighting.name)}
        types = {
            it.type
            for it in self.belief.incoming.get(support.id, ())
            if it.type in conventions_of(self.vocabulary).containment and normal_form(it.source) in names
        }
        return types.pop() if len(types) == 1 else None


def _only_relation(affordances: Iterable[str]) -> str | None:
    """Return the only relation type by which a node of these affordances bears things; None for none or several."""
    types = [type_ for type_, words in BEARING.items() if words & {*affordances}]
    return types[0] if len(types) == 1 else None

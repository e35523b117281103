"""Placement of sightings on or in the observed node, and what a thing loses and gains when it is moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from scenecypher.db.graph.scene import GraphView, Node, Point, Relation
from scenecypher.db.schema import HOLDING, REMEMBERED
from scenecypher.db.vocabulary import conventions_of
from scenecypher.importers.babyai_grid import GridCell
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.perception.wording import compact, ends_of, normal_form, singular_forms
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

Support: TypeAlias = int | str
"""What bears a thing: the number of another sighting, or the id of a node."""

BEARING: Final = {"ON": frozenset({"put_on", "surfaces"}), "INSIDE": frozenset({"put_inside", "put_in", "containers"})}
"""Affordances of what can bear a thing, by the type of the relation."""
NEARNESS: Final = ("CLOSE", "FACING")
"""Relations that a moved thing loses, in both directions."""
PLACED: Final = frozenset({"center", "position", "cell"})
"""Properties that a moved thing loses."""


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


def cell_of(node: Node) -> GridCell | None:
    """Return the cell of a grid that a node is in, None if it has no position."""
    center = node.properties.get("center")
    return (round(center.x), round(center.y)) if isinstance(center, Point) else None


def is_covered(graph: GraphView, thing: str, place: str, *, containment: tuple[str, ...]) -> bool:
    """Check if `place` is a room and a thing in it is hidden from a look: it is in or on something there."""
    containers = {*graph.targets(thing, *containment)} - {place}
    return graph.nodes[place].kind == "Place" and any(graph.nodes[it].kind != "Place" for it in containers)


def is_shut_in(graph: GraphView, thing: str, *, of: str, containment: tuple[str, ...]) -> bool:
    """Check if a look at `of` can't show a thing: it is inside something else that is closed, over any containers."""
    chain = {thing, *graph.reached(thing, *containment)}
    lids = {lid for it in chain for lid in graph.targets(it, "INSIDE")} - {of}
    return any("closed" in graph.nodes[lid].states for lid in lids)


@dataclass(slots=True)
class _Supports:
    """The supports that sightings of one observation may have, by names, by classes, and by ends of classes."""

    observation: Observation
    belief: GraphView
    vocabulary: str
    exact: dict[str, list[int]] = field(default_factory=dict)
    indexes: tuple[dict[str, set[Support]], ...] = field(init=False)

    def __post_init__(self) -> None:
        of, seen = self.observation.of, list[tuple[Support, tuple[str, str], str]]()
        for number, it in enumerate(self.observation.sightings):
            seen.append((number, (it.name, it.id or it.name), it.class_))
            for name in {it.name.casefold(), (it.id or it.name).casefold()}:
                self.exact.setdefault(name, []).append(number)
        told = {normal_form(name) for _, names, _ in seen for name in names}
        below = self.belief.reaching(of, *conventions_of(self.vocabulary).containment) - {of}
        nodes = (self.belief.nodes[it] for it in (of, *sorted(below)))
        bearing = (it for it in nodes if it.id == of or it.kind in {"Asset", "Object"})  # no agent, nor what it holds
        believed = ((it.id, (it.id, it.name), it.class_) for it in bearing)
        free = (it for it in believed if it[0] == of or not told & {*map(normal_form, it[1])})
        by_name, by_class, by_end = (defaultdict[str, set[Support]](set) for _ in range(3))
        for support, names, class_ in (*seen, *free):
            by_class[compact(class_)].add(support)
            for name in names:
                by_name[compact(name)].add(support)
            for end in ends_of(class_):
                by_end[end].add(support)
        self.indexes = by_name, by_class, by_end

    def placement(self, number: int) -> Iterator[Placement]:
        """Yield the placement of a sighting, if its support is clear."""
        type_, target = self.observation.sightings[number].support or (None, None)
        of = self.belief.nodes[self.observation.of]
        if target is None:
            if of.kind == "Place" or type_ is not None:
                yield Placement(number, "INSIDE" if of.kind == "Place" else type_ or "", of.id, inferred=True)
            return
        support, named = self._support(target, but=number)
        relation = None if support is None else self._relation(number, type_, support)
        if support is not None and relation is not None:
            yield Placement(number, relation, support, inferred=not named or type_ is None)

    def _support(self, target: str, *, but: int) -> tuple[Support | None, bool]:
        """Return the support that a text means, None if unclear, and whether it is named, not described."""
        of = self.belief.nodes[self.observation.of]
        if target.casefold() in {of.id.casefold(), of.name.casefold()}:
            return of.id, True
        for number in self.exact.get(target.casefold(), ()):
            if number != but:
                return number, True
        forms = [*map(compact, singular_forms(target))]
        for index, words in zip(self.indexes, ([compact(target)], forms, forms), strict=True):
            found = {support for word in words for support in index.get(word, ())} - {but}
            if found:
                return (found.pop() if len(found) == 1 else None), index is self.indexes[0]
        return None, False

    def _relation(self, number: int, type_: str | None, support: Support) -> str | None:
        """Return the type of the relation to a support: the observer's, else the only one that the support allows."""
        seen = self.observation.sightings[number]
        if isinstance(support, int):
            bearer = self.observation.sightings[support]
            alike = self.belief.by_class.get(bearer.class_, ())[:1]
            affordances = bearer.affordances or [word for it in alike for word in self.belief.nodes[it].affordances]
            return type_ or _only(it for it, words in BEARING.items() if words & {*affordances})
        node, names = self.belief.nodes[support], {normal_form(it) for it in (seen.name, seen.id or seen.name)}
        if node.kind == "Place":
            return "INSIDE"
        types = conventions_of(self.vocabulary).containment
        believed = (it for it in types if names & {*map(normal_form, self.belief.sources(support, it))})
        return type_ or _only(believed) or _only(it for it, words in BEARING.items() if words & {*node.affordances})


def _only(types: Iterable[str]) -> str | None:
    """Return the only one of the types of relations that are possible; None for none or several."""
    found = [*types]
    return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves of things in a graph, by the rules of a vocabulary."""

    graph: GraphView
    vocabulary: str

    def contents(self, thing: str) -> set[str]:
        """Return the objects on or in a thing, over any number of containers."""
        above = self.graph.reaching(thing, *self.containment) if self.graph.nodes[thing].kind == "Object" else set()
        return {it for it in above if self.graph.nodes[it].kind == "Object"} - {thing}

    def lost(self, thing: str, contents: Collection[str]) -> set[Relation]:
        """Return the relations of a thing to containers, holders and near things, and of its contents to all others."""
        leaving, moved = {*self.containment, *REMEMBERED}, {thing, *contents}
        found = {it for it in self.graph.outgoing.get(thing, ()) if it.type in leaving}
        found |= {it for it in self.graph.incoming.get(thing, ()) if it.type in HOLDING}
        for node in moved:
            ends = (*self.graph.outgoing.get(node, ()), *self.graph.incoming.get(node, ()))
            found |= {it for it in ends if it.type in NEARNESS and not {it.source, it.target} <= moved}
        found |= {Relation(it, "INSIDE", room) for it in contents for room in self._rooms(it)}
        return found

    def gained(self, relation: Relation, *, room_of: str, contents: Collection[str] = ()) -> Iterator[Relation]:
        """Yield a thing's new relation and those that follow, as other things of the graph have them.

        These are INSIDE the room, for its contents too, and nearness. The room is that of the node `room_of`.
        """
        yield relation
        target = self.graph.nodes.get(relation.target)
        is_in_room = target is not None and target.kind == "Place"
        nearness = vocabulary_named(self.vocabulary).looking.nearness
        if nearness or self._states_rooms():
            rooms = [relation.target] if is_in_room else self._rooms(room_of)
            yield from (Relation(it, "INSIDE", room) for it in (relation.source, *contents) for room in rooms)
        if nearness and not is_in_room:
            yield Relation(relation.source, "CLOSE", relation.target)
            yield Relation(relation.target, "CLOSE", relation.source)

    def _states_rooms(self) -> bool:
        """Check if most things of the graph that are on or in others are INSIDE their room besides."""
        places, stated = self.graph.by_kind.get("Place", ()), list[bool]()
        for thing in () if conventions_of(self.vocabulary).one_parent else self.graph.by_kind.get("Object", ()):
            containers = self.graph.targets(thing, *self.containment)
            if any(it not in places for it in containers):
                stated.append(any(it in places for it in containers))
        return 2 * sum(stated) > len(stated)

    def _rooms(self, node: str) -> list[str]:
        """Return the room that a node is, or those that it is in: directly, else over any number of containers."""
        places = self.graph.by_kind.get("Place", ())
        if node in places:
            return [node]
        inside = [it for it in self.graph.targets(node, "INSIDE") if it in places]
        return inside or sorted(it for it in self.graph.reached(node, *self.containment) if it in places)[:1]

    @property
    def containment(self) -> tuple[str, ...]:
        """Types of the relations by which a thing is on or in another."""
        return conventions_of(self.vocabulary).containment

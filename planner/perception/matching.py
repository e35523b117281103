"""Matching of sightings with nodes of the belief: by id, by name, else by class, support and position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import dist
from typing import Final

from scenecypher.db.graph.scene import GraphView, Node, Point
from scenecypher.db.schema import HOLDING
from scenecypher.planner.perception.draft import SEEN
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.placing import Placement, is_shut_in
from scenecypher.planner.perception.wording import is_of_class, normal_form

TOLERANCE: Final = 0.5
"""Largest distance (metres; in grids cells) between believed and seen position of the same thing."""


@dataclass(slots=True)
class Matches:
    """The believed node of each sighting, by its number; those of `far` were found by their class alone.

    A placed sighting without a node is of something new.
    """

    nodes: dict[int, str] = field(default_factory=dict)
    far: set[int] = field(default_factory=set)


def match_sightings(
    belief: GraphView, observation: Observation, placements: Sequence[Placement], *, containment: tuple[str, ...]
) -> Matches:
    """Match sightings with believed nodes.

    Every node is matched once: by id or name first, then by likeness on the same support, then in or on the observed
    node, and last, without an id and a position, wherever it is believed: what is nowhere comes before what nobody has
    seen, and that before what was seen longest ago. Sightings without a placement are matched but for the last. Never
    matched are the node looked at, its own containers (by the relations `containment`), and by likeness what is held.
    """
    return _Matching(belief, observation, containment).match(placements)


@dataclass(slots=True)
class _Matching:
    belief: GraphView
    observation: Observation
    containment: tuple[str, ...]
    barred: set[str] = field(init=False)
    found: Matches = field(default_factory=Matches)

    def __post_init__(self) -> None:
        self.barred = {self.observation.of, *self.belief.reached(self.observation.of, *self.containment)}

    def match(self, placements: Sequence[Placement]) -> Matches:
        """Match all sightings, the placed ones first."""
        placed = [placement.number for placement in placements]
        unplaced = sorted({*range(len(self.observation.sightings))} - {*placed})
        self._match_names([*placed, *unplaced])
        for placement in placements:
            support = (
                self.found.nodes.get(placement.support) if isinstance(placement.support, int) else placement.support
            )
            if support is not None and placement.number not in self.found.nodes:
                self._match_alike(placement.number, self.belief.sources(support, placement.type))
        unknown = [number for number in (*placed, *unplaced) if self._is_unknown(number)]
        below = self._below() if unknown else ()
        for number in unknown:
            self._match_alike(number, below)
        for number in filter(self._is_unknown, placed):
            self._match_far(number)
        return self.found

    def _is_unknown(self, number: int) -> bool:
        return number not in self.found.nodes and self.observation.sightings[number].id is None

    def _match_names(self, numbers: Sequence[int]) -> None:
        names = _by_name(self.belief, str.casefold)
        for number in numbers:
            self._match_name(number, names, str.casefold)
        rest = [number for number in numbers if self._is_unknown(number)]
        names = _by_name(self.belief, normal_form) if rest else {}
        for number in rest:
            self._match_name(number, names, normal_form)

    def _match_name(self, number: int, names: dict[str, str], form: Callable[[str], str]) -> None:
        sighting = self.observation.sightings[number]
        known = sighting.id if sighting.id in self.belief else names.get(form(sighting.name))
        if known is not None and known not in self.barred and _may_be(self.belief.nodes[known], sighting):
            self._take(number, known)

    def _match_alike(self, number: int, among: Iterable[str]) -> None:
        free = (self.belief.nodes[it] for it in among if it not in self.barred)
        alike = _nearest(free, self.observation.sightings[number])
        if alike is not None:
            self._take(number, alike)

    def _below(self) -> tuple[str, ...]:
        """Return what is believed on or in the observed node and not shut in something."""
        below = sorted(self.belief.reaching(self.observation.of, *self.containment))
        return tuple(it for it in below if not is_shut_in(self.belief, it, containment=self.containment))

    def _match_far(self, number: int) -> None:
        sighting = self.observation.sightings[number]
        if sighting.position is not None or not is_unnamed(sighting):
            return
        free = (node for node in map(self.belief.nodes.__getitem__, self._objects()) if node.id not in self.barred)
        alike = [node for node in free if _is_alike(node, sighting) and not _is_held(self.belief, node)]
        if alike:
            self._take(number, min(alike, key=self._order).id)
            self.found.far.add(number)

    def _objects(self) -> Iterable[str]:
        return self.belief.by_kind.get("Object", ())

    def _order(self, node: Node) -> tuple[bool, bool, float, str]:
        """Order nodes by how likely they have moved: nowhere, never seen, seen long ago."""
        is_somewhere, last = bool(self.belief.targets(node.id, *self.containment)), node.properties.get("last_seen")
        return is_somewhere, bool(node.properties.get(SEEN)), last if isinstance(last, int) else -1, node.id

    def _take(self, number: int, node_id: str) -> None:
        self.found.nodes[number] = node_id
        self.barred.add(node_id)


def is_unnamed(seen: Sighting) -> bool:
    """Check if a sighting's name says no more than its class, its number, and its traits."""
    words = normal_form(seen.name)
    for trait in seen.traits.values():
        words = words.removeprefix(f"{trait} ")
    return is_of_class(words, seen.class_)


def _is_held(belief: GraphView, node: Node) -> bool:
    return any(it.type in HOLDING for it in belief.incoming.get(node.id, ()))


def _may_be(node: Node, seen: Sighting) -> bool:
    """Check that the positions agree, if both are known; a name may be a mere description ("red ball")."""
    return seen.id == node.id or any(True for _ in _distances((node,), seen.position))


def _by_name(belief: GraphView, form: Callable[[str], str]) -> dict[str, str]:
    """Return objects by their ids and unique names, in a form."""
    ids_by_name: defaultdict[str, set[str]] = defaultdict(set)
    for node_id in belief.by_kind.get("Object", ()):
        ids_by_name[form(belief.nodes[node_id].name)].add(node_id)
        ids_by_name[form(node_id)].add(node_id)
    return {name: min(ids) for name, ids in ids_by_name.items() if len(ids) == 1}


def _nearest(nodes: Iterable[Node], seen: Sighting) -> str | None:
    """Return the nearest node that matches the sighting; the first by id if distances are unknown."""
    same = [node for node in nodes if _is_alike(node, seen)]
    return min(_distances(same, seen.position), default=(0.0, None))[1]


def _is_alike(node: Node, seen: Sighting) -> bool:
    is_class = node.kind == "Object" and normal_form(node.class_) == normal_form(seen.class_)
    return is_class and all(node.properties.get(name) == value for name, value in seen.traits.items())


def _distances(nodes: Iterable[Node], position: Point | None) -> Iterator[tuple[float, str]]:
    """Yield nodes within TOLERANCE of `position` with their distances; TOLERANCE if a position is unknown."""
    for node in nodes:
        center = node.properties.get("center")
        if position is None or not isinstance(center, Point):
            yield TOLERANCE, node.id
            continue
        distance = dist(*_coordinates(position, center))
        if distance <= TOLERANCE:
            yield distance, node.id


def _coordinates(*points: Point) -> Iterator[tuple[float, ...]]:
    flat = any(point.z is None for point in points)
    for point in points:
        yield (point.x, point.y) if flat or point.z is None else (point.x, point.y, point.z)

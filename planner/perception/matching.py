"""Matching of sightings with nodes of the belief: by id, by name, else by class, support and position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import dist
from typing import Final, TypeAlias

from scenecypher.db.graph.scene import GraphView, Node, Point
from scenecypher.db.schema import HOLDING
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.perception.draft import SEEN
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.placing import Placement, is_covered, is_shut_in
from scenecypher.planner.perception.wording import NUMBERED, are_near, is_of_class, normal_form

TOLERANCE: Final = 0.5
"""Largest distance (metres; in grids cells) between believed and seen position of the same thing."""
RECENT: Final = 10
"""Steps after which a thing that was seen may have moved."""
ALIKE: Final = 0.45
"""Least cosine of two words for one thing: measured, couch and sofa have 0.51, tomato and potato 0.34."""
_Pool: TypeAlias = dict[str, list[Node]]
"""Objects by the normal form of their class, in the order in which they are taken."""


@dataclass(slots=True)
class Matches:
    """The believed node of each sighting, by its number; those of `guessed` were found elsewhere, or by a near word.

    A placed sighting without a node is of something new; `twins` are things of its class, seen elsewhere a moment ago.
    """

    nodes: dict[int, str] = field(default_factory=dict)
    guessed: set[int] = field(default_factory=set)
    twins: dict[int, str] = field(default_factory=dict)


def match_sightings(
    belief: GraphView,
    observation: Observation,
    placements: Sequence[Placement],
    *,
    containment: tuple[str, ...],
    meaning: Meaning = NO_MEANING,
) -> Matches:
    """Match sightings with believed nodes.

    Every node is matched once: by id or name first, then by likeness on the same support, then in or on the observed
    node, then by a near word on the same support, and last, without a number and a position, wherever it is believed:
    what is nowhere comes before what nobody has seen, and that before what was seen longest ago, but not what was seen
    in the last RECENT steps. Sightings without a placement are matched but for the last two. Never matched are the node
    looked at, its own containers (by the relations `containment`), and by likeness what is held. Words are near by
    their letters, or by `meaning`.
    """
    return _Matching(belief, observation, containment, meaning).match(placements)


@dataclass(slots=True)
class _Matching:
    belief: GraphView
    observation: Observation
    containment: tuple[str, ...]
    meaning: Meaning
    barred: set[str] = field(init=False)
    found: Matches = field(default_factory=Matches)
    pools: dict[tuple[str, str], _Pool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.barred = {self.observation.of, *self.belief.reached(self.observation.of, *self.containment)}

    def match(self, placements: Sequence[Placement]) -> Matches:
        """Match all sightings, the placed ones first."""
        placed = [placement.number for placement in placements]
        unplaced = sorted({*range(len(self.observation.sightings))} - {*placed})
        self._match_names([*placed, *unplaced])
        for placement in placements:
            if placement.number not in self.found.nodes:
                self._match_alike(placement.number, self._on(placement))
        unknown = [number for number in (*placed, *unplaced) if self._is_unknown(number)]
        below = _pool(self._below()) if unknown else {}
        for number in unknown:
            self._match_alike(number, below)
        for placement in placements:
            if self._is_unknown(placement.number):
                self._match_near(placement)
        self._match_far([number for number in filter(self._is_unknown, placed) if self._may_be_far(number)])
        return self.found

    def _on(self, placement: Placement) -> _Pool:
        """Return what is believed on or in a support, by class."""
        support = placement.support
        known = self.found.nodes.get(support) if isinstance(support, int) else support
        if known is None:
            return {}
        key = known, placement.type
        if key not in self.pools:
            self.pools[key] = _pool(sorted(map(self.belief.nodes.__getitem__, self.belief.sources(*key)), key=_id))
        return self.pools[key]

    def _match_near(self, placement: Placement) -> None:
        """Match a sighting on or in the observed node with what is lost there, if a near word means it."""
        number, of = placement.number, self.observation.of
        seen = self.observation.sightings[number]
        for class_, nodes in self._on(placement).items() if placement.support == of else ():
            lost = {
                class_: [it for it in nodes if not is_covered(self.belief, it.id, of, containment=self.containment)]
            }
            if lost[class_] and self._are_near(seen.class_, class_) and self._match_alike(number, lost, class_=class_):
                self.found.guessed.add(number)
                return

    def _are_near(self, one: str, other: str) -> bool:
        return are_near(one, other) or bool(self.meaning.nearest(one, (other,), least=ALIKE))

    def _match_far(self, numbers: Sequence[int]) -> None:
        """Match sightings with things of their class that are believed elsewhere."""
        elsewhere = self._elsewhere() if numbers else []
        recent = {node.id for node in elsewhere if self._is_recent(node)}
        pool = _pool(node for node in elsewhere if node.id not in recent)
        twins = _pool(node for node in elsewhere if node.id in recent and node.id not in self.barred)
        for number in numbers:
            if self._match_alike(number, pool):
                self.found.guessed.add(number)
            elif alike := twins.get(normal_form(self.observation.sightings[number].class_)):
                self.found.twins[number] = alike[0].id

    def _is_recent(self, node: Node) -> bool:
        last = node.properties.get("last_seen")
        is_near = isinstance(last, int) and self.observation.step - last <= RECENT
        return is_near and node.properties.get(SEEN) is True and bool(self.belief.targets(node.id, *self.containment))

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

    def _match_alike(self, number: int, pool: _Pool, *, class_: str | None = None) -> bool:
        """Match a sighting with the nearest free node of its class and traits; return False if there is none."""
        seen = self.observation.sightings[number]
        nodes = pool.get(normal_form(seen.class_) if class_ is None else class_, [])
        while nodes and nodes[0].id in self.barred:
            nodes.pop(0)
        alike = (it for it in nodes if it.id not in self.barred and _has_traits(it, seen))
        if seen.position is None:
            found = next((it.id for it in alike), None)
        else:
            found = min(_distances(alike, seen.position), default=(0.0, None))[1]
        if found is not None:
            self._take(number, found)
        return found is not None

    def _below(self) -> list[Node]:
        """Return what is believed on or in the observed node and not shut in something."""
        below = sorted(self.belief.reaching(self.observation.of, *self.containment))
        return [self.belief.nodes[it] for it in below if not is_shut_in(self.belief, it, containment=self.containment)]

    def _may_be_far(self, number: int) -> bool:
        """Check if neither a position nor a name or number tells a thing from others of its class."""
        seen = self.observation.sightings[number]
        return seen.position is None and is_unnamed(seen) and not NUMBERED.search(seen.name)

    def _elsewhere(self) -> list[Node]:
        """Return the objects that nobody holds, the likeliest to have moved first."""
        objects = map(self.belief.nodes.__getitem__, self.belief.by_kind.get("Object", ()))
        return sorted((it for it in objects if not _is_held(self.belief, it)), key=self._order)

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


def _pool(nodes: Iterable[Node]) -> _Pool:
    pool: _Pool = {}
    for node in nodes:
        if node.kind == "Object":
            pool.setdefault(normal_form(node.class_), []).append(node)
    return pool


def _id(node: Node) -> str:
    return node.id


def _has_traits(node: Node, seen: Sighting) -> bool:
    return all(node.properties.get(name) == value for name, value in seen.traits.items())


def _distances(nodes: Iterable[Node], position: Point | None) -> Iterator[tuple[float, str]]:
    """Yield nodes within TOLERANCE of `position` with their distances; TOLERANCE if a position is unknown."""
    for node in nodes:
        center = node.properties.get("center")
        if position is None or not isinstance(center, Point):
            yield TOLERANCE, node.id
            continue
        distance = dist(*coordinates(position, center))
        if distance <= TOLERANCE:
            yield distance, node.id


def coordinates(*points: Point) -> Iterator[tuple[float, ...]]:
    """Yield the coordinates of points, in the plane if a height is unknown."""
    flat = any(point.z is None for point in points)
    for point in points:
        yield (point.x, point.y) if flat or point.z is None else (point.x, point.y, point.z)

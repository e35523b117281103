"""Matching of sightings with nodes of the belief and with one another: by id, by name, else by class and position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import dist
from typing import Final, TypeAlias

from scenecypher.db.graph.scene import GraphView, Node, Point
from scenecypher.db.schema import HOLDING
from scenecypher.meaning import Meaning
from scenecypher.planner.perception.draft import SEEN
from scenecypher.planner.perception.observation import Observation, Sighting, Support
from scenecypher.planner.perception.placing import Placement, is_covered, is_shut_in
from scenecypher.planner.perception.wording import NUMBERED, are_near, compact, is_of_class, normal_form

TOLERANCE: Final = 0.5
"""Largest distance (metres; in grids cells) between believed and seen position of the same thing."""
RECENT: Final = 10
"""Steps after which a thing that was seen may have moved."""
ALIKE: Final = 0.45
"""Least cosine of two words for one thing: measured, couch and sofa have 0.51, tomato and potato 0.34."""
MARGIN: Final = 0.1
"""Distance in metres by which a position may lie beside or above the box of its support."""
_Pool: TypeAlias = dict[str, list[Node]]
"""Objects by the normal form of their class, in the order in which they are taken."""


@dataclass(slots=True)
class Matching:
    """Matching of sightings with believed `nodes`, by the sightings' numbers.

    Every node is matched once: by id or name first, then by likeness on the same support, then in or on the observed
    node, then by a near word on the same support, and last, without a number and a position, wherever it is believed:
    what is nowhere comes before what nobody has seen, and that before what was seen longest ago, but not what was seen
    in the last RECENT steps. Sightings without a placement are matched but for the last two. Never matched are the node
    looked at, its own containers (by the relations `containment`), and by likeness what is held. Words are near by
    their letters, or by `meaning`.

    Those of `guessed` were found elsewhere, or by a near word. A placed sighting without a node is of something new;
    `twins` are things of its class, seen elsewhere a moment ago.
    """

    belief: GraphView
    observation: Observation
    containment: tuple[str, ...]
    meaning: Meaning
    nodes: dict[int, str] = field(default_factory=dict)
    guessed: set[int] = field(default_factory=set)
    twins: dict[int, str] = field(default_factory=dict)
    barred: set[str] = field(init=False)
    pools: dict[tuple[str, str], _Pool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.barred = {self.observation.of, *self.belief.reached(self.observation.of, *self.containment)}

    def match(self, placements: Sequence[Placement]) -> None:
        """Match all sightings, the placed ones first."""
        placed = [placement.number for placement in placements]
        unplaced = sorted({*range(len(self.observation.sightings))} - {*placed})
        self._match_names([*placed, *unplaced])
        for placement in placements:
            if placement.number not in self.nodes:
                self._match_alike(placement.number, self._on(placement))
        unknown = [number for number in (*placed, *unplaced) if self._is_unknown(number)]
        of, kinds = self.observation.of, self.containment
        nodes = sorted(self.belief.reaching(of, *kinds)) if unknown else ()
        seen = (it for it in nodes if not is_shut_in(self.belief, it, of=of, containment=kinds))
        below = _pool(self.belief.nodes[it] for it in seen)
        for number in unknown:
            self._match_alike(number, below)
        for placement in placements:
            if self._is_unknown(placement.number):
                self._match_near(placement)
        self._match_far(filter(self._is_unknown, placed))

    def _on(self, placement: Placement) -> _Pool:
        """Return what is believed on or in a support, by class."""
        support = placement.support
        known = self.nodes.get(support) if isinstance(support, int) else support
        if known is None:
            return {}
        key = known, placement.type
        if key not in self.pools:
            self.pools[key] = _pool(self.belief.nodes[it] for it in sorted(self.belief.sources(*key)))
        return self.pools[key]

    def _match_near(self, placement: Placement) -> None:
        """Match a sighting on or in the observed node with what is lost there, if a near word means it."""
        number, of = placement.number, self.observation.of
        word = self.observation.sightings[number].class_
        for class_, nodes in self._on(placement).items() if placement.support == of else ():
            lost = [it for it in nodes if not is_covered(self.belief, it.id, of, containment=self.containment)]
            is_near = lost and (are_near(word, class_) or self.meaning.nearest(word, (class_,), least=ALIKE))
            if is_near and self._match_nodes(number, lost):
                self.guessed.add(number)
                return

    def _match_far(self, unknown: Iterable[int]) -> None:
        """Match sightings that no position, name or number tells apart with things of their class elsewhere."""
        told = ((it, self.observation.sightings[it]) for it in unknown)
        bare = ((number, it) for number, it in told if it.position is None and not NUMBERED.search(it.name))
        numbers = [number for number, it in bare if is_unnamed(it)]
        free = self.belief.by_kind.get("Object", ()) if numbers else ()
        nodes = (self.belief.nodes[it] for it in free if not self.belief.sources(it, *HOLDING))
        elsewhere = sorted(nodes, key=self._order)
        recent = {node.id for node in elsewhere if self._is_recent(node)}
        pool = _pool(node for node in elsewhere if node.id not in recent)
        twins = _pool(node for node in elsewhere if node.id in recent and node.id not in self.barred)
        for number in numbers:
            if self._match_alike(number, pool):
                self.guessed.add(number)
            elif alike := twins.get(normal_form(self.observation.sightings[number].class_)):
                self.twins[number] = alike[0].id

    def _is_recent(self, node: Node) -> bool:
        last = node.properties.get("last_seen")
        is_near = isinstance(last, int) and self.observation.step - last <= RECENT
        return is_near and node.properties.get(SEEN) is True and bool(self.belief.targets(node.id, *self.containment))

    def _is_unknown(self, number: int) -> bool:
        return number not in self.nodes and self.observation.sightings[number].id is None

    def _match_names(self, numbers: Sequence[int]) -> None:
        for form in (str.casefold, compact):
            names = _by_name(self.belief, form) if numbers else {}
            for number in numbers:
                self._match_name(number, names, form)
            numbers = [*filter(self._is_unknown, numbers)]

    def _match_name(self, number: int, names: dict[str, str], form: Callable[[str], str]) -> None:
        sighting = self.observation.sightings[number]
        known = sighting.id if sighting.id in self.belief else names.get(form(sighting.name))
        if known is None or known in self.barred:
            return
        # a name may be a mere description ("red ball"): the positions must agree if both are known
        if sighting.id == known or any(True for _ in _distances((self.belief.nodes[known],), sighting.position)):
            self._take(number, known)

    def _match_alike(self, number: int, pool: _Pool) -> bool:
        """Match a sighting with the nearest free node of its class and traits; return False if there is none."""
        return self._match_nodes(number, pool.get(normal_form(self.observation.sightings[number].class_), []))

    def _match_nodes(self, number: int, nodes: list[Node]) -> bool:
        seen = self.observation.sightings[number]
        while nodes and nodes[0].id in self.barred:
            nodes.pop(0)
        free = (it for it in nodes if it.id not in self.barred)
        alike = (it for it in free if all(it.properties.get(name) == value for name, value in seen.traits.items()))
        if seen.position is None:
            found = next((it.id for it in alike), None)
        else:
            found = min(_distances(alike, seen.position), default=(0.0, None))[1]
        if found is not None:
            self._take(number, found)
        return found is not None

    def _order(self, node: Node) -> tuple[bool, bool, float, str]:
        """Order nodes by how likely they have moved: nowhere, never seen, seen long ago."""
        is_somewhere, last = bool(self.belief.targets(node.id, *self.containment)), node.properties.get("last_seen")
        return is_somewhere, bool(node.properties.get(SEEN)), last if isinstance(last, int) else -1, node.id

    def _take(self, number: int, node_id: str) -> None:
        self.nodes[number] = node_id
        self.barred.add(node_id)


def is_unnamed(seen: Sighting) -> bool:
    """Check if a sighting's name says no more than its class, its number, and its traits."""
    words = normal_form(seen.name)
    for trait in seen.traits.values():
        words = words.removeprefix(f"{trait} ")
    return is_of_class(words, seen.class_)


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


def _distances(nodes: Iterable[Node], position: Point | None) -> Iterator[tuple[float, str]]:
    """Yield nodes within TOLERANCE of `position` with their distances."""
    for node in nodes:
        center = node.properties.get("center")
        distance = _distance_of(position, center if isinstance(center, Point) else None)
        if distance <= TOLERANCE:
            yield distance, node.id


def _distance_of(one: Point | None, other: Point | None) -> float:
    """Return the distance of two points, in the plane if a height is unknown; TOLERANCE if a point is."""
    if one is None or other is None:
        return TOLERANCE
    shared = min(len(one.axes), len(other.axes))
    return dist(one.axes[:shared], other.axes[:shared])


def fuse(pictures: Iterable[Sequence[Sighting]]) -> tuple[Sighting, ...]:
    """Return each thing once that is seen in several pictures of one look.

    Two sightings of one picture are never the same thing. Those of different pictures are if they have the same id or
    name of a thing, or the same class and traits and are within TOLERANCE of each other, nearest first. Where positions
    are unknown, a class has as many things as the picture that shows most of them.
    """
    found: list[Sighting] = []
    for picture in pictures:
        pairs = sorted(
            (distance, number, index)
            for number, seen in enumerate(picture)
            for index, known in enumerate(found)
            if (distance := _distance(seen, known)) is not None
        )
        matched: dict[int, int] = {}
        for _, number, index in pairs:
            if number not in matched and index not in matched.values():
                matched[number] = index
        for number, seen in enumerate(picture):
            if number in matched:
                found[matched[number]] = joined(found[matched[number]], seen)
        found += [seen for number, seen in enumerate(picture) if number not in matched]
    return tuple(found)


def support_at(position: Point, node: Node) -> Support | None:
    """Return the relation to a node with a known box that a position (metres) implies, None if it is beside it.

    What lies over the box is on it, what lies in it is inside.
    """
    facts = node.properties
    box = [it for name in ("size_x", "size_y", "size_z") if isinstance(it := facts.get(name), int | float)]
    center = facts.get("center")
    if len(box) != 3 or not isinstance(center, Point) or center.z is None or position.z is None:
        return None
    for at, middle, size in zip((position.x, position.y), (center.x, center.y), box, strict=False):
        if abs(at - middle) > size / 2 + MARGIN:
            return None
    above = position.z - (center.z + box[2] / 2)
    if above > TOLERANCE or above < -box[2] - MARGIN:
        return None
    return ("ON" if above > -MARGIN else "INSIDE", node.id)


def joined(one: Sighting, other: Sighting) -> Sighting:
    """Return the surer of two sightings of one thing, with what the other tells besides."""
    best, rest = (one, other) if one.confidence >= other.confidence else (other, one)
    return replace(
        best,
        name=best.name if _is_named(best) else rest.name,
        id=best.id or rest.id,
        support=best.support or rest.support,
        states=tuple(sorted({*(best.states or ()), *(rest.states or ())})) or best.states,
        position=best.position or rest.position,
    )


def _distance(one: Sighting, other: Sighting) -> float | None:
    """Return the distance of two sightings that may be of one thing (TOLERANCE if unknown), else None."""
    names = [it.id or it.name.casefold() for it in (one, other) if it.id or _is_named(it)]
    if len(names) == 2:
        return -1.0 if names[0] == names[1] else None
    is_class = one.class_.casefold() == other.class_.casefold() and one.traits == other.traits
    if not is_class or (one.support and other.support and one.support != other.support):
        return None
    distance = _distance_of(one.position, other.position)
    return distance if distance <= TOLERANCE else None


def _is_named(seen: Sighting) -> bool:
    """Check if a sighting's name is more than its class, with or without its traits."""
    return not seen.name.casefold().endswith(seen.class_.casefold())

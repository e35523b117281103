"""Which node of the belief a thing that was seen is: by id, by name, else by class, support and position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import dist
from typing import Final

from scenecypher.db.graph.scene import Node, Point, SceneGraph
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.placing import Placement

TOLERANCE: Final = 0.5
"""How far (metres; grids: cells) from where it was believed a thing may be seen and count as the same."""


def match_sightings(
    belief: SceneGraph, observation: Observation, placed: Sequence[Placement], *, containment: tuple[str, ...]
) -> dict[int, str]:
    """The believed node of each placed sighting, by its number; one that is missing is of something new.

    Every node is matched once, and certain identities (ids, names) before likenesses. What was looked at, and what it
    is itself in or on by relations of `containment`, are none of the things seen in or on it.
    """
    barred = {observation.of, *belief.reached(observation.of, *containment)}
    names = _by_name(belief)
    found: dict[int, str] = {}
    for placing in placed:
        sighting = observation.sightings[placing.number]
        known = sighting.id if sighting.id in belief else names.get(sighting.name.casefold())
        if known is not None and known not in barred and _may_be(belief.nodes[known], sighting):
            found[placing.number] = known
            barred.add(known)
    for placing in placed:
        support = observation.of if placing.under is None else found.get(placing.under)
        if placing.number not in found and support is not None:
            there = [belief.nodes[node_id] for node_id in belief.sources(support, placing.type)]
            alike = _nearest((node for node in there if node.id not in barred), observation.sightings[placing.number])
            if alike is not None:
                found[placing.number] = alike
                barred.add(alike)
    return found


def _may_be(node: Node, seen: Sighting) -> bool:
    """A name may be a mere description ("red ball"): where both positions are known, they must agree with it."""
    return seen.id == node.id or any(True for _ in _distances((node,), seen.position))


def _by_name(belief: SceneGraph) -> dict[str, str]:
    """Objects by id and by name, where only one has it."""
    called: defaultdict[str, set[str]] = defaultdict(set)
    for node_id in belief.by_kind.get("Object", ()):
        called[belief.nodes[node_id].name.casefold()].add(node_id)
        called[node_id.casefold()].add(node_id)
    return {name: min(ids) for name, ids in called.items() if len(ids) == 1}


def _nearest(nodes: Iterable[Node], seen: Sighting) -> str | None:
    """The nearest of the nodes that may be what was seen; the first by id where distances are not known."""
    same = [node for node in nodes if _is_alike(node, seen)]
    return min(_distances(same, seen.position), default=(0.0, None))[1]


def _is_alike(node: Node, seen: Sighting) -> bool:
    is_class = node.kind == "Object" and node.class_.casefold() == seen.class_.casefold()
    return is_class and all(node.properties.get(name) == value for name, value in seen.traits.items())


def _distances(nodes: Iterable[Node], position: Point | None) -> Iterator[tuple[float, str]]:
    """How far each is from `position`, none that is too far; where one of the two is not known, just near enough."""
    for node in nodes:
        center = node.properties.get("center")
        if position is None or not isinstance(center, Point):
            yield TOLERANCE, node.id
            continue
        away = dist(*_coordinates(position, center))
        if away <= TOLERANCE:
            yield away, node.id


def _coordinates(*points: Point) -> Iterator[tuple[float, ...]]:
    flat = any(point.z is None for point in points)
    for point in points:
        yield (point.x, point.y) if flat or point.z is None else (point.x, point.y, point.z)

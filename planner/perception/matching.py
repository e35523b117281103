"""Matching of sightings with nodes of the belief: by id, by name, else by class, support and position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import dist
from typing import Final

from scenecypher.db.graph.scene import GraphView, Node, Point
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.placing import Placement

TOLERANCE: Final = 0.5
"""Largest distance (metres; in grids cells) between believed and seen position of the same thing."""


def match_sightings(
    belief: GraphView, observation: Observation, placements: Sequence[Placement], *, containment: tuple[str, ...]
) -> dict[int, str]:
    """Return the believed node of each placed sighting, by its number; a sighting without one is of something new.

    Every node is matched once, by id or name first, then by likeness. Never matched are the node looked at and its own
    containers (by the relations `containment`).
    """
    barred = {observation.of, *belief.reached(observation.of, *containment)}
    names = _by_name(belief)
    found: dict[int, str] = {}
    for placement in placements:
        sighting = observation.sightings[placement.number]
        known = sighting.id if sighting.id in belief else names.get(sighting.name.casefold())
        if known is not None and known not in barred and _may_be(belief.nodes[known], sighting):
            found[placement.number] = known
            barred.add(known)
    for placement in placements:
        support = observation.of if placement.support is None else found.get(placement.support)
        if placement.number not in found and support is not None:
            there = [belief.nodes[node_id] for node_id in belief.sources(support, placement.type)]
            alike = _nearest((node for node in there if node.id not in barred), observation.sightings[placement.number])
            if alike is not None:
                found[placement.number] = alike
                barred.add(alike)
    return found


def _may_be(node: Node, seen: Sighting) -> bool:
    """Check that the positions agree, if both are known; a name may be a mere description ("red ball")."""
    return seen.id == node.id or any(True for _ in _distances((node,), seen.position))


def _by_name(belief: GraphView) -> dict[str, str]:
    """Return objects by their ids and unique names."""
    ids_by_name: defaultdict[str, set[str]] = defaultdict(set)
    for node_id in belief.by_kind.get("Object", ()):
        ids_by_name[belief.nodes[node_id].name.casefold()].add(node_id)
        ids_by_name[node_id.casefold()].add(node_id)
    return {name: min(ids) for name, ids in ids_by_name.items() if len(ids) == 1}


def _nearest(nodes: Iterable[Node], seen: Sighting) -> str | None:
    """Return the nearest node that matches the sighting; the first by id if distances are unknown."""
    same = [node for node in nodes if _is_alike(node, seen)]
    return min(_distances(same, seen.position), default=(0.0, None))[1]


def _is_alike(node: Node, seen: Sighting) -> bool:
    is_class = node.kind == "Object" and node.class_.casefold() == seen.class_.casefold()
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

"""Placement of sightings: on or in the observed node, directly or over other sightings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scenecypher.db.graph.scene import GraphView, Node
from scenecypher.planner.perception.observation import Observation, Sighting


@dataclass(frozen=True, slots=True)
class Placement:
    """Number of a sighting, its relation type, and the number of the supporting sighting (None: the observed node)."""

    number: int
    type: str
    support: int | None


def placements(observation: Observation, of: Node) -> tuple[Placement, ...]:
    """Return the placements of sightings on the observed node, directly or over others; supports come first.

    Sightings without a support, with another one, or in a cycle are left out.
    """
    placed: set[int | None] = {None}
    waiting = list(_direct_placements(observation.sightings, of))
    found: list[Placement] = []
    while ready := [placement for placement in waiting if placement.support in placed]:
        found += ready
        placed |= {placement.number for placement in ready}
        waiting = [placement for placement in waiting if placement.number not in placed]
    return tuple(found)


def _direct_placements(sightings: Sequence[Sighting], of: Node) -> Iterator[Placement]:
    numbers = {name.casefold(): number for number, it in reversed([*enumerate(sightings)]) for name in _names(it)}
    for number, sighting in enumerate(sightings):
        type_, target = sighting.support or (None, None)
        if type_ is None or target is None:
            continue
        if target.casefold() in {of.id.casefold(), of.name.casefold()}:
            yield Placement(number, type_, None)
        elif target.casefold() in numbers:
            yield Placement(number, type_, numbers[target.casefold()])


def _names(sighting: Sighting) -> tuple[str, ...]:
    return (sighting.name,) if sighting.id is None else (sighting.name, sighting.id)


def is_covered(graph: GraphView, thing: str, place: str, *, containment: tuple[str, ...]) -> bool:
    """Check if `place` is a room and a thing in it is hidden from a look: it is in or on something there."""
    containers = {*graph.targets(thing, *containment)} - {place}
    return graph.nodes[place].kind == "Place" and any(graph.nodes[it].kind != "Place" for it in containers)

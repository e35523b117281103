"""Where the things that were seen are: each on or in what was looked at, or on another thing that was seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.planner.perception.observation import Observation, Sighting


@dataclass(frozen=True, slots=True)
class Placement:
    """A sighting by its number, what relation it has, and the number of the sighting to which; None: to `of`."""

    number: int
    type: str
    under: int | None


def placements(observation: Observation, of: Node) -> tuple[Placement, ...]:
    """The sightings that hang, directly or over others, on what was looked at; those below come first.

    The others (no support told, one that was not looked at, one that leads in a circle) are left out.
    """
    below: set[int | None] = {None}
    waiting = list(_direct_placements(observation.sightings, of))
    found: list[Placement] = []
    while ready := [placing for placing in waiting if placing.under in below]:
        found += ready
        below |= {placing.number for placing in ready}
        waiting = [placing for placing in waiting if placing.number not in below]
    return tuple(found)


def _direct_placements(sightings: Sequence[Sighting], of: Node) -> Iterator[Placement]:
    called = {name.casefold(): number for number, it in reversed([*enumerate(sightings)]) for name in _names(it)}
    for number, sighting in enumerate(sightings):
        if sighting.support is None:
            continue
        type_, target = sighting.support
        if target.casefold() in {of.id.casefold(), of.name.casefold()}:
            yield Placement(number, type_, None)
        elif target.casefold() in called:
            yield Placement(number, type_, called[target.casefold()])


def _names(sighting: Sighting) -> tuple[str, ...]:
    return (sighting.name,) if sighting.id is None else (sighting.name, sighting.id)


def is_covered(graph: SceneGraph, thing: str, place: str, *, containment: tuple[str, ...]) -> bool:
    """Whether a look at `place`, a room, does not show a thing in it: it is in or on something there."""
    outer = {*graph.targets(thing, *containment)} - {place}
    return graph.nodes[place].kind == "Place" and any(graph.nodes[it].kind != "Place" for it in outer)

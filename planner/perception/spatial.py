"""Sightings in space: the same thing in several pictures, and the support that a position implies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import dist
from typing import Final

from scenecypher.db.graph.scene import Node, Point
from scenecypher.planner.perception.matching import TOLERANCE, coordinates
from scenecypher.planner.perception.observation import Sighting, Support

MARGIN: Final = 0.1
"""Distance in metres by which a position may lie beside or above the box of its support."""


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
    box = tuple(_edges(node))
    center = node.properties.get("center")
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
    names = {it.id or it.name.casefold() for it in (one, other) if it.id or _is_named(it)}
    if len(names) == 1 and all(it.id or _is_named(it) for it in (one, other)):
        return -1.0
    if len(names) > 1:
        return None
    is_class = one.class_.casefold() == other.class_.casefold() and one.traits == other.traits
    if not is_class or (one.support and other.support and one.support != other.support):
        return None
    if one.position is None or other.position is None:
        return TOLERANCE
    distance = dist(*coordinates(one.position, other.position))
    return distance if distance <= TOLERANCE else None


def _is_named(seen: Sighting) -> bool:
    """Check if a sighting's name is more than its class, with or without its traits."""
    return not seen.name.casefold().endswith(seen.class_.casefold())


def _edges(node: Node) -> Iterator[float]:
    for name in ("size_x", "size_y", "size_z"):
        length = node.properties.get(name)
        if isinstance(length, int | float):
            yield float(length)

"""Observation: what was seen when one asset, object or place was looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from scenecypher.db.graph.scene import NO_PROPERTIES, Point, Properties

Support: TypeAlias = tuple[str, str]
"""A containment relation's type, and what it leads to: a node's id, or the name of another thing that was seen."""

Cell: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sighting:
    """One thing that was seen.

    `id` is known to observers that share the graph's ids; others know `name` (of a thing that was known before, or a
    new one) and `class_`. `support` is None where the observer can't say what it is on or in; `states` is None where
    it says nothing about states. `traits` are properties that tell things of one class apart, such as their colour.
    """

    name: str
    class_: str
    support: Support | None
    states: tuple[str, ...] | None = None
    affordances: tuple[str, ...] = ()
    id: str | None = None
    position: Point | None = None
    traits: Properties = NO_PROPERTIES
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Observation:
    """All that was seen of the node `of` at `step` of an episode (logical time, never a clock).

    Of the node itself `states` tells, where it is not None. Things that are believed there and are none of
    `sightings` are absent, as far as the look went: `covers` are the relation types along which it could see (nothing
    is seen inside what is closed), `cells` the grid cells, where it saw no more than those. With `partial_states` the
    states that are told are not all there are: others are left as they are believed, but for what they rule out.
    """

    of: str
    sightings: tuple[Sighting, ...]
    step: int
    covers: tuple[str, ...]
    states: tuple[str, ...] | None = None
    cells: frozenset[Cell] | None = None
    partial_states: bool = False


class Observer(Protocol):
    """Eyes: they see a node of the world, never the belief."""

    def observe(self, of: str, *, step: int) -> Observation:
        """Look at a node. Raises UnknownReference where there is no such node."""
        ...

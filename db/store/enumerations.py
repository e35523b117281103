"""Enumerations: what really occurs in one scene, counted; the live half of what a model is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, LiteralString

_ESCAPES: Final = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})

DENSE: Final[LiteralString] = "CLOSE"
"""The relation type between almost everything: counted as a whole, never by the kinds it joins."""


@dataclass(frozen=True, slots=True)
class ClassUse:
    """How many nodes of one kind have this class; `example` is the smallest of their names."""

    kind: str
    name: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class ValueUse:
    """How many nodes have this state or affordance, and the kinds they are of."""

    value: str
    kinds: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """How many relations of this type lead from a node of one kind (or `Entity`: any) to another."""

    source: str
    type: str
    target: str
    count: int


@dataclass(frozen=True, slots=True)
class PropertyUse:
    """A property in use besides the five that every node has.

    `types` are words such as ``text``; `values` are the texts and booleans that occur, empty where there are none,
    too many, or the scene is large.
    """

    name: str
    types: tuple[str, ...]
    count: int
    values: tuple[str | bool, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentUse:
    """An agent, the places it is in, and what it holds as (relation type, name)."""

    name: str
    class_: str
    places: tuple[str, ...] = ()
    holds: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Enumerations:
    """What occurs in one scene. Equal for equal scenes, and everything sorted.

    `names` and `ids` are those of all nodes, for telling what a literal should have been; they are empty for a
    large scene. `places` are names.
    """

    kinds: tuple[tuple[str, int], ...] = ()
    classes: tuple[ClassUse, ...] = ()
    states: tuple[ValueUse, ...] = ()
    affordances: tuple[ValueUse, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    properties: tuple[PropertyUse, ...] = ()
    agents: tuple[AgentUse, ...] = ()
    places: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def nodes(self) -> int:
        """How many nodes the scene has."""
        return sum(count for _, count in self.kinds)

    def known(self) -> dict[str, tuple[str, ...]]:
        """The values of the properties that every node has, by property; names only where they are known."""
        return {
            "class": tuple(dict.fromkeys(use.name for use in self.classes)),
            "name": self.names,
            "states": tuple(use.value for use in self.states),
            "affordances": tuple(use.value for use in self.affordances),
        }


def literal(value: str | bool) -> str:  # noqa: FBT001 - a value, not a switch
    """A text or boolean as Cypher writes it, on one line."""
    return str(value).casefold() if isinstance(value, bool) else f"'{value.translate(_ESCAPES)}'"

"""Enumerations: counts of all that occurs in one scene, shown to a model beside the schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, LiteralString

_ESCAPES: Final = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})

DENSE: Final[LiteralString] = "CLOSE"
"""The relation type between almost all nodes: counted as a whole, never by the kinds it joins."""

LIST_OF: Final = "list of "
"""How the type of a list begins in words."""


@dataclass(frozen=True, slots=True)
class ClassUse:
    """Number of nodes of one kind with this class; `example` is the smallest of their names."""

    kind: str
    name: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class ValueUse:
    """Number of nodes with this state or affordance, and their kinds."""

    value: str
    kinds: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """Number of relations of this type from nodes of one kind (or `Entity`: any) to another."""

    source: str
    type: str
    target: str
    count: int


@dataclass(frozen=True, slots=True)
class PropertyUse:
    """A property in use, besides the five that every node has.

    `types` are words such as ``text``; `values` are the texts and booleans that occur, alone or in lists, empty if
    there are none, too many, or the scene is large.
    """

    name: str
    types: tuple[str, ...]
    count: int
    values: tuple[str | bool, ...] = ()

    @property
    def is_list(self) -> bool:
        """True if all of its values are lists."""
        return all(words.startswith(LIST_OF) for words in self.types)

    def test(self, value: str | bool) -> str:  # noqa: FBT001 - a value, not a switch
        """Return the Cypher that tests a node `n` for one of the values."""
        name = f"n.{self.name}"
        return f"{literal(value)} IN {name}" if self.is_list else f"{name} = {literal(value)}"


@dataclass(frozen=True, slots=True)
class AgentUse:
    """An agent, its places, and what it holds as (relation type, name)."""

    name: str
    class_: str
    places: tuple[str, ...] = ()
    holds: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Enumerations:
    """Counts of one scene, sorted and equal for equal scenes.

    `names` and `ids` are those of all nodes, to suggest corrections of literals; `name_kinds` has names all of whose
    nodes are of one kind, and that; `class_links` are relations by the classes of their ends, DENSE left out. All these
    are empty for a large scene. `places` are names.
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
    name_kinds: tuple[tuple[str, str], ...] = ()
    ids: tuple[str, ...] = ()
    class_links: frozenset[tuple[str, str, str]] = frozenset()

    @property
    def nodes(self) -> int:
        """The number of nodes in the scene."""
        return sum(count for _, count in self.kinds)

    def known(self) -> dict[str, tuple[str, ...]]:
        """Return the values of the properties that every node has, by property; names only if they were read."""
        return {
            "class": tuple(dict.fromkeys(use.name for use in self.classes)),
            "name": self.names,
            "states": tuple(use.value for use in self.states),
            "affordances": tuple(use.value for use in self.affordances),
        }


@dataclass(frozen=True, slots=True, eq=False)
class ByIdentity:
    """Enumerations compared by identity, as a cache key: comparing their values takes longer than what is cached."""

    of: Enumerations

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)


def literal(value: str | bool) -> str:  # noqa: FBT001 - a value, not a switch
    """Return a text or boolean as a Cypher literal, on one line."""
    return str(value).casefold() if isinstance(value, bool) else f"'{value.translate(_ESCAPES)}'"

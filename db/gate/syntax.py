"""The syntax tree of a query, only as detailed as the cost bound needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from scenecypher.db.gate.lexer import Token

UseKind: TypeAlias = Literal["label", "relation_type", "either", "property"]
Search: TypeAlias = Literal["", "function", "selector"]

CASE = " case"
"""The variable for the value after CASE in a WHEN that begins with an operator, as in ``CASE x WHEN > 3``."""


@dataclass(frozen=True, slots=True)
class Part:
    """One construct: its kind, the name it defines, calls or reads, the token that messages cite, and its parts.

    An ``expression`` is a flat sequence of values and operators as written; precedence is left to the server.
    """

    kind: str
    token: Token
    name: str = ""
    parts: tuple[Part, ...] = ()
    words: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Part]:
        """Yield the construct itself and everything inside it."""
        yield self
        for part in self.parts:
            yield from part


@dataclass(frozen=True, slots=True)
class Hop(Part):
    """A relation pattern. `words` are its types; without `is_exact`, other types match too.

    `direction` is 1, -1 or 0 (either); `longest` None is unbounded. `search` is the shortest-path search around it.
    """

    is_exact: bool = True
    direction: int = 0
    longest: int | None = 1
    search: Search = ""


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name of the registry that the text uses; `may_be_absent`: a property whose absence the query handles."""

    kind: UseKind
    token: Token
    name: str
    may_be_absent: bool = False


@dataclass(slots=True)
class Reading:
    """Insertions by token index, the names used, and the tree of the query.

    `defined` are the keys of the text's own maps, `numbers` the token indexes of numbers that may be parameters,
    `hinted` the nodes that an index hint may name, each with the token index after which the hint belongs.
    """

    tokens: tuple[Token, ...]
    query: Part
    before: dict[int, list[str]] = field(default_factory=dict)
    after: dict[int, list[str]] = field(default_factory=dict)
    uses: list[NameUse] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    hinted: list[tuple[int, str]] = field(default_factory=list)
    selected: list[int] = field(default_factory=list)
    columns: tuple[str, ...] | None = None
    version: int = 5
    first: int = 0

    def insert_before(self, index: int, text: str) -> None:
        """Insert before token `index`; the first insertion stands outermost."""
        self.before.setdefault(index, []).append(text)

    def insert_after(self, index: int, text: str) -> None:
        """Insert after token `index`; the first insertion stands innermost."""
        self.after.setdefault(index, []).append(text)

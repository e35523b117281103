"""The tree of a query: typed parts in the order of the text, each with the index of its first token.

It says what the visitors ask for. The rest, such as the precedence of operators, is left to the server.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.words import TIME_FIELDS

NameKind: TypeAlias = Literal["label", "relation_type", "either", "property"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a query that begins at the token `at`."""

    at: int

    def children(self) -> Iterator[Part]:
        """Yield the parts directly within this one."""
        for value in map(self.__getattribute__, self.__match_args__):
            if isinstance(value, Part):
                yield value
            elif isinstance(value, tuple):
                yield from (one for one in value if isinstance(one, Part))

    def walk(self) -> Iterator[Part]:
        """Yield this part and all within it, in the order of the text."""
        waiting: list[Part] = [self]
        while waiting:
            part = waiting.pop()
            yield part
            waiting += reversed([*part.children()])


# --- names and values


@dataclass(frozen=True, slots=True)
class Property(Part):
    """The name of a property of a node, a relation or a map; `may_be_absent` if the query asks for its absence."""

    name: str
    may_be_absent: bool = False


@dataclass(frozen=True, slots=True)
class Labels(Part):
    """An expression of labels or relation types: its names, its marks, and whether it is chained as in `:A:B`."""

    kind: NameKind
    names: tuple[str, ...]
    marks: frozenset[str]
    is_chained: bool


@dataclass(frozen=True, slots=True)
class Constant(Part):
    """A string, a number, null, true or false."""

    token: Token


@dataclass(frozen=True, slots=True)
class Variable(Part):
    """A variable, or a word of a type."""

    name: str


@dataclass(frozen=True, slots=True)
class Operator(Part):
    """An operator; for `=~` with its regular expression."""

    word: str
    regex: str = ""


@dataclass(frozen=True, slots=True)
class Expression(Part):
    """Values and operators in the order of the text."""

    terms: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Item(Part):
    """A value and its name: in a map, after WITH or RETURN, after LET or UNWIND."""

    value: Part
    name: str


@dataclass(frozen=True, slots=True)
class Map(Part):
    """A map of items, a projection of items and properties, or the properties and their values in a pattern."""

    entries: tuple[Part, ...]
    has_all: bool = False


@dataclass(frozen=True, slots=True)
class Listed(Part):
    """A list of values."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Chain(Part):
    """A value, and the properties, indexes, labels and projections after it."""

    base: Part
    steps: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Index(Part):
    """An index or a slice, up to the token `end`; `may_be_key` if the value of an index may be text."""

    end: int
    bounds: tuple[Expression, ...]
    is_slice: bool
    may_be_key: bool


@dataclass(frozen=True, slots=True)
class Call(Part):
    """A call of a function, named in small letters, up to the token `end`."""

    name: str
    arguments: tuple[Part, ...]
    is_distinct: bool
    end: int

    @property
    def says_time(self) -> bool:
        """True if its only argument is a map, written in place, a key of which fixes a time: no clock is read."""
        match self.arguments:
            case (Expression(terms=(Map(entries=entries),)),) if not self.is_distinct:
                return any(isinstance(one, Item) and one.name.lower() in TIME_FIELDS for one in entries)
        return False


@dataclass(frozen=True, slots=True)
class Case(Part):
    """CASE, the value that its branches compare, if any, and the branches' expressions."""

    subject: Expression | None
    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Loop(Part):
    """A loop over a list or over a pattern's paths: `x IN list WHERE … | …`."""

    name: str
    source: Expression | Path
    where: Expression | None
    body: Expression | None


@dataclass(frozen=True, slots=True)
class Subquery(Part):
    """EXISTS, COUNT, COLLECT or CALL; the latter may list the `names` that are known inside."""

    word: str
    names: tuple[str, ...] | None
    body: Query | Match


# --- patterns


@dataclass(frozen=True, slots=True)
class Linked(Part):
    """A node or a relation in a path: its variable, and its labels or types."""

    name: str
    expression: Labels | None

    @property
    def names(self) -> tuple[str, ...]:
        """All labels or types that it names."""
        return self.expression.names if self.expression else ()

    def names_without(self, *marks: str) -> tuple[str, ...]:
        """Return the labels or types, none if one of these marks makes more of them than a list."""
        return () if self.expression and not self.expression.marks.isdisjoint(marks) else self.names


@dataclass(frozen=True, slots=True)
class Node(Linked):
    """A node pattern; the token `head` ends its name and labels."""

    head: int
    properties: Map | None
    where: Expression | None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it must have."""
        return self.names_without("!", "|", "%")

    def fixes(self, name: str) -> bool:
        """Check that its map fixes this property."""
        entries = self.properties.entries if self.properties else ()
        return any(isinstance(one, Property) and one.name == name for one in entries)


@dataclass(frozen=True, slots=True)
class Hop(Linked):
    """A relation pattern. Its `direction` is 1, -1 or 0 (either); `longest` may be infinite, `shortest` is at least 1.

    It `is_single` without a length. A shortest-path search around it finds at most `found` paths from one node to
    another; 0 if there is none.
    """

    properties: Map | None
    where: Expression | None
    direction: int
    longest: float
    shortest: float
    is_single: bool
    found: float = 0.0

    @property
    def types(self) -> tuple[str, ...]:
        """The types along which it leads; none for any, and if some are excluded."""
        return self.names_without("!", "%")


@dataclass(frozen=True, slots=True)
class Group(Part):
    """A part of a path in brackets, repeated `least` to `most` times."""

    links: tuple[Link, ...]
    where: Expression | None
    least: float
    most: float


Link: TypeAlias = Node | Hop | Group


@dataclass(frozen=True, slots=True)
class Path(Part):
    """A path pattern of at most so many relations; `found` are those that a search around it finds, 0 without one."""

    name: str
    links: tuple[Link, ...]
    found: float
    most: float


# --- clauses


@dataclass(frozen=True, slots=True)
class Match(Part):
    """MATCH, or patterns and a WHERE without it; the token `last` ends the patterns."""

    paths: tuple[Path, ...]
    last: int
    where: Expression | None

    @property
    def is_search(self) -> bool:
        """True if it begins with a selector such as SHORTEST 1."""
        return self.paths[0].found > 0 and self.paths[0].most < math.inf


@dataclass(frozen=True, slots=True)
class Clause(Part):
    """UNWIND, LET, ORDER BY, SKIP, OFFSET, LIMIT or FILTER, with items of which some have no name; FINISH, OPTIONAL."""

    word: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Project(Part):
    """WITH or RETURN."""

    is_distinct: bool
    has_all: bool
    items: tuple[Item, ...]
    order: tuple[Clause, ...]
    where: Expression | None


@dataclass(frozen=True, slots=True)
class Branch(Part):
    """Clauses or a query in brackets, after UNION or NEXT, if it is not the first, and after a condition of WHEN."""

    joiner: str
    condition: Expression | None
    block: Query | Match | None
    clauses: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Query(Part):
    """A query: its branches."""

    branches: tuple[Branch, ...]

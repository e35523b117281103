"""The reader of patterns and of the registry's names: it binds each node to the scene."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from scenecypher.db.gate.cost import Meter, too_much
from scenecypher.db.gate.cursor import Cursor
from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.paths import Hop, Node, Path, Paths, Search
from scenecypher.db.gate.sizes import Size, Variables, list_of
from scenecypher.db.gate.words import PATH_FUNCTIONS, SCENE_KEY, SELECTORS
from scenecypher.db.store.bounds import Bounds
from scenecypher.errors import QueryRefused

UseKind: TypeAlias = Literal["label", "relation_type", "either", "property"]
LABEL: Final = "Entity"
SCOPE: Final = f"{SCENE_KEY}: $__{SCENE_KEY}"
MAX_DIGITS: Final = 15
"""Maximum digits of a number that becomes a parameter; longer ones may exceed its range."""
MAX_SELECTED_PATHS: Final = 20
"""Maximum paths that a SHORTEST search may find between two nodes."""


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name of the registry that the text uses; `may_be_absent`: a property whose absence the query handles."""

    kind: UseKind
    name: str
    may_be_absent: bool = False


@dataclass(slots=True)
class Reading:
    """Insertions by token index, and the names used.

    `defined` are the keys of the text's own maps, `numbers` the token indexes of numbers that may be parameters,
    `hinted` the nodes that an index hint may name, each with the token index after which the hint belongs.
    """

    before: dict[int, list[str]] = field(default_factory=dict)
    after: dict[int, list[str]] = field(default_factory=dict)
    uses: list[NameUse] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    hinted: list[tuple[int, str]] = field(default_factory=list)
    columns: tuple[str, ...] | None = None
    version: int = 5
    first: int = 0

    def insert_before(self, index: int, text: str) -> None:
        """Insert before token `index`; the first insertion stands outermost."""
        self.before.setdefault(index, []).append(text)

    def insert_after(self, index: int, text: str) -> None:
        """Insert after token `index`; the first insertion stands innermost."""
        self.after.setdefault(index, []).append(text)


class PatternReader(Cursor, ABC):
    """Reader of patterns. `variables` are those in scope; `names` the registry's labels and relation types."""

    def __init__(
        self, text: str, tokens: tuple[Token, ...], limits: Limits, bounds: Bounds, names: frozenset[str]
    ) -> None:
        super().__init__(text, tokens, nesting=limits.nesting)
        self.reading, self.meter, self.paths = Reading(), Meter(limits), Paths(bounds)
        self.variables: Variables = {}
        self.limits, self.names = limits, names
        self.pattern_brackets: set[int] = set()

    @abstractmethod
    def expression(self) -> Size:
        """Read an expression; return its size."""

    @contextmanager
    def inner_scope(self) -> Iterator[None]:
        """Forget the variables that the block adds."""
        variables, self.variables = self.variables, dict(self.variables)
        yield
        self.variables = variables

    def where(self) -> None:
        """Read WHERE and its condition, if it is next."""
        if self.skip("WHERE"):
            self.expression()

    # --- names of the registry

    def key(self) -> str:
        """Move past the key of a map or a property's name, which may be a keyword but not the scene's key."""
        if self.next_token.kind not in {"name", "quoted"}:
            self.refuse("a property's name should stand here")
        if self.next_token.value == SCENE_KEY:
            raise scene_key()
        return self.take().value

    def property_name(self) -> str:
        """Move past a property's name and record it."""
        name = self.key()
        may_be_absent = self.next_token.word == "IS" and "NULL" in {self.peek().word, self.peek(2).word}
        self.reading.uses.append(NameUse("property", name, may_be_absent=may_be_absent))
        return name

    def labels(self, kind: UseKind, *, bars: bool = True) -> bool:
        """Read a label expression; return True if it chains labels by colons."""
        chained = False
        while True:
            while self.skip("!"):
                pass
            if self.skip("("):
                self.pattern_brackets.add(self.at - 1)
                self.labels(kind, bars=bars)
                self.expect(")")
            elif not self.skip("%"):
                if self.next_token.kind not in {"name", "quoted"}:
                    self.refuse("a label or a relation type should stand here")
                self.reading.uses.append(NameUse(kind, self.take().value))
            if self.is_next(":") and kind != "relation_type":
                chained = True
            elif not self.is_next("&") and not (self.is_next("|") and (bars or self._is_label_ahead())):
                return chained
            self.take()
            self.skip(":")

    def _is_label_ahead(self) -> bool:
        """Check what follows a bar in an expression: in `[n IN list WHERE n:Door | n.name]` it ends the label."""
        ahead = 1
        while self.is_next("!", "(", ":", offset=ahead):
            ahead += 1
        return self.peek(ahead).value in self.names and not self.is_next(".", "(", offset=ahead + 1)

    # --- paths

    def pattern(self) -> Path:
        """Read one pattern; add its variables to the scope and its rows to the cost."""
        name, known = "", set(self.variables)
        if self.is_name() and self.is_next("=", offset=1):
            name = self.take_name()
            self.take()
        search = self._selector()
        if not self.is_next(*PATH_FUNCTIONS) or not self.is_next("(", offset=1):
            path = self.searched(search)
        else:
            path = self.path_function(self.take())
        self.meter.rows.every *= self.paths.rows(path, known)
        if name:
            self.variables[name] = self.path_size(path)
        return path

    def path_size(self, path: Path) -> Size:
        """Return the size of a path as a value."""
        length = sum(self.paths.length(part) for part in path if isinstance(part, Hop))
        return list_of(self.paths.entity, 2 * length + 1)

    def path_function(self, function: Token) -> Path:
        """Read what follows shortestPath or allShortestPaths."""
        self.expect("(")
        path = self.searched(Search(math.inf if function.word.startswith("ALL") else 1, is_function=True))
        self.expect(")")
        return path

    def searched(self, search: Search | None) -> Path:
        """Read a path within a shortest-path search, or within none."""
        path = [replace(part, search=search) if isinstance(part, Hop) else part for part in self.chain(free=True)]
        self.paths.add(path)
        return path

    def _selector(self) -> Search | None:
        """Move past ALL SHORTEST, SHORTEST 3 PATHS and the like."""
        most, found = 1.0, set[str]()
        while self.next_token.word in SELECTORS or (found and self.next_token.kind == "integer"):
            most = max(most, self.take_integer() or 1)
            found.add(self.next_token.word)
            self.at += self.next_token.word in SELECTORS
        if most > MAX_SELECTED_PATHS:
            message = f"more than {MAX_SELECTED_PATHS} shortest paths"
            raise too_much("SHORTEST", message, f"ask for at most {MAX_SELECTED_PATHS}")
        if not found & {"SHORTEST", "ANY"}:
            return None
        return Search(math.inf if found & {"ALL", "GROUP", "GROUPS"} else most)

    def chain(self, *, free: bool) -> list[Node | Hop]:
        """Read nodes joined by relations; with `free`, groups are allowed too."""
        parts = self._node_or_group(free=free)
        while True:
            if self.is_arrow(self.at):
                parts += [self._relation(), *self._node_or_group(free=free)]
            elif free and self.is_next("("):
                parts += self._node_or_group(free=free)
            else:
                return parts

    def _node_or_group(self, *, free: bool) -> list[Node | Hop]:
        """Read a node, or a group `((a)-[:ON]->(b) WHERE …){1,3}`, whose hops repeat."""
        if not self.is_next("("):
            self.refuse("a node such as (n:Object) should stand here")
        self.pattern_brackets.add(self.at)
        self.take()
        if not (free and (self.is_next("(") or self.is_next("=", offset=1))):
            return [self._node()]
        self.at += 2 * self.is_next("=", offset=1)
        parts = self.chain(free=True)
        self.where()
        self.expect(")")
        times = self._quantifier()
        parts = [replace(part, longest=part.longest * times) if isinstance(part, Hop) else part for part in parts]
        length = sum(self.paths.length(part) for part in parts if isinstance(part, Hop))
        for name in {part.name for part in parts if part.name}:
            self.variables[name] = list_of(self.variables[name], length + 1)
        return parts

    def _variable(self) -> str:
        """Move past the variable of a node or a relation, if one is next."""
        ends = self.is_next(":", ")", "{", "]", "*", offset=1) or self.peek().word in {"IS", "WHERE"}
        if not self.is_name() or not ends or self.next_token.word == "IS":
            return ""
        name = self.take().value
        self.variables[name] = self.paths.entity
        return name

    def _node(self) -> Node:
        name, first = self._variable(), self.at
        if not self.skip(":") and not self.skip("IS"):
            self.reading.insert_after(self.at - 1, f":{LABEL}")
        else:
            first += 1
            if self.labels("label"):
                self.reading.insert_after(self.at - 1, f":{LABEL}")
            else:
                self.reading.insert_before(first, "(")
                self.reading.insert_after(self.at - 1, f")&{LABEL}")
        said = self.tokens[first : self.at]
        labels = () if {"!", "|", "%"} & {one.text for one in said} else tuple(one.value for one in said if one.value)
        fixed: tuple[str, ...] = ()
        if self.skip("{"):
            self.reading.insert_after(self.at - 1, SCOPE if self.is_next("}") else f"{SCOPE}, ")
            fixed = self._properties()
        else:
            self.reading.insert_after(self.at - 1, f" {{{SCOPE}}}")
        self.where()
        self.expect(")")
        return Node(name, labels, fixed)

    def _properties(self) -> tuple[str, ...]:
        """Read the map of a node or a relation, of which the brace is taken; return its keys."""
        found = []
        while not self.skip("}"):
            found.append(self.property_name())
            self.expect(":")
            if self.is_next(",", "}", offset=1):
                self.note_number()
            self.expression()
            if not self.skip(",") and not self.is_next("}"):
                self.refuse("the map should end here")
        return tuple(found)

    def _relation(self) -> Hop:
        first, used = self.at, len(self.reading.uses)
        backward = self.skip("<")
        self.expect("-")
        name, longest = "", 1.0
        types: tuple[str, ...] = ()
        if self.skip("["):
            name = self._variable()
            if self.skip(":") or self.skip("IS"):
                self.labels("relation_type")
                is_exact = not any(one.text in {"!", "%"} for one in self.tokens[first : self.at])
                types = tuple(use.name for use in self.reading.uses[used:]) if is_exact else ()
            if self.skip("*"):
                longest = self._upper_bound("..")
            if self.skip("{"):
                self._properties()
            self.where()
            self.expect("]")
        self.expect("-")
        hop = Hop(name, types, direction=self.skip(">") - backward, longest=longest * self._quantifier())
        if name and hop.longest != 1:
            self.variables[name] = list_of(self.paths.entity, self.paths.length(hop))
        return hop

    def _quantifier(self) -> float:
        """Read `{1,3}`, `+` or `*`, if it is next; return the maximum repetitions."""
        if self.skip("+", "*"):
            return math.inf
        if not self.skip("{"):
            return 1
        most = self._upper_bound(",")
        self.expect("}")
        return most

    def _upper_bound(self, mark: str) -> float:
        """Read `1..4`, `..4`, `2..` or `3`; return the upper bound, at least 1."""
        most = self.take_integer()
        if self.skip(mark):
            most = self.take_integer()
        return math.inf if most is None else max(1, most)

    def note_number(self) -> None:
        """Record a number that is next: a parameter in its place has the same meaning and cost."""
        if self.next_token.kind in {"integer", "float"} and len(self.next_token.text) <= MAX_DIGITS:
            self.reading.numbers.add(self.at)


def scene_key() -> QueryRefused:
    """Return the refusal of a text that names the scene's key."""
    hint = "leave it out: a query sees one scene only"
    return QueryRefused("scene_key", f"a query can't name the property `{SCENE_KEY}`", piece=SCENE_KEY, hint=hint)

"""The reader of patterns and of the registry's names: it binds each node to the scene."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NoReturn, TypeAlias

from scenecypher.db.gate.cost import Meter
from scenecypher.db.gate.lexer import Token, integer_of
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.paths import MAX_ANY_TYPE_HOPS, MAX_BOUNDED_SEARCH, Hop, Node, Path, Paths
from scenecypher.db.gate.realm import FACT_ADVICE, JOIN_ADVICE, LABEL_ADVICE, PAST_LABELS, names_past
from scenecypher.db.gate.sizes import Size, Variables, list_of
from scenecypher.db.gate.words import NEVER_NAMES, PATH_FUNCTIONS, RESERVED, SELECTORS
from scenecypher.db.schema import ENTITY, PAST, PAST_KINDS, PAST_RELATIONS, SCENE_KEY
from scenecypher.db.store.bounds import Bounds
from scenecypher.errors import QueryRefused

UseKind: TypeAlias = Literal["label", "relation_type", "either", "property"]
Labels: TypeAlias = Sequence[str]
OPENING: Final = {"(": ")", "[": "]", "{": "}"}
SCOPE: Final = f"{SCENE_KEY}: $__{SCENE_KEY}"
PUBLIC_PARAMETER: Final = "__public"
"""The parameter with the names of properties that a query about the past may read."""
MAX_DIGITS: Final = 15  # maximum digits of a number that becomes a parameter; longer ones may exceed its range


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name of the registry that the text uses; `may_be_absent`: a property whose absence the query handles.

    `owner` is the label that binds a property's node, or its kind of the past; empty if it is not known for sure.
    """

    kind: UseKind
    name: str
    may_be_absent: bool = False
    owner: str = ""


@dataclass(slots=True)
class Reading:
    """Insertions by token index, and the names used.

    Of several `before` a token the first stands outermost, of several `after` it innermost. `defined` are the keys of
    the text's own maps, `numbers` the token indexes of numbers that may be parameters, `hinted` the nodes that an index
    hint may name, each with the label that binds it and the token index after which the hint belongs; `hinted_too`
    are the others of the past, to name if that is not enough. `past` says that the text names a label of the past,
    `asks_public` that an insertion asks for the names that may be read,
    `searches` that it has a selector such as SHORTEST 1.
    """

    before: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    after: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    uses: list[NameUse] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    hinted: list[tuple[int, str, str]] = field(default_factory=list)
    hinted_too: list[tuple[int, str, str]] = field(default_factory=list)
    past: bool = False
    asks_public: bool = False
    searches: bool = False
    columns: tuple[str, ...] | None = None
    version: int = 5
    first: int = 0


class Cursor:
    """A place in the tokens of a text, whose brackets match. Raises QueryRefused for what is not expected there."""

    def __init__(self, text: str, tokens: tuple[Token, ...], *, nesting: int) -> None:
        self.text, self.tokens, self.at = text, tokens, 0
        self.closing = _brackets(tokens, nesting)

    @property
    def next_token(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    @property
    def last_token(self) -> Token:
        """The token that was taken last."""
        return self.tokens[self.at - 1]

    def peek(self, offset: int = 1) -> Token:
        """Return the token `offset` further on, or the last."""
        return self.tokens[min(self.at + offset, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Move past the next token and return it."""
        token = self.next_token
        self.at += token.kind != "end"
        return token

    def is_next(self, *words: str, offset: int = 0) -> bool:
        """Check for one of these keywords or marks."""
        return self.peek(offset).word in words

    def skip(self, *words: str) -> bool:
        """Move past one of these keywords or marks, if it is next."""
        found = self.next_token.word in words
        self.at += found
        return found

    def expect(self, word: str) -> None:
        """Move past this keyword or mark, or refuse."""
        if not self.skip(word):
            self.refuse(f"`{word}` should stand here")

    def is_name(self) -> bool:
        """Check for a variable's name, which most keywords may be."""
        return self.next_token.kind in {"name", "quoted"} and self.next_token.word not in NEVER_NAMES

    def take_name(self) -> str:
        """Move past a variable's name; refuse anything else."""
        if not self.is_name():
            self.refuse("a name should stand here", hint="keywords can't be names")
        return self.take().value

    def take_integer(self) -> int | None:
        """Move past a whole number, if it is next, and return it."""
        return integer_of(self.take().text) if self.next_token.kind == "integer" else None

    def is_arrow(self, index: int) -> bool:
        """Check for a relation at `index`: `-[`, `--(`, `-->`, `--+(`, `<-[`, `<--`."""
        marks = [token.text if token.kind == "mark" else "" for token in self.tokens[index : index + 4]] + [""]
        if marks[0] == "<":
            marks = marks[1:]
        return marks[:2] == ["-", "["] or (marks[:2] == ["-", "-"] and marks[2:3] != [""])

    def refuse(self, message: str, *, hint: str = "rewrite this part", code: str = "syntax") -> NoReturn:
        """Refuse the text at the next token; a keyword that may be meant as a name gets a hint."""
        token = self.next_token
        piece = token.text or "the end"
        rest = self.text[token.start : token.start + 30].split("\n")[0]
        for near in (token, self.last_token):
            if near.word in RESERVED and hint == "rewrite this part":
                hint = f"`{near.text}` is a keyword: use another name"
        raise QueryRefused(code, f"can't read the query at `{rest or piece}`: {message}", piece=piece, hint=hint)


def _brackets(tokens: tuple[Token, ...], nesting: int) -> dict[int, int]:
    """Return for each opening bracket the index of the one that closes it."""
    closing: dict[int, int] = {}
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token.word in OPENING:
            stack.append(index)
            if len(stack) > nesting:
                raise QueryRefused("nesting", f"brackets nest more than {nesting} deep", hint="write a simpler query")
        elif token.word in OPENING.values() or (token.kind == "end" and stack):
            last = tokens[stack[-1]] if stack else token
            if OPENING.get(last.word) != token.word:
                fault, piece = (
                    ("nothing closes", last.text) if token.kind == "end" else ("no bracket opens", token.text)
                )
                raise QueryRefused("syntax", f"{fault} this `{piece}`", piece=piece, hint="check the brackets")
            closing[stack.pop()] = index
    return closing


class PatternReader(Cursor, ABC):
    """Reader of patterns. `variables` are those in scope; `names` the registry's labels and relation types."""

    def __init__(
        self, text: str, tokens: tuple[Token, ...], limits: Limits, bounds: Bounds, names: frozenset[str]
    ) -> None:
        super().__init__(text, tokens, nesting=limits.nesting)
        self.reading, self.meter, self.paths = Reading(), Meter(limits.steps), Paths(bounds)
        self.reading.past = names_past(tokens)
        self._in_past = False
        self.variables: Variables = {}
        self.limits, self.names = limits, names

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

    def property_name(self, owner: str = "") -> str:
        """Move past the name of a property of `owner` and record it."""
        name = self.key()
        may_be_absent = self.next_token.word == "IS" and "NULL" in {self.peek().word, self.peek(2).word}
        self.reading.uses.append(NameUse("property", name, may_be_absent, owner))
        return name

    def owner_of(self, size: Size) -> str:
        """Return the label or the kind of a node of this size, if it is surely one; empty for all else."""
        return "" if size.each else size.kind

    def labels(self, kind: UseKind, *, bars: bool = True) -> bool:
        """Read a label expression; return True if it chains labels by colons."""
        chained = False
        while True:
            while self.skip("!"):
                pass
            if self.skip("("):
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
        names = self.names | PAST_LABELS if self.reading.past else self.names
        return self.peek(ahead).value in names and not self.is_next(".", "(", offset=ahead + 1)

    # --- paths

    def pattern(self) -> Path:
        """Read one pattern; add its variables to the scope and its rows to the cost."""
        name, known = "", set(self.variables)
        if self.is_name() and self.is_next("=", offset=1):
            name = self.take_name()
            self.take()
        if self.is_next(*PATH_FUNCTIONS) and self.is_next("(", offset=1):
            path = self.path_function(self.take())
        else:
            path = self._searched(self._selector())
        self.meter.rows *= self.paths.rows(path, known)
        if name:
            self.variables[name] = self.path_size(path)
        return path

    def path_size(self, path: Path) -> Size:
        """Return the size of a path as a value."""
        is_past = any(isinstance(part, Node) and part.bound_by == PAST for part in path)
        return list_of(replace(self.paths.entity, kind=PAST if is_past else ENTITY), 2 * self.paths.length(path) + 1)

    def path_function(self, function: Token) -> Path:
        """Read what follows shortestPath or allShortestPaths."""
        self.expect("(")
        path = self._searched(math.inf if function.word.startswith("ALL") else 1.0, most=math.inf)
        self.expect(")")
        return path

    def _searched(self, found: float, *, most: float = MAX_BOUNDED_SEARCH) -> Path:
        """Read a path within a search that finds so many between two nodes, or within none."""
        path = [replace(part, found=found) if isinstance(part, Hop) else part for part in self.chain(free=True)]
        self.paths.add(path, most=most if found else MAX_ANY_TYPE_HOPS)
        return path

    def _selector(self) -> float:
        """Move past ALL SHORTEST, SHORTEST 3 PATHS and the like; return how many paths they find, 0 for all."""
        most, said = 1.0, set[str]()
        while self.next_token.word in SELECTORS or (said and self.next_token.kind == "integer"):
            most = max(most, float(self.take_integer() or 1))
            said.add(self.next_token.word)
            self.at += self.next_token.word in SELECTORS
        if said & {"SHORTEST", "ANY"}:
            self.reading.searches = True
            return math.inf if said & {"ALL", "GROUP", "GROUPS"} else most
        return 0.0

    def chain(self, *, free: bool) -> list[Node | Hop]:
        """Read nodes joined by relations, all in the present or all in the past; with `free`, groups are allowed."""
        around, self._in_past = self._in_past, self.reading.past and self._is_past(self.at)
        parts = self._links(free=free)
        self._in_past = around
        return parts

    def _is_past(self, at: int) -> bool:
        """Check whether the path at `at` has a label of the past, or a variable that stands for a node of it."""
        while True:
            token = self.tokens[at]
            if token.word == "(" and self._is_past_node(at):
                return True
            if token.word not in {"(", "[", "{", "-", "<", ">", "+", "*"}:
                return False
            at = self.closing.get(at, at) + 1

    def _is_past_node(self, opening: int) -> bool:
        first = self.tokens[opening + 1]
        if first.word == "(":
            return self._is_past(opening + 1)
        if self.tokens[opening + 2].word == "=":
            return self._is_past(opening + 3)
        if first.value in self.variables and self.variables[first.value].kind in PAST_LABELS:
            return True
        is_label = False
        for token in self.tokens[opening + 1 : self.closing[opening]]:
            if token.word in {"{", "WHERE"} or (is_label and token.value in PAST_LABELS):
                return is_label and token.value in PAST_LABELS
            is_label |= token.word in {":", "IS"}
        return False

    def _links(self, *, free: bool) -> list[Node | Hop]:
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
        self.take()
        if not (free and (self.is_next("(") or self.is_next("=", offset=1))):
            return [self._node()]
        self.at += 2 * self.is_next("=", offset=1)
        parts = self.chain(free=True)
        self.where()
        self.expect(")")
        least, times = self._quantifier()
        parts = [
            replace(part, longest=part.longest * times, shortest=part.shortest * least)
            if isinstance(part, Hop)
            else part
            for part in parts
        ]
        for name in {part.name for part in parts if part.name}:
            self.variables[name] = list_of(self.variables[name], self.paths.length(parts) + 1)
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
        before = self.variables.get(self.next_token.value)
        name, first, label = self._variable(), self.at + 1, PAST if self._in_past else ENTITY
        if not self.skip(":", "IS") or self.labels("label"):
            self.reading.after[self.at - 1].append(f":{label}")
        else:
            self.reading.before[first].append("(")
            self.reading.after[self.at - 1].append(f")&{label}")
        said = self.tokens[first : self.at]
        labels = () if {"!", "|", "%"} & {one.text for one in said} else tuple(one.value for one in said if one.value)
        owner = ENTITY
        if self._in_past:
            owner = self._kind_of_past(before if name else None, {one.value for one in said}, labels)
            self.variables |= {name: replace(self.paths.entity, kind=owner)} if name else {}
        has_id = False
        if self.skip("{"):
            self.reading.after[self.at - 1].append(SCOPE if self.is_next("}") else f"{SCOPE}, ")
            has_id = "id" in self._properties(owner)
        else:
            self.reading.after[self.at - 1].append(f" {{{SCOPE}}}")
        self.where()
        self.expect(")")
        return Node(name, labels, has_id, label)

    def _kind_of_past(self, before: Size | None, said: set[str], labels: Labels) -> str:
        """Return the kind of a node of the past, as far as it is known. Refuse a node of the present."""
        known = before.kind if before else ""
        if said & self.names or known == ENTITY:
            token = self.last_token
            raise QueryRefused("label", "a path joins the past with the present", piece=token.text, hint=JOIN_ADVICE)
        kinds = {*labels} & PAST_KINDS.keys() or {known or PAST}
        return kinds.pop() if len(kinds) == 1 else PAST

    def _properties(self, owner: str = "") -> list[str]:
        """Read the map of a node or a relation, of which the brace is taken; return its keys."""
        found = []
        while not self.skip("}"):
            found.append(self.property_name(owner))
            self.expect(":")
            if self.is_next(",", "}", offset=1):
                self.note_number()
            self.expression()
            if not self.skip(",") and not self.is_next("}"):
                self.refuse("the map should end here")
        return found

    def _relation(self) -> Hop:
        first, used, name, length, types = self.at, len(self.reading.uses), "", (1.0, 1.0), tuple[str, ...]()
        backward = self.skip("<")
        self.expect("-")
        if self.skip("["):
            name = self._variable()
            self.variables |= {name: replace(self.paths.entity, kind=PAST)} if name and self._in_past else {}
            if self.skip(":", "IS"):
                self.labels("relation_type")
                self._check_types(self.reading.uses[used:])
            excludes = any(one.text in {"!", "%"} for one in self.tokens[first : self.at])
            types = () if excludes else tuple(use.name for use in self.reading.uses[used:])
            if self.skip("*"):
                length = self._bounds("..")
            if self.skip("{"):
                self._properties()
            self.where()
            self.expect("]")
        self.expect("-")
        direction, times = self.skip(">") - backward, self._quantifier()
        hop = Hop(name, types, direction, longest=length[1] * times[1], shortest=length[0] * times[0])
        if name and hop.longest != 1:
            self.variables[name] = list_of(self.variables[name], self.paths.length([hop]))
        return hop

    def _check_types(self, uses: Sequence[NameUse]) -> None:
        """Refuse a relation type of the present in the past, and one of the past in the present."""
        for name in (use.name for use in uses):
            is_known = name in self.names or name in PAST_RELATIONS
            if is_known and name not in (PAST_RELATIONS if self._in_past else self.names):
                realm, hint = ("past", FACT_ADVICE) if self._in_past else ("present", LABEL_ADVICE)
                raise QueryRefused("relation_type", f"no `{name}` joins nodes of the {realm}", piece=name, hint=hint)

    def _quantifier(self) -> tuple[float, float]:
        """Read `{1,3}`, `+` or `*`, if it is next; return the minimum and maximum repetitions."""
        if self.skip("+", "*"):
            return 1.0, math.inf
        if not self.skip("{"):
            return 1.0, 1.0
        bounds = self._bounds(",")
        self.expect("}")
        return bounds

    def _bounds(self, mark: str) -> tuple[float, float]:
        """Read `1..4`, `..4`, `2..` or `3`; return both bounds, each at least 1."""
        least = most = self.take_integer()
        if self.skip(mark):
            most = self.take_integer()
        return max(1.0, least or 1), math.inf if most is None else max(1.0, most)

    def note_number(self) -> None:
        """Record a number that is next: a parameter in its place has the same meaning and cost."""
        if self.next_token.kind in {"integer", "float"} and len(self.next_token.text) <= MAX_DIGITS:
            self.reading.numbers.add(self.at)


def scene_key() -> QueryRefused:
    """Return the refusal of a text that names the scene's key."""
    hint = "leave it out: a query sees one scene only"
    return QueryRefused("scene_key", f"a query can't name the property `{SCENE_KEY}`", piece=SCENE_KEY, hint=hint)

"""Scope by insertion: the model's own text with each node bound to one scope and each string as a parameter."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from neo4j.vector import Vector

from scenecypher.db.gate import tree, words
from scenecypher.db.gate.cost import NOTHING, Cost
from scenecypher.db.gate.lexer import NO_PARAMETERS, Token, TokenKind, integer_of
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.names import KnownValues, check_names, public_names
from scenecypher.db.gate.price import Pricer
from scenecypher.db.gate.syntax import ENDS, Parsed, parse, parse_with
from scenecypher.db.schema import PAST, Schema
from scenecypher.db.store.bounds import UNKNOWN, Bounds
from scenecypher.errors import QueryRefused

Value: TypeAlias = str | int | float | list[str] | list[float] | dict[str, float] | Vector

BETWEEN_TWO_NODES: Final = " statefulShortestPlanningMode=into_only"
"""The server's option to search for the shortest path between two given nodes only. By its estimates it else searches
from one node to all others, along every path, which may never end, and which it does not interrupt."""
SCENE_PARAMETER: Final = "__scene"
PARAMETER_TYPES: Final[Mapping[TokenKind, tuple[str, Callable[[str], Value]]]] = {
    "string": ("p", str),
    "integer": ("i", integer_of),
    "float": ("f", float),
}
"""The letter in a parameter's name and the conversion to its value, by type: the server's plan depends on types."""


VECTORS_PARAMETER, DESCRIBED = "__set", "__v"
"""The parameter with the key of the vectors that are compared, and how the names begin of those that are texts yet."""
COMPARED: Final = (
    "coalesce(COLLECT",
    f" {{ MATCH (__v:Vector {{set: ${VECTORS_PARAMETER}, id: ",
    "}) RETURN vector.similarity.cosine(__v.values,",
    ") }[0], 0.0)",
)
LOOKED_UP: Final = ("coalesce(head", "([__i IN [", "] | ", "[__i]]), 0.0)")
"""What stands around node and text in place of similarity(…): the server's cosine of the vector stored beside the node;
or, of vectors with an index, a look-up in the parameter, which has the nearest by id."""
PUBLIC_PARAMETER: Final = "__public"
"""The parameter with the names of properties that a query about the past may read."""
IN_UTC: Final = "(datetime('1970-01-01T00:00Z') + duration.inSeconds(datetime('1970-01-01T00:00Z'), "
"""Prefix that turns a time of a query into UTC, as all stored ones are: the server takes equal instants of two zones
for unequal. Null stays null, which a map with `timezone` would not take."""
MAX_DIGITS: Final = 15  # maximum digits of a number that becomes a parameter; longer ones may exceed its range
MAX_SHARED_LIMIT: Final = 100  # the largest LIMIT that is a parameter, so that queries share a plan
ORDERED: Final = frozenset({"=", "<>", "<", ">", "<=", ">="})
NUMBER_ENDS: Final = ENDS | words.CLAUSES | words.LOGIC | words.CASE_WORDS | {"NOT", "IN", "IS", ""}


@dataclass(frozen=True, slots=True)
class ScopedQuery:
    """A text that reads one scene only, or one scope of another graph, once `$__scene` is its value.

    `text` is its shape: queries that differ only in `parameters` share it. Parameters are all strings, and the numbers
    on which neither the plan nor a rule depends. `hinted` is the query with index hints, few and then more, to use if
    the plan of `text` reads more than the scene. `columns` are the last columns as the model wrote them; `origin` maps
    offsets in `text` to the model's tokens. `public` are the keys that maps of its answer may have, None for any
    but the scene's.
    """

    text: str
    parameters: Mapping[str, Value]
    columns: tuple[str, ...]
    origin: tuple[tuple[int, str], ...] = field(repr=False)
    cost: Cost = NOTHING
    hinted: tuple[ScopedQuery, ...] = field(repr=False, default=())
    public: frozenset[str] | None = field(repr=False, default=None)

    def piece_at(self, offset: int) -> str:
        """Return the model's token at or before an offset in `text`."""
        at = bisect_right(self.origin, offset, key=lambda pair: pair[0]) - 1
        return self.origin[at][1] if at >= 0 else ""


def scope(
    cypher: str,
    schema: Schema,
    limits: Limits,
    *,
    known: KnownValues | None = None,
    bounds: Bounds = UNKNOWN,
    parameters: Mapping[str, object] = NO_PARAMETERS,
) -> ScopedQuery:
    """Read, check and bind a query about a graph of at most this size.

    Values of `parameters` are read as if they were written in its text. Raises QueryRefused for a text
    that is not understood, names unknown things or costs too much.
    """
    if len(cypher) > limits.text_length:
        raise QueryRefused(
            "length", f"the query is longer than {limits.text_length} characters", hint="write a shorter query"
        )
    parsed = (
        parse_with(cypher, parameters, limits.nesting, schema) if parameters else parse(cypher, limits.nesting, schema)
    )
    pricer = Pricer(parsed, limits, bounds, schema)
    cost = pricer.price(parsed.query)
    check_names(parsed.parts, pricer.owners, schema, known or {}, past=parsed.past)
    public = public_names(parsed.parts, schema) if parsed.past else None
    bound = bind(parsed, pricer, schema)
    scoped, hinted = render(parsed, bound, public), list[ScopedQuery]()
    for hints in pricer.hints if schema.member else ():
        for index, name, label in hints:
            indexed = f" SEEK `{name}`:{label}" if label else f" `{name}`:{schema.member}"
            bound.after[index] += f" USING INDEX{indexed}({schema.scope})"
        hinted += [replace(render(parsed, bound, public), cost=cost)] if hints else []
    return replace(scoped, cost=cost, hinted=tuple(hinted))


@dataclass(slots=True)
class Insertions:
    """Text to insert around tokens, by their index, and the `numbers` that become parameters, as each string does.

    Some tokens have other text `instead`; `described` are the strings that stand for vectors.
    """

    tokens: tuple[Token, ...]
    past: bool
    schema: Schema
    before: defaultdict[int, str] = field(default_factory=lambda: defaultdict(str))
    after: defaultdict[int, str] = field(default_factory=lambda: defaultdict(str))
    instead: dict[int, str] = field(default_factory=dict)
    described: set[int] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    asks_public: bool = False

    def bind(self, node: tree.Node, label: str) -> None:
        """Bind a node to the scope, if any, and to a label, if any."""
        if not self.schema.scope:
            return
        labels, properties, scope = node.expression, node.properties, f"{self.schema.scope}: $__scene"
        if label and labels and not labels.is_chained:
            self.before[labels.at] += "("
            self.after[node.head] += f")&{label}"
        elif label:
            self.after[node.head] += f":{label}"
        if properties:
            self.after[properties.at] += f"{scope}, " if properties.entries else scope
        else:
            self.after[node.head] += f" {{{scope}}}"

    def wrap(self, part: tree.Index | tree.Call) -> None:
        """Let an index and keys() reach public keys only; rewrite datetime() and similarity() of a scene."""
        if isinstance(part, tree.Call) and part.name == words.SIMILARITY:
            node, text = part.arguments
            pieces = LOOKED_UP if self.schema.vectors[0].indexed else COMPARED
            self.instead |= dict(zip((part.at, part.at + 1, text.at - 1, part.end), pieces, strict=True))
            self.after[node.at] += ".id"
            self.described.add(text.at)
        elif isinstance(part, tree.Call) and part.name == "datetime" and self.schema.is_scene:
            self.before[part.at] += IN_UTC
            self.after[part.end] += "))"
        elif not self.schema.scope:
            return
        elif isinstance(part, tree.Index):
            or_number = "toIntegerOrNull(__i) = __i OR " if self.past else ""
            self.after[part.at] += "head([__i IN ["
            self.before[part.end] += f"] WHERE {or_number}{self._is_public('__i')}])"
        elif part.name == "keys":
            self.before[part.at] += "[__k IN "
            self.after[part.end] += f" WHERE {self._is_public('__k')}]"

    def _is_public(self, variable: str) -> str:
        """Return the condition that a key is one that queries may read."""
        self.asks_public |= self.past
        return f"{variable} IN ${PUBLIC_PARAMETER}" if self.past else f"{variable} <> '{self.schema.scope}'"

    def note_compared(self, expression: tree.Expression) -> None:
        """Note a number after a comparison, if it is all of that side and the other is none."""
        for term in expression.terms:
            if isinstance(term, tree.Operator) and term.word in ORDERED:
                before, after = self.tokens[term.at - 1], self.tokens[min(term.at + 2, len(self.tokens) - 1)]
                if (before.kind in {"name", "quoted"} or before.word in {")", "]"}) and after.word in NUMBER_ENDS:
                    self._note(term.at + 1)

    def note_properties(self, properties: tree.Map | None) -> None:
        """Note the numbers among the values of a pattern's properties."""
        for entry in properties.entries if properties else ():
            if isinstance(entry, tree.Expression) and self.tokens[entry.at + 1].word in {",", "}"}:
                self._note(entry.at)

    def note_limit(self) -> None:
        """Note a LIMIT that ends the query: one within it affects the cost of later parts."""
        at = len(self.tokens) - 2 - (self.tokens[-2].word == ";")
        limit, number = self.tokens[at - 1 : at + 1] if at > 0 else (None, None)
        if limit and number and limit.word == "LIMIT" and number.kind == "integer":
            self.numbers |= {at} if 0 < integer_of(number.text) <= MAX_SHARED_LIMIT else set()

    def _note(self, at: int) -> None:
        if self.tokens[at].kind in {"integer", "float"} and len(self.tokens[at].text) <= MAX_DIGITS:
            self.numbers.add(at)


def bind(parsed: Parsed, priced: Pricer, schema: Schema) -> Insertions:
    """Return what to insert into a query, once it is priced."""
    found = Insertions(parsed.tokens, parsed.past, schema)
    has_long_path = any(
        (isinstance(part, tree.Hop) and part.longest != 1) or (isinstance(part, tree.Group) and part.most != 1)
        for part in parsed.parts
    )
    for part in parsed.parts:
        match part:
            case tree.Node():
                found.bind(part, PAST if priced.owners.get(part.at) == PAST else schema.member)
                found.note_properties(part.properties)
            case tree.Hop():
                found.note_properties(part.properties)
            case tree.Expression():
                found.note_compared(part)
            case tree.Call() | tree.Index(may_be_key=True):
                found.wrap(part)
            case tree.Project(is_distinct=True, has_all=False) if has_long_path:
                # Neo4j 2026.08.1 drops the DISTINCT after paths of variable length if such paths begin at a node found
                # by its id: `RETURN DISTINCT b.class` gives a row for each `b`. After an UNWIND of one value the
                # planner makes no such assumption about rows.
                found.before[part.at] += f"UNWIND [0] AS __d{part.at} "
    for at in priced.breaks:
        # Without a break the server joins a search with the MATCH before it, and searches before it knows the ends.
        found.before[at] += "WITH * SKIP 0 "
    found.note_limit()
    return found


def render(parsed: Parsed, bound: Insertions, public: frozenset[str] | None = None) -> ScopedQuery:
    """Return the query with the insertions; strings and some numbers become parameters.

    Blanks and comments between two tokens become one blank.
    """
    parts = [f"CYPHER {parsed.version}{BETWEEN_TWO_NODES * parsed.searches}"]
    length = len(parts[0])
    names: dict[tuple[TokenKind, str, str], str] = {}
    origin: list[tuple[int, str]] = []
    for index in range(parsed.first, len(parsed.tokens) - 1):
        token = parsed.tokens[index]
        text = token.text
        if token.kind == "string" or index in bound.numbers:
            text = "$" + _parameter(token, names, "v" if index in bound.described else "")
        text = bound.instead.get(index, text)
        inserted = bound.before.get(index, "")
        blank = " " if token.spaced or index == parsed.first else ""
        written = token.value if token.kind == "quoted" else token.text
        origin.append((length + len(blank) + len(inserted), written))
        part = f"{blank}{inserted}{text}{bound.after.get(index, '')}"
        parts.append(part)
        length += len(part)
    parameters: dict[str, Value] = {name: PARAMETER_TYPES[kind][1](value) for (kind, value, _), name in names.items()}
    if bound.asks_public:
        parameters[PUBLIC_PARAMETER] = sorted(public or ())
    return ScopedQuery("".join(parts), parameters, parsed.columns, tuple(origin), public=public)


def _parameter(token: Token, names: dict[tuple[TokenKind, str, str], str], letter: str = "") -> str:
    """Return the name of the token's parameter, with a `letter` other than its type's; equal values share one."""
    value = token.value if token.kind == "string" else token.text
    letter = letter or PARAMETER_TYPES[token.kind][0]
    return names.setdefault((token.kind, value, letter), f"__{letter}{len(names)}")

"""Scope by insertion: the model's own text with each node bound to one scope and each string as a parameter."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from scenecypher.db.gate.bind import PUBLIC_PARAMETER, Insertions, bind
from scenecypher.db.gate.cost import NOTHING, Cost
from scenecypher.db.gate.lexer import NO_PARAMETERS, Token, TokenKind, integer_of
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.price import Pricer
from scenecypher.db.gate.syntax import Parsed, parse, parse_with
from scenecypher.db.gate.unknown_names import KnownValues, check_names, public_names
from scenecypher.db.schema import PAST, Schema
from scenecypher.db.store.bounds import UNKNOWN, Bounds
from scenecypher.errors import QueryRefused

Value: TypeAlias = str | int | float | list[str]

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
    cost, kinds = pricer.price(parsed.query), pricer.kinds
    check_names(parsed.parts, kinds.owners, schema, known or {}, past=parsed.past)
    public = public_names(parsed.parts, schema) if parsed.past else None
    bound = bind(parsed, kinds, schema)
    scoped, hinted = render(parsed, bound, public), list[ScopedQuery]()
    for hints in kinds.hints if schema.member else ():
        for index, name, label in hints:
            seek, label_ = (" SEEK", PAST) if label == PAST else ("", schema.member)
            bound.after[index] += f" USING INDEX{seek} `{name}`:{label_}({schema.scope})"
        hinted += [replace(render(parsed, bound, public), cost=cost)] if hints else []
    return replace(scoped, cost=cost, hinted=tuple(hinted))


def render(parsed: Parsed, bound: Insertions, public: frozenset[str] | None = None) -> ScopedQuery:
    """Return the query with the insertions; strings and some numbers become parameters.

    Blanks and comments between two tokens become one blank.
    """
    parts = [f"CYPHER {parsed.version}{BETWEEN_TWO_NODES * parsed.searches}"]
    length = len(parts[0])
    names: dict[tuple[TokenKind, str], str] = {}
    origin: list[tuple[int, str]] = []
    for index in range(parsed.first, len(parsed.tokens) - 1):
        token = parsed.tokens[index]
        text = token.text
        if token.kind == "string" or index in bound.numbers:
            text = "$" + _parameter(token, names)
        inserted = bound.before.get(index, "")
        blank = " " if token.spaced or index == parsed.first else ""
        written = token.value if token.kind == "quoted" else token.text
        origin.append((length + len(blank) + len(inserted), written))
        part = f"{blank}{inserted}{text}{bound.after.get(index, '')}"
        parts.append(part)
        length += len(part)
    parameters: dict[str, Value] = {name: PARAMETER_TYPES[kind][1](value) for (kind, value), name in names.items()}
    if bound.asks_public:
        parameters[PUBLIC_PARAMETER] = sorted(public or ())
    return ScopedQuery("".join(parts), parameters, parsed.columns, tuple(origin), public=public)


def _parameter(token: Token, names: dict[tuple[TokenKind, str], str]) -> str:
    """Return the name of the token's parameter; equal values share one."""
    value = token.value if token.kind == "string" else token.text
    return names.setdefault((token.kind, value), f"__{PARAMETER_TYPES[token.kind][0]}{len(names)}")

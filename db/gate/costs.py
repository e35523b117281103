"""What a query's text says of its cost, before the server sees it.

The server's own limits do not reach everything. Its memory limit misses what an expression builds, and its time limit
misses what an expression computes without touching the store: such text is bounded here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import prod
from typing import Final

from scenecypher.db.gate.depth import depths
from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.reading import OPENING, Call, Hop, Join, Reading
from scenecypher.db.gate.regexes import regex_problem
from scenecypher.db.gate.words import CLOCKS, FIXED
from scenecypher.errors import QueryRefused

RANGE: Final = 100
"""Numbers in a range()."""
JOINS_A_CLAUSE: Final = 24
GROWTH: Final = 64
"""How many times longer a text may be made: by joining variables in clause after clause, and by replace()."""
XORS: Final = 6
LOGIC: Final = 12
"""Brackets within brackets of AND and OR, which the server multiplies out."""
LOOPED: Final = 30_000
"""Turns of loops inside one expression, which no time limit ends."""
UNWOUND: Final = 100_000
"""Rows that UNWIND after UNWIND may make of one."""
UNWIND_ITEMS: Final = 100
ANY_TYPE_REACH: Final = 6
"""Relations of any type in a row, over the whole query."""
MANY_TYPES_REACH: Final = 10
"""Relations of several types in a row where the direction is open."""
DENSE: Final = {"CLOSE": 3}
"""Types that join almost everything, and how far a query may follow them."""
HOPS: Final = 24
LONG_HOPS: Final = 3
COUNTED_REACH: Final = 20
"""How far SHORTEST may search by a bound of its own along relations of any type: the server keeps each length apart, so
that `{0,15}` takes ten seconds where `*` takes half of one."""
SELECTED: Final = 20
"""Paths that a SHORTEST search may find between two nodes."""
PRECISION: Final = 20
"""Digits that round() may be asked for."""
GROWN_MATCHED: Final = 8
"""How many times longer a text may have been made that a regular expression is matched with."""


def check_costs(reading: Reading) -> None:
    """Refuse the first thing in the text that may cost too much."""
    for check in CHECKS:
        check(reading)


def _too_much(piece: str, message: str, hint: str, *, code: str = "cost") -> QueryRefused:
    return QueryRefused(code, message, piece=piece, hint=hint)


# --- text that grows


def _joins(reading: Reading) -> None:
    most = max(Counter(join.clause for join in reading.joins).values(), default=0)
    if most > JOINS_A_CLAUSE or growth(reading) > GROWTH:
        raise _too_much("+", "too many + in the query", "return the parts as columns of their own")


def growth(reading: Reading) -> float:
    """How many times longer than the query or a property a text may become."""
    return _joined(reading) * prod(_replaced(call) for call in reading.calls if call.name == "replace")


def _joined(reading: Reading) -> int:
    """By +: in each clause by the number of variables joined, since each may be long already."""

    def is_long(side: str | None) -> bool:
        return side is None or side in reading.defined

    clauses: dict[int, list[Join]] = {}
    for join in reading.joins:
        clauses.setdefault(join.clause, []).append(join)
    return prod(
        max(1, sum(is_long(join.right) for join in joins) + any(is_long(join.left) for join in joins))
        for joins in clauses.values()
    )


def _replaced(call: Call) -> float:
    old, new = (_only_string(argument) for argument in (*call.arguments[1:], (), ())[:2])
    if old is None or new is None:
        raise _too_much("replace", "replace() takes plain strings to find and to put", "write both as literals")
    return max(1.0, len(new) / max(1, len(old)))


def _only_string(argument: tuple[Token, ...]) -> str | None:
    return argument[0].value if len(argument) == 1 and argument[0].kind == "string" else None


# --- expressions that loop


def _ranges(reading: Reading) -> None:
    for call in reading.calls:
        if call.name != "range":
            continue
        if not 2 <= len(call.arguments) <= 3 or not all(_is_bounded(argument) for argument in call.arguments):
            raise _too_much(
                "range",
                f"range() takes whole numbers up to {RANGE}, size() or length()",
                "write such as range(0, size(list) - 1)",
            )


def _is_bounded(argument: tuple[Token, ...]) -> bool:
    """Whether it is a small number, or one counted from a list: at most one size(), plus or minus small numbers."""
    at, sizes = 0, 0
    while at < len(argument):
        token = argument[at]
        if token.text in {"+", "-"} or _is_small(token):
            at += 1
        elif token.word in {"SIZE", "LENGTH"} and argument[at + 1 :][:1] and argument[at + 1].text == "(":
            at, sizes = _after_bracket(argument, at + 1), sizes + 1
        else:
            return False
    return sizes <= 1 and bool(argument)


def _is_small(token: Token) -> bool:
    return token.kind == "integer" and len(token.text) <= 3 and int(token.text) <= RANGE


def _after_bracket(tokens: tuple[Token, ...], opening: int) -> int:
    depth = 0
    for at in range(opening, len(tokens)):
        if tokens[at].kind == "mark":
            depth += (tokens[at].text in {"(", "[", "{"}) - (tokens[at].text in {")", "]", "}"})
        if depth == 0:
            return at + 1
    return len(tokens)


def _loops(reading: Reading) -> None:
    grown = growth(reading)
    if any(call.name == "split" for call in reading.calls):
        grown *= grown
    for loop in reading.loops:
        nest = (*loop.around, (loop.source, loop.items))
        unknown = sum(source == "other" for source, _ in nest)
        if (loop.around and unknown > 1) or prod(items for _, items in nest) * grown > LOOPED:
            raise _too_much(
                loop.token.text,
                f"a loop over `{loop.token.text}` inside another, or over joined text, may take too long",
                "UNWIND one of the lists, or use item IN list",
            )
    for token in reading.repeated:
        if token.value in reading.lists:
            raise _too_much(
                token.text,
                f"the list `{token.text}` as a whole stands inside a loop over another",
                f"use item IN {token.text}, size({token.text}) or {token.text}[i]",
            )


def _logic(reading: Reading) -> None:
    """The server turns conditions into a conjunction of alternatives before it looks at its clock."""
    depth, flags, heights = 0, [False], [0]
    for token in reading.tokens:
        if token.word in {"AND", "OR", "XOR"}:
            flags[-1] = True
        elif token.kind == "mark" and token.text in OPENING:
            flags.append(False)
            heights.append(0)
        elif token.kind == "mark" and token.text in OPENING.values():
            height = heights.pop() + flags.pop()
            heights[-1] = max(heights[-1], height)
            depth = max(depth, height)
    xors = sum(token.word == "XOR" for token in reading.tokens)
    if depth > LOGIC or xors > XORS:
        raise _too_much("OR", "the conditions are nested too deeply, or have too many XOR", "write simpler conditions")


def _depth(reading: Reading) -> None:
    for piece, number, most in depths(reading):
        if number > most:
            raise _too_much(piece, f"more than {most} times `{piece}` in each other", "ask in steps", code="nesting")


def _unwinds(reading: Reading) -> None:
    sizes = [
        loop.items if loop.source in {"literal", "range", "property"} else UNWIND_ITEMS for loop in reading.unwinds
    ]
    if prod(sizes) > UNWOUND:
        piece = reading.unwinds[-1].token.text
        raise _too_much(piece, "UNWIND after UNWIND makes too many rows", "unwind fewer or shorter lists")


# --- paths


def _hops(reading: Reading) -> None:
    if len(reading.hops) > HOPS:
        raise _too_much("-[", f"more than {HOPS} relations in one query", "ask in steps")
    walks = [hop for hop in reading.hops if not hop.shortest]
    if sum(_reach(hop) for hop in walks if not hop.types) > ANY_TYPE_REACH:
        raise _path(f"more than {ANY_TYPE_REACH} relations of any type in a row")
    if sum(hop.longest is None or hop.longest > MANY_TYPES_REACH for hop in walks) > LONG_HOPS:
        raise _path(f"more than {LONG_HOPS} paths of open length")
    if any(hop.shortest == "selector" and not hop.types and _is_far(hop) for hop in reading.hops):
        raise _counted()
    for hop in walks:
        _one_hop(hop)


def _one_hop(hop: Hop) -> None:
    if hop.types > 1 and not hop.directed and _reach(hop) > MANY_TYPES_REACH:
        raise _path(f"more than {MANY_TYPES_REACH} relations of several types in either direction")
    for name in hop.names:
        if name in DENSE and _reach(hop) > DENSE[name]:
            raise _path(f"more than {DENSE[name]} relations of type {name} in a row, which joins almost everything")


def _is_far(hop: Hop) -> bool:
    return hop.longest is not None and hop.longest > COUNTED_REACH


def _counted() -> QueryRefused:
    message = f"a SHORTEST search of up to more than {COUNTED_REACH} relations of any type"
    return _too_much("SHORTEST", message, f"leave the bound out, name the types, or search up to {COUNTED_REACH}")


def _path(message: str) -> QueryRefused:
    return _too_much(
        "*", message, "name the types and a direction, bound the length such as *1..4, or use shortestPath"
    )


def _reach(hop: Hop) -> int:
    return 1_000 if hop.longest is None else hop.longest


def _selected(reading: Reading) -> None:
    if any(count > SELECTED for count in reading.selected):
        raise _too_much("SHORTEST", f"more than {SELECTED} shortest paths", f"ask for at most {SELECTED}")


# --- regular expressions


def _regexes(reading: Reading) -> None:
    for token in reading.patterns:
        problem = regex_problem(token.value)
        if problem:
            raise _too_much(
                token.text[:40],
                f"the regular expression {problem}",
                "use CONTAINS, STARTS WITH or ENDS WITH",
                code="regex",
            )
    if reading.patterns and growth(reading) > GROWN_MATCHED:
        raise _too_much(
            "=~", "text made with + can't be matched by =~", "match the properties themselves", code="regex"
        )


# --- single functions


def _rounding(reading: Reading) -> None:
    for call in reading.calls:
        if call.name == "round" and len(call.arguments) > 1 and not _is_digit_count(call.arguments[1]):
            raise _too_much("round", f"round() takes 0 to {PRECISION} digits", "write such as round(x, 2)")


def _is_digit_count(argument: tuple[Token, ...]) -> bool:
    return len(argument) == 1 and argument[0].kind == "integer" and int(argument[0].text[:6]) <= PRECISION


def _clocks(reading: Reading) -> None:
    for call in reading.calls:
        if call.name in CLOCKS and _is_now(call.arguments):
            raise _too_much(call.token.text, f"{call.name}() tells the time", "a scene has no clock", code="function")


def _is_now(arguments: tuple[tuple[Token, ...], ...]) -> bool:
    """Whether they leave the time open: none, a map that fixes nothing, or a name that may stand for one."""
    if not arguments:
        return True
    first = arguments[0]
    if first[0].text == "{":
        return not FIXED & {token.text.lower() for token in first}
    return len(first) == 1 and first[0].kind in {"name", "quoted"} and first[0].text.lower() != "null"


CHECKS: Final[tuple[Callable[[Reading], None], ...]] = (
    _joins,
    _ranges,
    _loops,
    _logic,
    _depth,
    _unwinds,
    _hops,
    _selected,
    _regexes,
    _rounding,
    _clocks,
)
"""One row a way to cost too much."""

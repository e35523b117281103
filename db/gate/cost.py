"""Upper bounds of a query's cost, computed from its text and its scene's size before the server sees it.

The server's memory limit does not count the values that an expression builds, and the server checks its time limit only
between rows. So this module bounds the steps that the expressions of a query take for one row, and the size of one row
of the answer. It takes each value at its maximum size: a literal's own, the longest property of the scene, a collected
list of as many items as the patterns before it can give rows. A loop costs its list's length times its body. The number
of rows is left to the server's time limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from scenecypher.db.gate.lexer import Token, integer_of
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.paths import Paths
from scenecypher.db.gate.regexes import regex_steps
from scenecypher.db.gate.sizes import (
    BOOLEAN,
    ITEM_BYTES,
    NUMBER,
    Size,
    collected,
    either,
    joined,
    list_of,
    map_of,
    text_of,
)
from scenecypher.db.gate.syntax import CASE, Part, Reading
from scenecypher.db.gate.words import AGGREGATES, CLOCK_FUNCTIONS, TIME_FIELDS, words
from scenecypher.db.store.bounds import Bounds
from scenecypher.errors import QueryRefused

Variables: TypeAlias = dict[str, Size]
"""The bounds of the values of the variables in scope."""

BYTES_PER_STEP: Final = 64
"""Bytes copied or compared in the time of one loop iteration."""
MAX_COLLECTED: Final = 4_000_000
"""Maximum items that a query can collect within its memory limit: measured, three million numbers at 128 MB."""
MAX_COLLECTED_BYTES: Final = 64_000_000
"""Maximum bytes of values, without nodes and relations, that it can collect: a million texts of 40 letters."""
MAX_BUILT_BYTES: Final = 150_000_000
"""Maximum bytes that expressions may build per row: no memory limit of the server counts them."""
MAX_TEXT_BYTES: Final = 1_000_000
"""Maximum bytes of one text."""
MAX_UNWOUND_ROWS: Final = 500_000
"""Maximum rows that successive UNWIND may make of one."""
MAX_SORTED_ROWS: Final = 500_000
"""Maximum rows that a query can sort within the transaction's memory limit."""
COMPARISONS_PER_STEP: Final = 8
MAX_ROW_BYTES: Final = 150_000_000
"""Maximum bytes of one row of the answer, which the driver reads as a whole."""
MAX_LIST_DEPTH: Final = 16
"""Maximum depth of nested lists: the server's type checker doubles its work with each level."""
MAX_OPERATORS: Final = 24
"""Maximum operators of arithmetic and concatenation in one expression: with more, planning takes seconds."""
MAX_SUBQUERY_DEPTH: Final = 8
"""Maximum depth of nested sub-queries: 12 are planned in half a second, 16 in five, 20 not within twenty."""
MAX_ROUND_DIGITS: Final = 20
"""Maximum digits of round()."""

LOGIC: Final = frozenset({"AND", "OR", "XOR", "NOT"})
COMPARISONS: Final = frozenset({"=", "<>", "<", ">", "<=", ">=", "=~", "IN", "IS", "CONTAINS", "STARTS", "ENDS"})
NON_GROWING: Final = words(
    "trim ltrim rtrim btrim left right substring reverse tail abs ceil ceiling floor tointeger tointegerornull sign "
    "tofloat tofloatornull nullif coalesce tointegerlist tofloatlist tobooleanlist min max"
)
"""Functions whose value is no larger than their largest argument."""
TEXT_GROWTH: Final = {"tolower": 3, "toupper": 3, "lower": 3, "upper": 3, "normalize": 18}
"""Maximum growth of a text when letters are folded or composed."""
SIZE_BY_FUNCTION: Final[Mapping[str, Callable[[Size, Size], Size]]] = {
    **dict.fromkeys(("exists", "isempty", "isnan", "toboolean", "point.withinbbox"), lambda _first, _last: BOOLEAN),
    **dict.fromkeys(
        ("size", "length", "char_length", "character_length"),
        lambda first, _: replace(NUMBER, number=max(first.items, first.text)),
    ),
    **dict.fromkeys(("head", "last"), lambda first, _: first.element),
    **dict.fromkeys(("nodes", "relationships"), lambda first, _: first),
    **dict.fromkeys(("tostring", "tostringornull"), lambda first, _: text_of(max(100, first.text))),
    "tostringlist": lambda first, _: list_of(text_of(max(100, first.element.text)), first.items),
    "replace": lambda first, last: text_of((first.text + 1) * (last.text + 1)),
    "valuetype": lambda _first, _last: text_of(1_000),
    "split": lambda first, _: replace(list_of(text_of(first.text), first.text + 1), bytes=17 * first.text + 33),
}
"""Bounds of other functions' values by their first and last arguments; a function not listed gives a number."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Upper bounds of one query: total `steps`, steps per row, `rows` at its end, bytes of one row."""

    steps: float
    row_steps: float
    rows: float
    row_bytes: float


NOTHING: Final = Cost(0.0, 0.0, 0.0, 0.0)


def cost_of(reading: Reading, bounds: Bounds, limits: Limits) -> Cost:
    """Bound the cost of a query. Raises QueryRefused with the loop or clause that costs too much."""
    counter = _CostCounter(bounds, limits)
    counter.paths.check_reach(reading.query, reading.selected)
    rows, columns = counter.query(reading.query, {}, 1.0)
    row_bytes = sum(column.wire for column in columns.values())
    if row_bytes > MAX_ROW_BYTES:
        raise too_much(
            "RETURN", "a row of the answer may become too long", "return fewer values in a row, or count them"
        )
    return Cost(counter.total, counter.row_steps, rows, row_bytes)


def too_much(piece: str, message: str, hint: str, *, code: str = "cost") -> QueryRefused:
    """Return the refusal of a construct that may cost too much."""
    return QueryRefused(code, message, piece=piece, hint=hint)


class _CostCounter:
    """Adds up the cost of a query clause by clause."""

    def __init__(self, bounds: Bounds, limits: Limits) -> None:
        self.limits = limits
        self.paths = Paths(bounds, limits)
        self.total, self.row_steps, self.rows, self.outer = 0.0, 0.0, 1.0, 1.0
        self.turns = 1.0
        self.loops: list[Token] = []
        self.level = 0
        self.unwound, self.built = 1.0, 0.0

    def _spend(self, steps: float, token: Token) -> None:
        """Count steps of the current expression, multiplied by the iterations of the loops around it."""
        self.row_steps += steps * self.turns
        self.total += steps * self.turns * self.rows * self.outer if steps else 0.0
        if self.row_steps <= self.limits.steps:
            return
        if self.loops:
            piece = self.loops[-1].text
            message = f"a loop over `{piece}` inside another, or over long lists or text, may take too long"
            raise too_much(piece, message, "UNWIND one of the lists, or use item IN list")
        raise too_much(token.text, f"`{token.text[:40]}` may take too long", "work on fewer or shorter values at once")

    def _build(self, size: Size, new_bytes: float, token: Token) -> Size:
        """Count the bytes that an expression builds; return its size. Raises QueryRefused for too many."""
        self.built += new_bytes
        self._spend(new_bytes / BYTES_PER_STEP, token)
        if self.built > MAX_BUILT_BYTES or size.text > MAX_TEXT_BYTES:
            piece = token.text[:40]
            raise too_much(
                piece, f"`{piece}` may make too long a list or text", "join fewer parts, or return them alone"
            )
        return size

    @contextmanager
    def _loop(self, token: Token, items: float) -> Iterator[None]:
        turns, self.turns = self.turns, self.turns * items
        self.loops.append(token)
        yield
        self.loops.pop()
        self.turns = turns

    # --- queries

    def query(self, query: Part, scope: Variables, rows: float) -> tuple[float, Variables]:
        """Count a query; return its rows and its columns."""
        self.level += 1
        if self.level > MAX_SUBQUERY_DEPTH + 1:
            raise too_much("{", f"sub-queries nest more than {MAX_SUBQUERY_DEPTH} deep", "ask in steps", code="nesting")
        total, columns, around, outer = 0.0, Variables(), self.rows, self.outer
        self.outer *= around
        product = self.paths.product
        for branch in query.parts:
            self.paths.product = product
            if branch.name == "NEXT":
                given, self.rows, total, begun = columns, total, 0.0, dict(columns)
            else:
                given, self.rows, begun = columns, rows, dict(scope)
            found = self._branch(branch, begun)
            if branch.name == "NEXT":
                columns, total = found, self.rows
            else:
                names = found.keys() | given.keys()
                columns = {name: either(*(one[name] for one in (found, given) if name in one)) for name in names}
                total += self.rows
        self.level -= 1
        self.rows, self.outer = around, outer
        return total, columns

    def _branch(self, branch: Part, scope: Variables) -> Variables:
        columns = Variables()
        for clause in branch.parts:
            columns = self._clause(clause, scope)
        return columns

    def _clause(self, clause: Part, scope: Variables) -> Variables:
        """Count a clause and add its names to the scope; return the columns that it gives as a query's last."""
        match clause.kind:
            case "match":
                self._match(clause, scope)
            case "unwind":
                value = self._value(clause.parts[0], scope)
                self._unwind(value)
                scope[clause.name] = value.element
            case "call":
                rows, columns = self.query(clause.parts[0], scope, 1.0)
                self.rows *= max(1.0, rows)
                scope.update(columns)
            case "filter":
                self._value(clause.parts[0], scope)
            case _:
                return self._project(clause, scope)
        return Variables()

    def _unwind(self, value: Size) -> None:
        self.rows *= max(1.0, value.items)
        before = self.unwound
        self.unwound *= max(1.0, value.items if value.number < math.inf else min(value.items, self.paths.nodes))
        if before > 1 and self.unwound > MAX_UNWOUND_ROWS:
            raise too_much("UNWIND", "UNWIND after UNWIND makes too many rows", "unwind fewer or shorter lists")

    def _match(self, clause: Part, scope: Variables) -> None:
        paths = [part for part in clause.parts if part.kind == "path"]
        where = tuple(part for part in clause.parts if part.kind == "where")
        self.paths.check_products(paths, where, scope.keys())
        for path in paths:
            self.rows *= max(1.0, self.paths.rows(path, scope.keys()))
            self.total += self.rows * self.outer
            self._path(path, scope)
        for part in where:
            self._value(part.parts[0], scope)

    def _path(self, path: Part, scope: Variables) -> None:
        """Add a path's variables to the scope, and count the conditions on its nodes and relations."""
        entity = self.paths.entity
        for part in path.parts:
            if part.name:
                is_list = part.kind == "hop" and self.paths.length(part) != 1
                scope[part.name] = list_of(entity, self.paths.length(part)) if is_list else entity
        length = sum(self.paths.length(part) for part in path.parts if part.kind == "hop")
        several = [part.name for part in path.parts if part.kind == "several"]
        scope.update(dict.fromkeys(several, list_of(entity, length + 1)))
        if path.name:
            scope[path.name] = list_of(entity, 2 * length + 1)
        for part in path.parts:
            for inner in (part,) if part.kind == "where" else part.parts:
                self._value(inner.parts[0], scope)

    def _project(self, clause: Part, scope: Variables) -> Variables:
        """Count WITH or RETURN: its columns, then grouping, sorting and limits."""
        items = [part for part in clause.parts if part.kind == "item"]
        columns = dict(scope) if "*" in clause.words else Variables()
        columns.update({item.name: self._value(item.parts[0], scope) for item in items})
        self._group(items, clause, scope)
        inner = {**scope, **columns}
        rest = [(part.kind, self._value(part.parts[0], inner)) for part in clause.parts if part.kind != "item"]
        self._sort([size for kind, size in rest if kind == "order"], clause.token)
        for size in (size for kind, size in rest if kind == "limit"):
            self.rows = min(self.rows, max(1.0, size.number))
            self.paths.product = min(self.paths.product, self.rows)
        if clause.kind == "with":
            scope.clear()
            scope.update(columns)
        return columns

    def _group(self, items: list[Part], clause: Part, scope: Variables) -> None:
        grouped = [_aggregates(item) for item in items]
        if any(grouped) or "DISTINCT" in clause.words:
            keys = [part for item in items for part in (_compared(item) if _aggregates(item) else item.parts)]
            self._sort([Size(), *(self._value(part, scope) for part in keys)], clause.token)
        if grouped and all(grouped):
            self.rows = self.paths.product = self.unwound = 1.0

    def _sort(self, keys: list[Size], token: Token) -> None:
        """Count sorting or grouping as steps of one row: the server does not check its time limit meanwhile."""
        if not keys:
            return
        rows = min(self.rows, MAX_SORTED_ROWS)
        comparisons = rows * math.log2(rows + 1) / COMPARISONS_PER_STEP
        self.row_steps += comparisons * (1 + sum(key.bytes for key in keys) / BYTES_PER_STEP)
        self._spend(1, token)

    # --- values

    def _value(self, part: Part, scope: Variables) -> Size:
        """Count one evaluation of a value; return its size."""
        self._spend(1, part.token)
        size = SIZE_BY_KIND[part.kind](self, part, scope) if part.kind in SIZE_BY_KIND else NUMBER
        if size.depth > MAX_LIST_DEPTH:
            raise too_much(part.token.text, f"lists and maps nest more than {MAX_LIST_DEPTH} deep", "return flat lists")
        return size

    def expression(self, part: Part, scope: Variables) -> Size:
        """Count a sequence of values and operators, split at the operators of lowest precedence."""
        sizes = [self._comparison(one, scope) for one in _split(part.parts, LOGIC)]
        is_logical = any(one.kind == "operator" and one.name in LOGIC for one in part.parts)
        return BOOLEAN if is_logical else sizes[0]

    def _comparison(self, parts: tuple[Part, ...], scope: Variables) -> Size:
        sizes = [self._joined(one, scope) for one in _split(parts, COMPARISONS)]
        operators = [part for part in parts if part.kind == "operator" and part.name in COMPARISONS]
        for operator, left, right in zip(operators, sizes, sizes[1:], strict=False):
            self._spend(_comparing(operator.name, left, right) / BYTES_PER_STEP, operator.token)
        for at, one in enumerate(parts):
            if one.kind == "regex":
                left = sizes[sum(before in operators for before in parts[:at]) - 1]
                self._spend(regex_steps(one, left.text) / BYTES_PER_STEP, one.token)
        return BOOLEAN if operators else sizes[0]

    def _joined(self, parts: tuple[Part, ...], scope: Variables) -> Size:
        values = [part for part in parts if part.kind != "operator"]
        operators = [part for part in parts if part.kind == "operator"]
        if len(operators) > MAX_OPERATORS:
            raise too_much("+", "too many + in the query", "return the parts as columns of their own")
        sizes = [self._value(part, scope) for part in values if part.kind != "regex"]
        if len(sizes) < 2:
            return sizes[0] if sizes else NUMBER
        size = joined(sizes)
        if {"/", "^"} & {part.name for part in operators}:
            size = replace(size, number=math.inf)
        return self._build(size, len(sizes) * (ITEM_BYTES * size.items if size.depth else size.bytes), parts[0].token)

    def string(self, part: Part, _: Variables) -> Size:
        return text_of(len(part.token.value.encode()))

    def integer(self, part: Part, _: Variables) -> Size:
        return replace(NUMBER, number=float(integer_of(part.token.text)))

    def variable(self, part: Part, scope: Variables) -> Size:
        return scope.get(part.name, self.paths.anything)

    def labels(self, part: Part, scope: Variables) -> Size:
        self._value(part.parts[0], scope)
        return BOOLEAN

    def items(self, part: Part, scope: Variables) -> Size:
        size = collected([self._value(item, scope) for item in part.parts])
        return self._build(size, ITEM_BYTES * size.items, part.token)

    def entries(self, part: Part, scope: Variables) -> Size:
        sizes = []
        for entry in part.parts:
            size = self._value(entry.parts[0], scope)
            if entry.name == "*":
                every = either(self.paths.properties, size) if size.depth else self.paths.properties
                sizes += [every.element] * int(every.items)
            else:
                sizes.append(size)
        return map_of(sizes)

    def cases(self, part: Part, scope: Variables) -> Size:
        first = self._value(part.parts[0], scope) if part.parts else NUMBER
        inner = {**scope, CASE: first}
        return either(first, *(self._value(one, inner) for one in part.parts[1:]))

    def property(self, part: Part, scope: Variables) -> Size:
        base = self._value(part.parts[0], scope)
        found = [base.element] if base.depth else []
        if base.is_entity or base.element.is_entity:
            found.append(self.paths.property(part.name))
        return either(*found) if found else NUMBER

    def index(self, part: Part, scope: Variables) -> Size:
        base, _ = (self._value(one, scope) for one in part.parts)
        if any(one.kind == "operator" and one.name == ".." for one in part.parts[1].parts):
            return self._build(base, ITEM_BYTES * base.items, part.token)
        return either(base.element, *([self.paths.anything] if base.is_entity or not base.depth else []))

    # --- loops

    def comprehension(self, part: Part, scope: Variables) -> Size:
        """Count a list comprehension or a predicate: the list's length times its body."""
        variable, source, *rest = part.parts
        listed = self._value(source, scope)
        element, body = listed.element, None
        with self._loop(source.token, max(1.0, listed.items)):
            inner = {**scope, variable.name: element}
            for one in rest:
                value = self._value(one.parts[0] if one.kind == "where" else one, inner)
                body = body if one.kind == "where" else value
            self._spend(1, source.token)
        if part.name:
            return BOOLEAN
        size = listed if body is None else list_of(body, listed.items)
        return self._build(size, ITEM_BYTES * listed.items if body is None else size.bytes, source.token)

    def pattern(self, part: Part, scope: Variables) -> Size:
        self._path(part, dict(scope))
        return BOOLEAN

    def gather(self, part: Part, scope: Variables) -> Size:
        """Count a pattern comprehension; the store is read row by row, so its rows count no steps."""
        paths = [one for one in part.parts[0] if one.kind == "path"][:1]
        scope, size = dict(scope), self.paths.anything
        rows = min([MAX_COLLECTED, *(self.paths.rows(path, scope.keys()) for path in paths)])
        for path in paths:
            self._path(path, scope)
        for one in part.parts[bool(paths) :]:
            size = self._value(one.parts[0] if one.kind == "where" else one, scope)
        return list_of(size, rows)

    def subquery(self, part: Part, scope: Variables) -> Size:
        product, self.paths.product = self.paths.product, 1.0
        rows, columns = self.query(part.parts[0], dict(scope), 1.0)
        self.paths.product = product
        if part.name == "COLLECT":
            return list_of(either(*columns.values()), min(MAX_COLLECTED, rows))
        return replace(NUMBER, number=rows) if part.name == "COUNT" else BOOLEAN

    # --- calls

    def call(self, part: Part, scope: Variables) -> Size:
        name, arguments = part.name, [one for one in part.parts if one.kind != "constant"]
        if name in {"shortestpath", "allshortestpaths"}:
            self._path(arguments[0], dict(scope))
            return list_of(self.paths.entity, 2 * self.paths.longest + 1)
        sizes = [self._value(one, scope) for one in arguments]
        self._spend(sum(size.bytes for size in sizes) / BYTES_PER_STEP, part.token)
        if name == "range":
            return self._range(arguments, sizes)
        if name in CLOCK_FUNCTIONS and _reads_clock(arguments):
            raise too_much(part.token.text, f"{name}() tells the time", "a scene has no clock", code="function")
        if name == "round" and len(sizes) > 1 and sizes[1].number > MAX_ROUND_DIGITS:
            raise too_much("round", f"round() takes 0 to {MAX_ROUND_DIGITS} digits", "write such as round(x, 2)")
        size = self._returned(name, sizes, is_distinct=len(arguments) < len(part.parts))
        return self._build(
            size, 0 if name in AGGREGATES or (size.depth and name != "split") else size.bytes, part.token
        )

    def _returned(self, name: str, sizes: list[Size], *, is_distinct: bool) -> Size:
        """Return the size of a function's value."""
        first = sizes[0] if sizes else Size()
        if name in NON_GROWING:
            return either(*sizes) if sizes else NUMBER
        if name in TEXT_GROWTH:
            return text_of(TEXT_GROWTH[name] * first.text)
        if name == "collect":
            return self._collected(first, is_distinct=is_distinct)
        if name in {"keys", "labels", "properties"}:
            return either(self.paths.properties, first if first.depth else Size())
        if name in SIZE_BY_FUNCTION and sizes:
            return SIZE_BY_FUNCTION[name](first, sizes[-1])
        entity = self.paths.entity
        known = {"startnode": entity, "endnode": entity, "count": replace(NUMBER, number=self.rows)}
        return known.get(name, NUMBER)

    def _collected(self, each: Size, *, is_distinct: bool) -> Size:
        most = self.paths.nodes if is_distinct and each.is_entity and not each.depth else math.inf
        size = list_of(each, min(MAX_COLLECTED, self.rows, most))
        return size if each.is_entity else replace(size, wire=min(size.wire, MAX_COLLECTED_BYTES))

    def _range(self, arguments: list[Part], sizes: list[Size]) -> Size:
        """Return the size of a list of whole numbers, whose length follows from its bounds."""
        ends = [_literal(one) for one in arguments]
        if all(end is not None for end in ends) and 2 <= len(ends) <= 3:
            low, high, step = (*(end or 0 for end in ends), 1)[:3]
            items = max(0.0, (high - low) / (step or 1) + 1)
        else:
            items = sum(size.number for size in sizes[:2]) + 1
        if items > self.limits.steps:
            hint = "write such as range(0, size(list) - 1)"
            raise too_much("range", "range() takes whole numbers, size() or length()", hint)
        self._spend(items, arguments[0].token)
        return list_of(replace(NUMBER, number=max(size.number for size in sizes[:2])), items)


def _split(parts: Iterable[Part], names: frozenset[str]) -> list[tuple[Part, ...]]:
    """Return the non-empty runs of parts between these operators."""
    found: list[list[Part]] = [[]]
    for part in parts:
        if part.kind == "operator" and part.name in names:
            found.append([])
        else:
            found[-1].append(part)
    return [tuple(run) for run in found if run] or [()]


def _comparing(operator: str, left: Size, right: Size) -> float:
    """Return the maximum bytes that a comparison reads."""
    match operator:
        case "IN":
            return right.bytes
        case "CONTAINS":
            return left.text * right.text
        case _:
            return min(left.bytes, right.bytes)


def _aggregates(part: Part) -> bool:
    if part.kind == "subquery":
        return False
    return (part.kind == "call" and part.name in AGGREGATES) or any(_aggregates(one) for one in part.parts)


def _compared(part: Part) -> Iterator[Part]:
    """Yield the arguments that an aggregation compares: those of min, of max, and of any with DISTINCT."""
    for one in part:
        if one.kind == "call" and (one.name in {"min", "max"} or any(arg.kind == "constant" for arg in one.parts)):
            yield from (arg for arg in one.parts if arg.kind != "constant")


def _literal(part: Part) -> int | None:
    """Return the whole number if the part is a literal one, else None."""
    sign = [one.name for one in part.parts if one.kind == "operator"]
    number = [one for one in part.parts if one.kind == "integer"]
    if len(number) != 1 or len(sign) + 1 != len(part.parts) or sign not in ([], ["-"]):
        return None
    return integer_of(number[0].token.text) * (-1 if sign else 1)


def _reads_clock(arguments: list[Part]) -> bool:
    """Check for arguments that read the clock: none, a map that fixes no time, or a variable that may be such a map."""
    if not arguments:
        return True
    first = arguments[0].parts[0]
    if first.kind == "map":
        return not TIME_FIELDS & {entry.name.lower() for entry in first.parts}
    return len(arguments[0].parts) == 1 and first.kind == "variable"


SIZE_BY_KIND: Final[Mapping[str, Callable[[_CostCounter, Part, Variables], Size]]] = {
    "expression": _CostCounter.expression,
    "string": _CostCounter.string,
    "integer": _CostCounter.integer,
    "variable": _CostCounter.variable,
    "property": _CostCounter.property,
    "index": _CostCounter.index,
    "labels": _CostCounter.labels,
    "list": _CostCounter.items,
    "map": _CostCounter.entries,
    "case": _CostCounter.cases,
    "loop": _CostCounter.comprehension,
    "path": _CostCounter.pattern,
    "gather": _CostCounter.gather,
    "subquery": _CostCounter.subquery,
    "call": _CostCounter.call,
}
"""Size of a value by its kind; any other kind is a number or a truth value."""

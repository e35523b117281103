"""The cost of a query, added up from its tree before the server sees it: sizes of values, rows of patterns, steps.

The server's memory limit does not count the values that an expression builds, and the server checks its time limit only
between rows. So the gate bounds the steps that the expressions of a query take for one row, and the size of one row
of the answer. It takes each value at its maximum size: a literal's own, the longest property of the scene, a collected
list of as many items as the patterns before it can give rows. A loop costs its list's length times its body. The number
of rows is left to the server's time limit.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.tree import Hop, Node
from scenecypher.db.gate.words import LOGIC, words
from scenecypher.db.schema import ENTITY, PAST
from scenecypher.db.store.bounds import Bounds, Measure
from scenecypher.errors import QueryRefused

BYTES_PER_STEP: Final = 64  # bytes copied or compared in the time of one loop iteration
MAX_COLLECTED: Final = 4_000_000
"""Maximum items that a query can collect within its memory limit: measured, three million numbers at 128 MB."""
MAX_COLLECTED_BYTES: Final = 64_000_000
"""Maximum bytes of values, without nodes and relations, that it can collect: a million texts of 40 letters."""
MAX_BUILT_BYTES: Final = 150_000_000
"""Maximum bytes that expressions may build per row: no memory limit of the server counts them."""
MAX_TEXT_BYTES: Final = 1_000_000  # maximum bytes of one text
MAX_SORTED_ROWS: Final = 500_000  # maximum rows that a query can sort within the transaction's memory limit
COMPARISONS_PER_STEP: Final = 8
MAX_ROW_BYTES: Final = 150_000_000  # maximum bytes of one row of the answer, which the driver reads as a whole


@dataclass(frozen=True, slots=True)
class Cost:
    """Upper bounds of one query: total `steps`, steps per row, `rows` at its end, bytes of one row."""

    steps: float
    row_steps: float
    rows: float
    row_bytes: float


NOTHING: Final = Cost(0.0, 0.0, 0.0, 0.0)


def too_much(piece: str, message: str, hint: str = "ask in steps", *, code: str = "cost") -> QueryRefused:
    """Return the refusal of a construct that may cost too much."""
    return QueryRefused(code, message, piece=piece[:40], hint=hint)


class Meter:
    """The sum so far. Raises QueryRefused, with the loop or clause named, for a query that costs too much.

    `rows` are those of the sub-query that is being read, for one row outside of it.
    """

    def __init__(self, most_steps: float) -> None:
        self._most_steps = most_steps
        self._row_steps, self._sorting_steps, self._built, self._turns = 0.0, 0.0, 0.0, 1.0
        self._clauses, self._most_rows = 0, 1.0
        self.rows, self._outer = 1.0, 1.0
        self._loops: list[Token] = []

    def spend(self, token: Token, *, steps: float = 0.0, read: float = 0.0) -> None:
        """Count steps and bytes read, multiplied by the iterations of the loops around the current expression."""
        self._row_steps += (steps + read / BYTES_PER_STEP) * self._turns
        if self._row_steps <= self._most_steps:
            return
        if self._loops:
            piece = self._loops[-1].text
            message = f"a loop over `{piece}` inside another, or over long lists or text, may take too long"
            raise too_much(piece, message, "UNWIND one of the lists, or use item IN list")
        raise too_much(token.text, f"`{token.text[:40]}` may take too long", "work on fewer or shorter values at once")

    def build(self, size: Size, new_bytes: float, token: Token) -> Size:
        """Count the bytes that an expression builds; return its size."""
        self._built += new_bytes
        self.spend(token, read=new_bytes)
        if self._built > MAX_BUILT_BYTES or size.text > MAX_TEXT_BYTES:
            message = f"`{token.text[:40]}` may make too long a list or text"
            raise too_much(token.text, message, "join fewer parts, or return them alone")
        return size

    @contextmanager
    def loop(self, token: Token, items: float) -> Iterator[None]:
        """Multiply the steps of the block by the items of the loop."""
        turns, self._turns = self._turns, self._turns * max(1.0, items)
        self._loops.append(token)
        yield
        self._loops.pop()
        self._turns = turns

    def sort(self, keys: Sequence[Size], token: Token, *, once: Sequence[Size] = ()) -> None:
        """Count sorting or grouping as steps of one row: the server does not check its time limit meanwhile.

        The values of `keys` are compared row by row, those of `once` read once: the server keeps a list's hash.
        """
        rows = min(self.rows, MAX_SORTED_ROWS)
        comparisons = rows * math.log2(rows + 1) / COMPARISONS_PER_STEP
        steps = comparisons * (1 + sum(key.bytes for key in keys) / BYTES_PER_STEP)
        steps += sum(value.bytes for value in once) / BYTES_PER_STEP
        self._sorting_steps += steps * self._turns
        self.spend(token, steps=steps)

    def clause(self) -> None:
        """Note that a clause ends: the rows that there are now."""
        self._clauses += 1
        self._most_rows = max(self._most_rows, self._outer * self.rows)

    @contextmanager
    def subquery(self, *, is_clause: bool = False) -> Iterator[None]:
        """Count the rows of the block for one row outside; those of a clause multiply the rows outside afterwards."""
        rows, outer = self.rows, self._outer
        self._outer, self.rows = outer * rows, 1.0
        yield
        self.clause()
        self.rows, self._outer = rows * max(1.0, self.rows) if is_clause else rows, outer

    def total(self, columns: Iterable[Size]) -> Cost:
        """Return the cost of the query, whose last columns are these."""
        row_bytes = sum(column.wire for column in columns)
        if row_bytes > MAX_ROW_BYTES:
            hint = "return fewer values in a row, or count them"
            raise too_much("RETURN", "a row of the answer may become too long", hint)
        steps = (self._row_steps - self._sorting_steps + self._clauses) * self._most_rows
        return Cost(steps + self._sorting_steps, self._row_steps, self.rows, row_bytes)


# --- how large values are, and how they grow as they are joined, listed, mapped and passed to functions

ITEM_BYTES: Final = 16  # bytes of any value besides its text
MAX_KEY_LENGTH: Final = 64  # maximum characters of a property's name


@dataclass(frozen=True, slots=True)
class Size:
    """Upper bounds of one value, whatever it is.

    `text` is its length as text, `number` its magnitude, `items` its length as a list or map with elements of at most
    `each`. `bytes` counts it as a tree, shared parts as often as they occur, nodes and relations as references; `wire`
    counts those with their properties. `kind` is the label that surely binds a node: `Entity`, or of the past,
    `Past` or its kind; it is empty for all else, also for a value that may be one of both. `groups` are the variables
    by which a list was collected: rows in which they are equal share one list. It is None for other values. `distinct`
    is how many different values it may have in all rows.
    """

    text: float = 0.0
    number: float = 0.0
    items: float = 0.0
    bytes: float = ITEM_BYTES
    wire: float = ITEM_BYTES
    each: Size | None = None
    kind: str = ""
    groups: frozenset[str] | None = None
    distinct: float = math.inf

    @property
    def element(self) -> Size:
        """The bounds of an element, or of the value itself if it can't be a list."""
        return self.each or self

    @property
    def depth(self) -> int:
        """How deep lists nest in it."""
        return 1 + self.each.depth if self.each else 0

    @property
    def has_nodes(self) -> bool:
        """True if it may be or hold a node or a relation."""
        return self.wire > self.bytes


Variables: TypeAlias = dict[str, Size]
"""The bounds of the values of the variables in scope."""
NUMBER: Final = Size(text=100, number=math.inf)
"""A number, a truth value, a point or a time; as text it has at most a hundred characters."""


def power(base: float, exponent: float) -> float:
    """Return a power, infinite where a float would overflow."""
    try:
        return float(base**exponent)
    except OverflowError:
        return math.inf


def text_of(length: float) -> Size:
    """Return the bounds of a text of at most `length` bytes."""
    return Size(length, math.inf, 0.0, ITEM_BYTES + length, ITEM_BYTES + length)


def list_of(each: Size, items: float) -> Size:
    """Return the bounds of a list of at most `items` values."""
    return Size(0.0, 0.0, items, ITEM_BYTES + items * each.bytes, ITEM_BYTES + items * each.wire, each)


def either(*sizes: Size) -> Size:
    """Return the bounds of a value that is one of these."""
    return sizes[0] if len(sizes) == 1 else _merged(sizes, max)


def collected(sizes: Sequence[Size], *, key_bytes: int = 0) -> Size:
    """Return the bounds of the list of these values, or of the map of them if they have keys."""
    keys = key_bytes * len(sizes)
    every = _merged([*sizes, Size(bytes=ITEM_BYTES + keys, wire=ITEM_BYTES + keys)], sum)
    return replace(every, text=keys, number=0.0, items=len(sizes), each=either(*sizes))


def joined(sizes: Sequence[Size]) -> Size:
    """Return the bounds of what any operator makes of these values: a number, a text or a list.

    What is added to a list may be a list itself or, as a text or a map may, one element more.
    """
    if len(sizes) == 1:
        return sizes[0]
    is_list = any(size.each for size in sizes)
    elements = [size.each for size in sizes if size.each] + [size for size in sizes if size.text or not size.each]
    return replace(
        _merged(sizes, sum),
        number=math.prod(1 + size.number for size in sizes),
        items=sum(max(1.0, size.items) for size in sizes) if is_list else 0.0,
        each=either(*elements) if is_list else None,
    )


def _merged(sizes: Sequence[Size], add: Callable[[list[float]], float]) -> Size:
    listed = [size.each for size in sizes if size.each]
    kinds = {size.kind for size in sizes if size.has_nodes and not size.each}
    return Size(
        add([0.0, *(size.text for size in sizes)]),
        add([0.0, *(size.number for size in sizes)]),
        add([0.0, *(size.items for size in sizes)]),
        max(ITEM_BYTES, add([0.0, *(size.bytes for size in sizes)])),
        max(ITEM_BYTES, add([0.0, *(size.wire for size in sizes)])),
        either(*listed) if listed else None,
        kinds.pop() if len(kinds) == 1 else "",
    )


PARTS: Final = words(
    "trim ltrim rtrim btrim left right substring reverse tail abs ceil ceiling floor tointeger tointegerornull sign "
    "tofloat tofloatornull nullif coalesce tointegerlist tofloatlist tobooleanlist min max nodes relationships "
    "startnode endnode"
)
"""Functions whose value is no larger than their largest argument."""
FUNCTION_SIZES: Final[Mapping[str, Callable[[Size, Size], Size]]] = {
    **dict.fromkeys(words("head last"), lambda first, _: first.element),
    **dict.fromkeys(words("tolower toupper lower upper"), lambda first, _: text_of(3 * first.text)),
    **dict.fromkeys(words("tostring tostringornull"), lambda first, _: text_of(max(100, first.text))),
    **dict.fromkeys(
        words("size length char_length character_length"),
        lambda first, _: replace(NUMBER, number=max(first.items, first.text)),
    ),
    "normalize": lambda first, _: text_of(18 * first.text),
    "replace": lambda first, last: text_of((first.text + 1) * (last.text + 1)),
    "split": lambda first, _: replace(list_of(text_of(first.text), first.text + 1), bytes=17 * first.text + 33),
    "tostringlist": lambda first, _: list_of(text_of(max(100, first.element.text)), first.items),
    "valuetype": lambda _first, _last: text_of(1_000),
}
"""Bounds of other functions' values by their first and last arguments."""


def returned(function: str, sizes: Sequence[Size]) -> Size:
    """Return the bounds of a function's value; a function not listed gives a number."""
    if function in PARTS and sizes:
        return either(*sizes)
    return FUNCTION_SIZES[function](sizes[0], sizes[-1]) if function in FUNCTION_SIZES and sizes else NUMBER


# --- one scene: how large its values are, and how many rows its patterns give

# Bounds of a small scene, used if no bounds are given, as in tests of the text alone.
DEFAULT_BOUNDS: Final[dict[Measure, int]] = {
    "nodes": 100,
    "relations": 1_000,
    "out": 10,
    "in": 30,
    "text": 100,
    "items": 20,
}
MAX_HOPS: Final = 12
"""Maximum relations in one query: the server plans a chain of 12 in 5 s on a busy machine of two cores, of 24 in 11 s.
Of 2,430 queries of the test sets none that is accepted has more than nine."""
MAX_PATHS: Final = 16  # maximum patterns in one query
MAX_ANY_TYPE_HOPS: Final = 6  # maximum relations of any type in one path; longer ones reach almost all paths of a scene
MAX_BOUNDED_SEARCH: Final = 20
"""Maximum explicit bound of a SHORTEST search along relations of any type: the server keeps each length apart, so that
`{0,15}` takes ten seconds and `*` half a second."""
MAX_POWER: Final = 100  # length above which the paths along a type that branches are not counted


Path: TypeAlias = Sequence[Node | Hop]


class Paths:
    """Bounds of the values and patterns in one graph, and limits on the patterns of one query.

    A `unique` property tells its nodes apart.
    """

    def __init__(self, bounds: Bounds, *, unique: str = "") -> None:
        self._unique = unique
        self._most = {measure: bounds.of(measure) for measure in DEFAULT_BOUNDS}
        self._others = dict.fromkeys(DEFAULT_BOUNDS, 0) if bounds.entries else DEFAULT_BOUNDS
        self.nodes = self._sum("nodes")
        text, items = (max(self._most[one].values(), default=self._others[one]) for one in ("text", "items"))
        names = tuple(self._most["text"]) or ("one", "another")
        wire = 2 * ITEM_BYTES + sum(self.property(name).wire + MAX_KEY_LENGTH for name in names)
        self.entity = Size(wire=wire, kind=ENTITY)
        listed = list_of(text_of(text), items)
        self.anything = replace(either(text_of(text), listed, self.entity), kind="")
        self.properties = list_of(either(text_of(max(MAX_KEY_LENGTH, text)), listed), max(len(names), 16))
        self._patterns, self.hops = 0, list[Hop]()

    def _of(self, measure: Measure, name: str) -> int:
        return self._most[measure].get(name, self._others[measure])

    def _sum(self, measure: Measure, names: Collection[str] = ()) -> int:
        found = self._most[measure]
        return sum(found.get(name, 0) for name in names or found) if found else self._others[measure]

    def property(self, name: str) -> Size:
        """Return the maximum size of a node's property of this name."""
        text, items = text_of(self._of("text", name)), self._of("items", name)
        return either(text, list_of(text, items)) if items else text

    def length(self, path: Path) -> float:
        """Return the maximum relations in one path of this pattern."""
        return sum(self._length(part) for part in path if isinstance(part, Hop))

    def _length(self, hop: Hop) -> float:
        return hop.longest if hop.longest < math.inf else float(self.nodes if hop.found else self._sum("relations"))

    def rows(self, path: Path, known: Collection[str]) -> float:
        """Return the maximum rows of a pattern per row before it: the minimum over all starting points."""
        found = [
            self._begin(part, known)
            * math.prod(self._paths_from_node(hop, -1) for hop in path[:at] if isinstance(hop, Hop))
            * math.prod(self._paths_from_node(hop, 1) for hop in path[at + 1 :] if isinstance(hop, Hop))
            for at, part in enumerate(path)
        ]
        return max(1.0, min((number for number in found if not math.isnan(number)), default=math.inf))

    def _begin(self, part: Node | Hop, known: Collection[str]) -> float:
        """Return how many nodes or relations of the scene fit this part."""
        if isinstance(part, Hop):
            return self.distinct(part) * (2.0 - abs(part.direction)) if part.longest == 1 else math.inf
        if part.name in known or (self._unique and part.fixes(self._unique)):
            return 1.0
        return self.distinct(part)

    def distinct(self, part: Node | Hop) -> float:
        """Return how many nodes or relations of the graph this part may stand for."""
        if isinstance(part, Hop):
            return float(self._sum("relations", part.types))
        counts = (self._of("nodes", label) for label in part.labels if label not in {ENTITY, PAST})
        return float(min(counts, default=self.nodes))

    def _paths_from_node(self, hop: Hop, way: int) -> float:
        """Return the maximum paths of this pattern that begin at one node, read forwards (1) or backwards (-1)."""
        if hop.found:
            return self.nodes * hop.found
        measures: tuple[Measure, ...] = (("out", "in"), ("out",), ("in",))[hop.direction * way]
        types = hop.types or tuple(self._most["out"]) or ("any",)
        degree = float(sum(self._of(measure, name) for measure in measures for name in types))
        if hop.longest == 1:
            return degree
        if degree <= 1:
            return self._length(hop) + 1
        return power(degree, hop.longest + 1) if hop.longest <= MAX_POWER else math.inf

    def add(self, path: Path, *, most: float = MAX_ANY_TYPE_HOPS) -> None:
        """Count a path of the query, with at most so many relations of any type in a row. Raises QueryRefused."""
        hops = [part for part in path if isinstance(part, Hop)]
        self._patterns += 1
        self.hops += hops
        if len(self.hops) > MAX_HOPS or self._patterns > MAX_PATHS:
            raise too_much("-[", f"more than {MAX_HOPS} relations or {MAX_PATHS} patterns in one query")
        if any(hop.found and hop.shortest > 1 and hop.longest > MAX_ANY_TYPE_HOPS for hop in hops):
            message = "a search for the shortest path has a least length above 1, which the server can't end"
            raise too_much("{", message, "leave the least length out: shortestPath((a)-[:CONNECTS*..100]->(b))")
        if any(hop.longest > most and not hop.types and not (hop.found and hop.longest == math.inf) for hop in hops):
            hint = "name the types and a direction, bound the length such as *1..4, or use shortestPath or SHORTEST 1"
            raise too_much("*", f"more than {most} relations of any type in a row", hint)


# --- what the server's planner multiplies or nests, counted before the text is read

MAX_COUNTS: Final[Mapping[str, tuple[frozenset[str], int, str]]] = {
    "NOT": (words("NOT !"), 40, "nesting"),  # 160 in a row are planned, 200 are not
    "..": (words(".."), 40, "nesting"),  # 100 slices in a row are planned, 200 are not
    "CASE": (words("CASE"), 20, "nesting"),  # 100 in each other are planned, 140 are not
    "-": (words("-"), 120, "nesting"),
    "+": (words("+ ||"), 24, "cost"),  # with more, planning takes seconds
    "*": (words("* / % ^"), 60, "cost"),
    "XOR": (words("XOR"), 6, "cost"),  # 20 are rewritten for 71 s
    "AND": (LOGIC, 100, "cost"),
    "=": (words("= <> < > <= >="), 150, "cost"),
    ",": (words(","), 600, "cost"),
    "datetime": (words("DATETIME"), 40, "cost"),  # 330, each turned into UTC, are planned in 7 s, 100 in one
    "WITH": (words("MATCH WITH RETURN UNWIND CALL LET FILTER UNION NEXT"), 60, "cost"),
}
"""Words, their maximum number, and the refusal's code, by the piece of text that the refusal names.

A text nested some 150 deep overflows the server's stack: it never answers, not even with an error.
"""


def check_counts(tokens: Sequence[Token]) -> None:
    """Refuse a text with more of a construct than the server can plan. Raises QueryRefused."""
    found = Counter(token.word for token in tokens)
    for piece, (counted, most, code) in MAX_COUNTS.items():
        if sum(found[word] for word in counted) > most:
            raise too_much(piece, f"more than {most} times `{piece}` in the query", code=code)


# --- regular expressions: the server's can take exponential time, which its limits do not end

REPEAT: Final = re.compile(r"[*+]|\{[\d,]+\}|(?<![*+?}(])\?")
PROBLEMS: Final = (
    (re.compile(r"\(\?(?!:)|\\"), 0, "uses look-around, flags or back references"),
    (re.compile(r"\)[*+{]"), 0, "repeats a group"),
    (REPEAT, 4, "has more than 4 repetitions"),
    (re.compile(r"\("), 4, "has too many groups or alternatives"),
    (re.compile(r"\|"), 16, "has too many groups or alternatives"),
)
"""What an expression has no more than so often, whatever text it matches."""
MAX_REGEX_STEPS: Final = 160_000_000  # maximum steps of matching per row: about a second


def regex_steps(regex: str, text: float) -> float:
    """Return the maximum steps of matching a text of this length. Raises QueryRefused if they are too many.

    A backtracking matcher with k repetitions splits a text of n characters in (n + k over k) ways.
    """
    body = re.sub(r"^\(\?[ism]+\)|\\[^1-9kgGQ]|\.\*$", lambda found: "x" * found[0].startswith("\\"), regex)
    body = re.sub(r"\[\^?\]?[^\]]*\]", "x", body)
    problem = next((message for pattern, most, message in PROBLEMS if len(pattern.findall(body)) > most), "")
    if problem:
        raise _refused_regex(regex, problem)
    repeats, choices, groups = len(REPEAT.findall(body)), body.count("|"), body.count("(") + 1
    ways = power(text + repeats, repeats) / math.factorial(repeats)
    steps = ways * (choices / groups + 1) ** groups * (len(body) + 1) + text
    if steps > MAX_REGEX_STEPS:
        raise _refused_regex(regex, "may take too long on texts this long")
    return steps


def _refused_regex(regex: str, problem: str) -> QueryRefused:
    hint = "use CONTAINS, STARTS WITH or ENDS WITH"
    return QueryRefused("regex", f"the regular expression {problem}", piece=regex[:40], hint=hint)

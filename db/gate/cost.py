"""The cost of a query, added up from its tree before the server sees it.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.sizes import Size, power
from scenecypher.db.gate.words import LOGIC, words
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

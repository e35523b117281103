"""The cost of a query, added up while its text is read, before the server sees it.

The server's memory limit does not count the values that an expression builds, and the server checks its time limit only
between rows. So the reader bounds the steps that the expressions of a query take for one row, and the size of one row
of the answer. It takes each value at its maximum size: a literal's own, the longest property of the scene, a collected
list of as many items as the patterns before it can give rows. A loop costs its list's length times its body. The number
of rows is left to the server's time limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.sizes import Size
from scenecypher.errors import QueryRefused

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
MANY_NODES: Final = 4
"""Number of nodes above which one side of a product counts as many."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Upper bounds of one query: total `steps`, steps per row, `rows` at its end, bytes of one row."""

    steps: float
    row_steps: float
    rows: float
    row_bytes: float


NOTHING: Final = Cost(0.0, 0.0, 0.0, 0.0)


def too_much(piece: str, message: str, hint: str, *, code: str = "cost") -> QueryRefused:
    """Return the refusal of a construct that may cost too much."""
    return QueryRefused(code, message, piece=piece[:40], hint=hint)


@dataclass(slots=True)
class Rows:
    """Rows that the clauses make of one: in all, of patterns that nothing joins, and of UNWIND."""

    every: float = 1.0
    unconnected: float = 1.0
    unwound: float = 1.0

    def __mul__(self, other: Rows) -> Rows:
        """Return the rows if each of these makes so many."""
        unconnected, unwound = self.unconnected * other.unconnected, self.unwound * other.unwound
        return Rows(self.every * max(1.0, other.every), unconnected, unwound)


class Meter:
    """The sum so far. Raises QueryRefused, with the loop or clause named, for a query that costs too much.

    `rows` are those of the sub-query that is being read, for one row outside of it.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._row_steps, self._sorting_steps, self._built, self._turns = 0.0, 0.0, 0.0, 1.0
        self._clauses, self._most_rows = 0, 1.0
        self.rows, self._outer = Rows(), Rows()
        self._loops: list[Token] = []

    # --- steps and bytes

    def spend(self, steps: float, token: Token) -> None:
        """Count steps of the current expression, multiplied by the iterations of the loops around it."""
        self._row_steps += steps * self._turns
        if self._row_steps <= self._limits.steps:
            return
        if self._loops:
            piece = self._loops[-1].text
            message = f"a loop over `{piece}` inside another, or over long lists or text, may take too long"
            raise too_much(piece, message, "UNWIND one of the lists, or use item IN list")
        raise too_much(token.text, f"`{token.text[:40]}` may take too long", "work on fewer or shorter values at once")

    def read(self, size: float, token: Token) -> None:
        """Count the bytes that an operator or a function reads."""
        self.spend(size / BYTES_PER_STEP, token)

    def build(self, size: Size, new_bytes: float, token: Token) -> Size:
        """Count the bytes that an expression builds; return its size."""
        self._built += new_bytes
        self.read(new_bytes, token)
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

    def sort(self, keys: Sequence[Size], token: Token) -> None:
        """Count sorting or grouping as steps of one row: the server does not check its time limit meanwhile."""
        rows = min(self.rows.every, MAX_SORTED_ROWS)
        comparisons = rows * math.log2(rows + 1) / COMPARISONS_PER_STEP
        steps = comparisons * (1 + sum(key.bytes for key in keys) / BYTES_PER_STEP)
        self._sorting_steps += steps * self._turns
        self.spend(steps, token)

    # --- rows

    def clause(self) -> None:
        """Note that a clause ends: the rows that there are now."""
        self._clauses += 1
        self._most_rows = max(self._most_rows, self._outer.every * self.rows.every)

    @contextmanager
    def subquery(self, *, is_clause: bool = False) -> Iterator[None]:
        """Count the rows of the block for one row outside; those of a clause multiply the rows outside afterwards."""
        rows, outer = self.rows, self._outer
        self._outer = outer * rows
        if not is_clause:
            self._outer = Rows(self._outer.every)
        self.rows = Rows()
        yield
        self.clause()
        self.rows, self._outer = rows * self.rows if is_clause else rows, outer

    def limit(self, rows: float) -> None:
        """Note that there are at most so many rows from here on."""
        rows = max(1.0, rows)
        self.rows = Rows(min(self.rows.every, rows), min(self.rows.unconnected, rows), self.rows.unwound)

    def multiply(self, groups: Iterable[float]) -> None:
        """Count unconnected groups of patterns, each of so many nodes."""
        for nodes in groups:
            rows = self.rows.unconnected * self._outer.unconnected
            if min(nodes, rows) > MANY_NODES and nodes * rows > self._limits.cross_rows:
                hint = "join them by a relation or an equal property"
                raise too_much("MATCH", "patterns that nothing joins are multiplied", hint)
            self.rows.unconnected *= max(1.0, nodes)

    def unwind(self, items: float, expected: float) -> None:
        """Count the rows of an UNWIND: at most, and as expected of what may be no list."""
        before = self.rows.unwound * self._outer.unwound
        self.rows.every *= max(1.0, items)
        self.rows.unwound *= max(1.0, expected)
        if before > 1 and before * expected > MAX_UNWOUND_ROWS:
            raise too_much("UNWIND", "UNWIND after UNWIND makes too many rows", "unwind fewer or shorter lists")

    def total(self, columns: Iterable[Size]) -> Cost:
        """Return the cost of the query, whose last columns are these."""
        row_bytes = sum(column.wire for column in columns)
        if row_bytes > MAX_ROW_BYTES:
            hint = "return fewer values in a row, or count them"
            raise too_much("RETURN", "a row of the answer may become too long", hint)
        steps = (self._row_steps - self._sorting_steps + self._clauses) * self._most_rows
        return Cost(steps + self._sorting_steps, self._row_steps, self.rows.every, row_bytes)

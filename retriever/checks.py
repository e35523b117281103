"""Model-free checks that an answer's form fits its question. Off by default."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import TypeIs

from scenecypher.db.gate import Answer
from scenecypher.db.store.enumerations import Enumerations

COLUMNS: Final = 8
"""The most columns of a plausible answer; one with more is a dump of nodes."""
_HOW_MANY: Final = re.compile(r"\W*(how many|count|what is the number of)\b", re.IGNORECASE)
_YES_NO: Final = re.compile(
    r"\W*(is|are|was|were|does|do|did|can|could|has|have|will)\b(?!.*\bor\b)", re.IGNORECASE | re.DOTALL
)
_METRIC: Final[Mapping[str, tuple[str, float]]] = {
    "centimetres": (r"cm|centimet(?:re|er)s?", 100),
    "millimetres": (r"mm|millimet(?:re|er)s?", 1_000),
    "feet": (r"feet|foot|ft", 3.28084),
    "inches": (r"inch(?:es)?", 39.3701),
}
_CALCULATES: Final = re.compile(r"[*/]\s*\d|\d\s*[*/]")
_NOT_FINITE: Final = frozenset({"nan", "inf", "-inf"})


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """A question, the query written for it, its answer, and the values that occur in the scene."""

    question: str
    cypher: str
    answer: Answer
    occurring: Enumerations

    @property
    def cells(self) -> Iterator[Any]:
        """Iterate over all values of the answer."""
        return (cell for row in self.answer.rows for cell in row)


def doubts(of: CheckedAnswer) -> tuple[str, ...]:
    """Return the reasons why the answer seems wrong, a sentence each for the model; none for an answer without rows."""
    return tuple(doubt for check in CHECKS for doubt in check(of)) if of.answer.rows else ()


def _columns(of: CheckedAnswer) -> Iterator[str]:
    count = len(of.answer.columns)
    if count > COLUMNS:
        yield f"the answer has {count} columns; return only those that the question asks for"
    if _HOW_MANY.match(of.question) and not any(map(_is_number, of.cells)):
        yield "the question asks for a number and no column holds one; return count(DISTINCT …)"
    if _YES_NO.match(of.question) and not any(isinstance(cell, bool) for cell in of.cells):
        yield "this is a yes/no question and no column holds true or false; return a boolean beside the evidence"


def _unit(of: CheckedAnswer) -> Iterator[str]:
    if not any(map(_is_number, of.cells)) or _CALCULATES.search(of.cypher):
        return
    for unit, (words, factor) in _METRIC.items():
        if re.search(rf"\b(?:{words})\b", of.question, re.IGNORECASE) and "size_" in of.cypher + str(of.answer.columns):
            yield f"sizes are in metres and the question asks for {unit}; multiply by {factor:g}"


def _impossible(of: CheckedAnswer) -> Iterator[str]:
    most = max(of.occurring.nodes, sum(pattern.count for pattern in of.occurring.patterns))
    for number, column in enumerate(of.answer.columns):
        values = [row[number] for row in of.answer.rows]
        if all(value is None for value in values):
            yield f"{column} is null in every row; return something that these nodes have"
        if any(value in _NOT_FINITE for value in values if isinstance(value, str)):
            yield f"{column} is no finite number; mind divisions by zero"
        counts = [float(value) for value in values if _is_number(value)] if _HOW_MANY.match(of.question) else []
        if counts and min(counts) < 0:
            yield f"{column} is below zero, which no count can be"
        if counts and max(counts) > most:
            yield f"{column} is more than the scene has nodes or relations; a pattern multiplies: count(DISTINCT …)"


def _is_number(cell: object) -> TypeIs[int | float]:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


CHECKS: Final[tuple[Callable[[CheckedAnswer], Iterator[str]], ...]] = (_columns, _unit, _impossible)

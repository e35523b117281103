"""Matching of predicted and gold expressions: matching, superfluous and missing predicates.

It reproduces the evaluator of the Embodied Agent Interface (`logic_score.py`) with its quirks: lists are padded to
equal length before they are compared, only whole inner lists agree, and a clause that agrees with one at another index
may also count as wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from scenecypher.evaluation.eai.transition_text import EMPTY, Expression, parse_expression

_LISTS: Final = frozenset({"and", "or"})
_QUANTIFIERS: Final = frozenset({"exists", "forall"})


@dataclass(frozen=True, slots=True)
class ExpressionMatch:
    """Expressions that agree, and those of the prediction and of the gold expression that do not."""

    score: float
    both: tuple[Expression, ...] = ()
    predicted: tuple[Expression, ...] = ()
    gold: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class PredicateMatch:
    """Names of predicates in agreeing clauses, false alarms and misses; `readable` refers to the prediction."""

    hits: frozenset[str] = frozenset()
    alarms: frozenset[str] = frozenset()
    misses: frozenset[str] = frozenset()
    readable: bool = True


def match_predicates(predicted: str, gold: str) -> PredicateMatch:
    """Compare the predicates of two expressions; an unreadable one has none on either side."""
    try:
        one, other = _align(parse_expression(predicted), parse_expression(gold))
    except ValueError:
        return PredicateMatch(readable=False)
    found = match_expressions(one, other)
    return PredicateMatch(predicate_names(found.both), predicate_names(found.predicted), predicate_names(found.gold))


def predicate_names(trees: Iterable[Expression]) -> frozenset[str]:
    """Return the predicates that occur."""
    return frozenset(name for one in trees for name in _names(one) if name != EMPTY)


def match_expressions(one: Expression, other: Expression) -> ExpressionMatch:
    """Compare a predicted expression with the gold one."""
    if isinstance(one, str) or isinstance(other, str):
        return _match_whole(one, other, score=float(one == other))
    if one[0] != other[0]:
        return _match_whole(one, other, score=0)
    if one[0] in _LISTS:
        return _match_lists(one[1:], other[1:])
    if one[0] == "not":
        return _match_whole(one, other, score=match_expressions(one[1], other[1]).score)
    if one[0] == "when":
        return _match_whole(
            one, other, score=float(all(match_expressions(one[at], other[at]).score == 1 for at in (1, 2)))
        )
    return _match_whole(one, other, score=match_expressions(one[2], other[2]).score if one[1] == other[1] else 0)


def _match_whole(one: Expression, other: Expression, *, score: float) -> ExpressionMatch:
    return ExpressionMatch(score, both=(one,)) if score > 0 else ExpressionMatch(0, predicted=(one,), gold=(other,))


def _match_lists(one: Sequence[Expression], other: Sequence[Expression]) -> ExpressionMatch:
    found = [[match_expressions(a, b) for b in other] for a in one]
    agree = [[cell.score >= 1 for cell in row] for row in found]
    partner = _maximum_matching(agree, len(other))
    taken = {column for column in partner if column is not None}
    least = min(len(one), len(other))
    return ExpressionMatch(
        len(taken) / least if least else 0,
        both=tuple(part for row in found for cell in row if cell.score >= 1 for part in cell.both),
        # The original checks here whether the row's index is among the matched columns.
        predicted=tuple(one[row] for row in range(len(one)) if partner[row] is None or row not in taken),
        gold=tuple(other[column] for column in range(len(other)) if column not in taken),
    )


def _maximum_matching(agree: Sequence[Sequence[bool]], columns: int) -> list[int | None]:
    """Return a maximum matching by augmenting paths: the column of each row."""
    rows_of: list[int | None] = [None] * columns
    for row in range(len(agree)):
        _augment(row, agree, rows_of)
    partner: list[int | None] = [None] * len(agree)
    for column, matched in enumerate(rows_of):
        if matched is not None:
            partner[matched] = column
    return partner


def _augment(start: int, agree: Sequence[Sequence[bool]], rows_of: list[int | None]) -> None:
    """Find an augmenting path breadth-first, so that no input causes deep recursion."""
    came_from: dict[int, int] = {}
    queue = [start]
    for row in queue:
        for column in (at for at, agrees in enumerate(agree[row]) if agrees and at not in came_from):
            came_from[column] = row
            holder = rows_of[column]
            if holder is None:
                return _flip(column, start, came_from, rows_of)
            queue.append(holder)
    return None


def _flip(column: int, start: int, came_from: dict[int, int], rows_of: list[int | None]) -> None:
    while True:
        row = came_from[column]
        previous = next((at for at, holder in enumerate(rows_of) if holder == row), None)
        rows_of[column] = row
        if row == start or previous is None:
            return
        column = previous


def _names(one: Expression) -> Iterable[str]:
    if isinstance(one, str):
        return (one.split(" ")[0],)
    inner = one[2:] if one[0] in _QUANTIFIERS else one[1:]
    return (name for part in inner for name in _names(part))


def _align(one: Expression, other: Expression) -> tuple[Expression, Expression]:
    """Pad lists to equal length with EMPTY, and rename gold quantifiers' variables to the predicted ones."""
    if isinstance(one, str) or isinstance(other, str):
        return one, other
    if one[0] == other[0] and one[0] in _QUANTIFIERS:
        old, new = (_variable(part[1]) for part in (other, one))
        return one, (other[0], *(_rename(part, old, new) for part in other[1:]))
    if one[0] in _LISTS and other[0] in _LISTS:
        pairs = [_align(a, b) for a, b in zip_longest(one[1:], other[1:], fillvalue=EMPTY)]
        return (one[0], *(a for a, _ in pairs)), (other[0], *(b for _, b in pairs))
    return one, other


def _variable(part: Expression) -> str:
    if not isinstance(part, str):
        raise ValueError("a quantifier needs a variable")  # noqa: TRY004 - the text is at fault
    return part.split("-")[0].strip()


def _rename(part: Expression, old: str, new: str) -> Expression:
    return part.replace(old, new) if isinstance(part, str) else tuple(_rename(one, old, new) for one in part)

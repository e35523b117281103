"""How predicted and gold expressions are matched: which predicates agree, which are too many, which are missing.

It counts as the evaluator of the Embodied Agent Interface (`logic_score.py`) does, with its oddities: lists are made
equally long before they are compared, only a whole inner list agrees, and a clause that agrees with one at another
place may count as wrong besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from scenecypher.evaluation.eai.transition_text import NOTHING, Tree, tree

_LISTS: Final = frozenset({"and", "or"})
_QUANTIFIERS: Final = frozenset({"exists", "forall"})


@dataclass(frozen=True, slots=True)
class Matched:
    """Expressions that agree, and those of the prediction and of the gold expression that do not."""

    score: float
    both: tuple[Tree, ...] = ()
    predicted: tuple[Tree, ...] = ()
    gold: tuple[Tree, ...] = ()


@dataclass(frozen=True, slots=True)
class Predicates:
    """Names of predicates: those of agreeing clauses, of false alarms, of misses. `readable` is of the prediction."""

    hits: frozenset[str] = frozenset()
    alarms: frozenset[str] = frozenset()
    misses: frozenset[str] = frozenset()
    readable: bool = True


def compared(predicted: str, gold: str) -> Predicates:
    """The predicates of two expressions; what can't be read has none, on either side."""
    try:
        one, other = _aligned(tree(predicted), tree(gold))
    except ValueError:
        return Predicates(readable=False)
    found = match(one, other)
    return Predicates(names(found.both), names(found.predicted), names(found.gold))


def names(trees: Iterable[Tree]) -> frozenset[str]:
    """The predicates that occur."""
    return frozenset(name for one in trees for name in _names(one) if name != NOTHING)


def match(one: Tree, other: Tree) -> Matched:
    """Compare a predicted expression with the gold one."""
    if isinstance(one, str) or isinstance(other, str):
        return _whole(one, other, score=float(one == other))
    if one[0] != other[0]:
        return _whole(one, other, score=0)
    if one[0] in _LISTS:
        return _lists(one[1:], other[1:])
    if one[0] == "not":
        return _whole(one, other, score=match(one[1], other[1]).score)
    if one[0] == "when":
        return _whole(one, other, score=float(all(match(one[at], other[at]).score == 1 for at in (1, 2))))
    return _whole(one, other, score=match(one[2], other[2]).score if one[1] == other[1] else 0)


def _whole(one: Tree, other: Tree, *, score: float) -> Matched:
    return Matched(score, both=(one,)) if score > 0 else Matched(0, predicted=(one,), gold=(other,))


def _lists(one: Sequence[Tree], other: Sequence[Tree]) -> Matched:
    found = [[match(a, b) for b in other] for a in one]
    agree = [[cell.score >= 1 for cell in row] for row in found]
    partner = _matching(agree, len(other))
    taken = {column for column in partner if column is not None}
    least = min(len(one), len(other))
    return Matched(
        len(taken) / least if least else 0,
        both=tuple(part for row in found for cell in row if cell.score >= 1 for part in cell.both),
        # The original asks here whether the number of the row is among the columns that were taken.
        predicted=tuple(one[row] for row in range(len(one)) if partner[row] is None or row not in taken),
        gold=tuple(other[column] for column in range(len(other)) if column not in taken),
    )


def _matching(agree: Sequence[Sequence[bool]], columns: int) -> list[int | None]:
    """A largest matching by augmenting paths: for each row its column."""
    rows_of: list[int | None] = [None] * columns
    for row in range(len(agree)):
        _augment(row, agree, rows_of)
    partner: list[int | None] = [None] * len(agree)
    for column, matched in enumerate(rows_of):
        if matched is not None:
            partner[matched] = column
    return partner


def _augment(start: int, agree: Sequence[Sequence[bool]], rows_of: list[int | None]) -> None:
    """Breadth first, so that no input makes it deep."""
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


def _names(one: Tree) -> Iterable[str]:
    if isinstance(one, str):
        return (one.split(" ")[0],)
    inner = one[2:] if one[0] in _QUANTIFIERS else one[1:]
    return (name for part in inner for name in _names(part))


def _aligned(one: Tree, other: Tree) -> tuple[Tree, Tree]:
    """Lists of one length, filled up with nothing; variables of quantifiers at the same place called the same."""
    if isinstance(one, str) or isinstance(other, str):
        return one, other
    if one[0] == other[0] and one[0] in _QUANTIFIERS:
        old, new = (_variable(part[1]) for part in (other, one))
        return one, (other[0], *(_renamed(part, old, new) for part in other[1:]))
    if one[0] in _LISTS and other[0] in _LISTS:
        pairs = [_aligned(a, b) for a, b in zip_longest(one[1:], other[1:], fillvalue=NOTHING)]
        return (one[0], *(a for a, _ in pairs)), (other[0], *(b for _, b in pairs))
    return one, other


def _variable(part: Tree) -> str:
    if not isinstance(part, str):
        raise ValueError("a quantifier needs a variable")  # noqa: TRY004 - the text is at fault
    return part.split("-")[0].strip()


def _renamed(part: Tree, old: str, new: str) -> Tree:
    return part.replace(old, new) if isinstance(part, str) else tuple(_renamed(one, old, new) for one in part)

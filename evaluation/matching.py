"""Execution match: comparison of a query's rows with the gold answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import permutations
from math import isclose
from typing import Any, Final

WORD: Final = re.compile(r"\d+\.\d+|[^\W_]+(?:[_-]+[^\W_]+)*")
NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
TRUTHS: Final = {"yes": True, "true": True, "no": False, "false": False}

Rows = Sequence[Sequence[Any]]

MAX_COLUMNS: Final = 8
"""Rows with more columns are dumps of nodes and match nothing."""


def rows_contain(gold: Rows, rows: Rows) -> bool:
    """Check that some columns of `rows`, in any order, hold exactly the gold rows, as sets.

    So columns of evidence and repeated rows are allowed; a row too many or too few is not. A list in a single row may
    stand for a column of its items. If gold is empty, only nulls are right. Where gold is one number or truth value,
    different values in several columns are wrong.
    """
    if not gold:
        return all(cell is None for row in rows for cell in row)
    if not rows or len(rows[0]) > MAX_COLUMNS or _is_ambiguous(gold, rows):
        return False
    wanted = _set(gold)
    return any(_set(one) == wanted for one in _readings(rows, width=len(gold[0])))


def _is_ambiguous(gold: Rows, rows: Rows) -> bool:
    """Check that gold is one number or truth value, and that `rows` give several that differ."""
    if len(gold) != 1 or len(gold[0]) != 1 or not isinstance(gold[0][0], bool | int | float):
        return False
    is_truth = isinstance(gold[0][0], bool)
    columns = [column for column in zip(*rows, strict=True) if all(_is_same_type(cell, is_truth) for cell in column)]
    return len({_key(column) for column in columns}) > 1


def _is_same_type(cell: Any, is_truth: bool) -> bool:  # noqa: FBT001 - selects one of two kinds
    return isinstance(cell, bool) if is_truth else isinstance(cell, int | float) and not isinstance(cell, bool)


def text_names(gold: Rows, text: str) -> bool:
    """Check that an answer in words names all values of the gold rows.

    A truth value is the first yes or no, a single number is the last number, and names match whole words. Further names
    are allowed, since words alone can't separate an answer from its reasons.
    """
    words = [word.casefold() for word in WORD.findall(text)]
    if len(gold) == 1 and len(gold[0]) == 1 and isinstance(gold[0][0], bool | int | float):
        return _text_gives(gold[0][0], words)
    return bool(gold) and all(_is_named(cell, words) for row in gold for cell in _cells(row))


def _text_gives(value: bool | float, words: Sequence[str]) -> bool:  # noqa: FBT001 - selects one of two kinds
    if isinstance(value, bool):
        return next((TRUTHS[word] for word in words if word in TRUTHS), None) is value
    numbers = [float(word) for word in words if NUMBER.fullmatch(word)]
    return bool(numbers) and isclose(numbers[-1], value, abs_tol=1e-6)


def _cells(row: Sequence[Any]) -> Iterator[Any]:
    for cell in row:
        yield from (cell if isinstance(cell, list) else [cell])


def _is_named(cell: Any, words: Sequence[str]) -> bool:
    """Check that a value occurs among the words, the words of a name in order."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return any(isclose(float(word), cell, abs_tol=1e-6) for word in words if NUMBER.fullmatch(word))
    name = [word.casefold() for word in WORD.findall(str(cell))]
    return any([*words[at : at + len(name)]] == name for at in range(len(words) - len(name) + 1))


def rows_equal(gold: Rows, rows: Rows) -> bool:
    """Check that the rows equal the gold rows in any order: as many columns, as many rows."""
    return sorted(map(_key, gold)) == sorted(map(_key, rows))


def _readings(rows: Rows, *, width: int) -> Iterator[Rows]:
    for chosen in permutations(range(len(rows[0])), width):
        yield [[row[column] for column in chosen] for row in rows]
    if width == 1 and len(rows) == 1:
        yield from ([[item] for item in cell] for cell in rows[0] if isinstance(cell, list))


def _set(rows: Rows) -> set[str]:
    return {_key(row) for row in rows}


def _key(row: Sequence[Any]) -> str:
    return json.dumps([_plain(cell) for cell in row], sort_keys=True)


def _plain(cell: Any) -> Any:
    """Return equal values for what Cypher considers equal: 2 and 2.0, and sums that differ in their last digits."""
    match cell:
        case bool():
            return cell
        case float() if isclose(cell, round(cell), abs_tol=1e-9):
            return round(cell)
        case float():
            return round(cell, 6)
        case list():
            return [_plain(item) for item in cell]
    return cell

"""Comparison of rows and answers in words with the gold rows."""

from __future__ import annotations

from typing import Any

import pytest

from scenecypher.evaluation.marking import rows_contain, rows_equal, text_names
from scenecypher.evaluation.run_result import wilson

Rows = list[list[Any]]

CASES: dict[str, tuple[Rows, Rows, bool]] = {
    "the same": ([["a"], ["b"]], [["b"], ["a"]], True),
    "evidence beside it": ([["a"], ["b"]], [["x", "a"], ["y", "b"]], True),
    "columns in another order": ([["a", "b"]], [["b", "a"]], True),
    "told twice": ([["a"]], [["a"], ["a"]], True),
    "one too many": ([["a"]], [["a"], ["b"]], False),
    "one too few": ([["a"], ["b"]], [["a"]], False),
    "columns of different rows": ([["a", "b"]], [["a", "c"], ["d", "b"]], False),
    "collected": ([["a"], ["b"]], [["x", ["b", "a"]]], True),
    "collected, one too many": ([["a"]], [[["b", "a"]]], False),
    "an order that matters": ([[["a", "b"]]], [[["b", "a"]]], False),
    "a whole number as a float": ([[2]], [[2.0]], True),
    "whole numbers in a list as floats": ([[[1, 2]]], [[[1.0, 2.0]]], True),
    "a sum in its last digits": ([[0.3]], [[0.1 + 0.2]], True),
    "another decimal": ([[0.25]], [[0.3]], False),
    "true is not one": ([[True]], [[1]], False),
    "a number as text": ([[2]], [["2"]], False),
    "a dump of nodes": ([["a"]], [["a", 1, 2, 3, 4, 5, 6, 7, 8]], False),
    "yes and no": ([[True]], [[True, False]], False),
    "yes, twice": ([[True]], [[True, True]], True),
    "yes, and why": ([[True]], [[True, "fridge", 3]], True),
    "several numbers": ([[2]], [[2, 5, 7]], False),
    "a number of what": ([[2]], [["cup", 2]], True),
    "several numbers, each with another": ([[1], [2]], [[1, 5], [2, 6]], True),
    "two numbers in a row": ([[1, 5]], [[5, 1, 7]], True),
    "no rows": ([["a"]], [], False),
    "nothing to be found": ([], [], True),
    "nulls where nothing is": ([], [[None, None]], True),
    "something where nothing is": ([], [["a"]], False),
    "nought where nothing is": ([], [[0]], False),
}


@pytest.mark.parametrize(("gold", "rows", "is_right"), CASES.values(), ids=CASES)
def test_rows_contain(gold: Rows, rows: Rows, *, is_right: bool) -> None:
    assert rows_contain(gold, rows) is is_right


def test_rows_equal_allows_no_extras() -> None:
    assert rows_equal([["a"], ["b"]], [["b"], ["a"]])
    assert not rows_equal([["a"]], [["a", "x"]])
    assert not rows_equal([["a"]], [["a"], ["a"]])


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 0, 0.0, 1.0), (0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (86, 100, 0.7786, 0.9147)],
)
def test_wilson(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=1e-4)


TEXT_CASES: dict[str, tuple[Rows, str, bool]] = {
    "all names": ([["desk-1"], ["red key"]], "There are the Red Key and desk-1.", True),
    "a name left out": ([["desk-1"], ["red key"]], "There is the red key.", False),
    "a part of a name": ([["desk-1"]], "It is desk-11.", False),
    "the last number": ([[3]], "Of the 5 cups, cup_1 and 2 more are dirty: 3", True),
    "a number of reasons": ([[5]], "Of the 5 cups, 3 are dirty.", False),
    "a decimal": ([[0.5]], "It is 0.50 m.", True),
    "yes": ([[True]], "Yes. No other cup is.", True),
    "no": ([[True]], "No, yes would be wrong.", False),
    "true": ([[True]], "That is true.", True),
    "false": ([[False]], "False: there is none.", True),
    "neither": ([[False]], "The cup is clean.", False),
    "a row of several": ([["kitchen", 4]], "kitchen: 4", True),
    "collected": ([[["a1", "b1"]]], "a1, b1", True),
    "collected, in another order": ([[["a1", "b1"]]], "b1, a1", True),
    "rounded": ([[1 / 3]], "It is 0.3333333 m.", True),
    "rounded too far": ([[1 / 3]], "It is 0.333 m.", False),
    "a name, and a number that is rounded": ([["kitchen", 1 / 3]], "kitchen: 0.3333333", True),
    "a name, and another number": ([["kitchen", 4]], "kitchen: 5", False),
    "nothing to name": ([], "There is none.", False),
}


@pytest.mark.parametrize("case", TEXT_CASES)
def test_answers_in_words(case: str) -> None:
    gold, text, is_right = TEXT_CASES[case]
    assert text_names(gold, text) is is_right

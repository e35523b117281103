"""Cells of percentages, F1 figures and their intervals: values computed by hand."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from scenecypher.evaluation.eai.scoring import (
    ConfusionCounts,
    Figures,
    Judgement,
    _resamples,
    f1_figures,
    metric_interval,
    model_figures,
    percent_cell,
)

ROWS = [ConfusionCounts(1, 1, 0), ConfusionCounts(0, 0, 2)]
"""Outputs with precision 1/2, recall 1/3 and F1 2/5."""


def f1_of(rows: list[ConfusionCounts], *intervals: str) -> Figures:
    names: dict[str, str] = {"precision": "p", "recall": "r", "f1": "f"}
    counted = [{"one": (*row[:1], 0, 0), "other": (0, *row[1:])} for row in rows]
    return f1_figures(counted, ("one", "other", "lacking"), names.__getitem__, intervals=intervals)


@pytest.fixture(autouse=True)
def collect_streams() -> None:
    """Replace the collection after each test, since nothing here runs Inspect."""


def test_a_share_is_in_percent_with_its_interval() -> None:
    cell = percent_cell(2, 5)
    assert (cell.value, cell.n, cell.count) == (40, 5, 2)
    assert (cell.low, cell.high) == pytest.approx((11.76, 76.93), abs=0.01)


def test_each_figure_has_its_own_denominator() -> None:
    assert {name: (cell.value, cell.n) for name, cell in f1_of(ROWS).items()} == {
        "p": (50, 2),
        "r": (pytest.approx(100 / 3), 3),
        "f": (pytest.approx(40), 5),
    }


def test_recall_without_gold_is_undefined() -> None:
    found = f1_of([ConfusionCounts(0, 2, 0)])
    assert (found["p"].value, found["r"].value, found["f"].value) == (0, None, 0)


def test_only_the_figures_that_are_shown_have_intervals() -> None:
    found = f1_of(ROWS, "f")
    assert (found["p"].low, found["r"].high) == (None, None)
    low, high = metric_interval(ROWS, "f1")
    assert (found["f"].low, found["f"].high) == (100 * low, 100 * high)
    assert low < high


class ScorerOfRows:
    """Scorer of judgements that number the rows above: an F1, and the share of two of five goals."""

    def task_ids(self) -> list[str]:
        return []

    def score(self, task_id: str, output: str | None) -> Judgement:
        raise AssertionError(task_id, output)

    def outcome(self, judged: Judgement) -> tuple[str, bool]:
        raise AssertionError(judged)

    def figures(self, judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
        return f1_of([ROWS[one["row"]] for one in judged], *intervals) | {"share": percent_cell(2, 5)}


def test_one_output_has_no_interval() -> None:
    one, two = (
        model_figures(ScorerOfRows(), rows, intervals=["f"]) for rows in ([{"row": 0}], [{"row": 0}, {"row": 1}])
    )
    assert [(two[name].low is None, two[name].high is None) for name in ("f", "share")] == [(False, False)] * 2
    assert (one["share"].value, one["share"].low, one["share"].high) == (40, None, None)
    cell = one["f"]
    assert cell.value == pytest.approx(200 / 3)
    assert (cell.low, cell.high) == (None, None)


def test_equal_outputs_have_an_interval_of_one_point() -> None:
    rows = [ConfusionCounts(1, 1, 3)] * 4
    assert metric_interval(rows, "precision") == (1 / 2, 1 / 2)
    assert metric_interval(rows, "recall") == (1 / 4, 1 / 4)
    assert metric_interval(rows, "f1") == pytest.approx((1 / 3, 1 / 3))
    assert metric_interval([ConfusionCounts(1)], "precision") == (1, 1)


def test_resamples_are_the_same_in_each_process() -> None:
    assert (_resamples.__wrapped__(7) == _resamples.__wrapped__(7)).all()

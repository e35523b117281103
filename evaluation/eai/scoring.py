"""Interface of the scorers of outputs, for all four tasks of the Embodied Agent Interface.

A scorer turns each output into a *judgement* (a flat document of plain JSON values, kept in the sample's log), and the
judgements of one model into *figures*. It is created once a run, in the main thread, and makes no call before it is
used; `score` runs in several worker threads. Samples, logs, resuming, tables, JSON and published figures are the
harness's. To add a task's scorer, write a class of this form and name it in the task's row (`task_table.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

from scenecypher.evaluation.eai.counting import ConfusionCounts, Metric, metric_interval
from scenecypher.evaluation.result import Cell
from scenecypher.evaluation.run_result import share_cell

Judgement: TypeAlias = Mapping[str, Any]
"""Plain JSON values: the counts of one output."""
Figures: TypeAlias = dict[str, Cell]
"""Cells in percent by the figure's name; `count` is the numerator of a share, None for another value such as an F1."""
INTERRUPTED: Final = "broke_off"


class OutputScorer(Protocol):
    """Scorer of one task."""

    def task_ids(self) -> Sequence[str]:
        """Return the tasks that count, in order: the denominator. Raises InputError if data is not installed."""
        ...

    def score(self, task_id: str, output: str | None) -> Judgement:
        """Judge one output; None is a missing one, which counts as a failure. Raises ServiceError."""
        ...

    def figures(self, judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
        """Return one model's figures; an interrupted sample has an `interrupted_judgement`.

        Shares have Wilson's interval; of the others, those in `intervals` have a bootstrap interval, which takes time.
        """
        ...


def model_figures(scorer: OutputScorer, judged: Sequence[Judgement], *, intervals: Collection[str]) -> Figures:
    """Return one model's figures; those of a single output have no intervals, of however many goals they are."""
    found = scorer.figures(judged, intervals=intervals)
    if len(judged) > 1:
        return found
    return {name: cell.model_copy(update={"low": None, "high": None}) for name, cell in found.items()}


def percent_cell(hits: int, of: int) -> Cell:
    """Return the share of `hits` in `of` in percent."""
    return share_cell(hits, of, scale=100)


def value_cell(value: float | None, of: int, interval: Callable[[], tuple[float, float]] | None) -> Cell:
    """Return a value between 0 and 1 over `of` things that is no share, in percent; None is undefined."""
    if value is None:
        return Cell(value=None, n=of)
    if interval is None:
        return Cell(value=100 * value, n=of)
    low, high = interval()
    return Cell(value=100 * value, n=of, low=100 * low, high=100 * high)


def f1_figures(
    whole: ConfusionCounts,
    names: Mapping[Metric, str],
    *,
    rows: Callable[[], Sequence[ConfusionCounts]],
    intervals: Collection[str],
) -> Figures:
    """Return precision, recall and F1 of the sum of `rows`, one row an output, under the given `names`.

    Recall without gold is n/a.
    """
    found: Mapping[Metric, tuple[float | None, int]] = {
        "precision": (whole.precision, whole.predicted),
        "recall": (whole.recall if whole.wanted else None, whole.wanted),
        "f1": (whole.f1, whole.predicted + whole.wanted),
    }
    return {
        names[part]: value_cell(value, of, partial(metric_interval, rows(), part) if names[part] in intervals else None)
        for part, (value, of) in found.items()
    }


def interrupted_judgement(scorer: OutputScorer, task_id: str) -> Judgement:
    """Return the judgement of an interrupted sample: that of a missing output, with its own outcome."""
    return {**scorer.score(task_id, None), "outcome": INTERRUPTED}

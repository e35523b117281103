"""Interface of the scorers of recorded outputs, for all four tasks of the Embodied Agent Interface.

A scorer turns each output into a *judgement* (a flat document of plain JSON values, kept in the sample's log), and the
judgements of one model into *figures*. It is created once a run, in the main thread, and makes no call before it is
used; `score` runs in several worker threads. Samples, logs, resuming, tables, JSON and published figures are the
harness's. To add a task's scorer, write a class of this form and add its row to `SCORERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, Final, Protocol, TypeAlias

from scenecypher.evaluation.eai.counting import ConfusionCounts, Metric, metric_interval
from scenecypher.evaluation.eai.recordings import TaskName
from scenecypher.evaluation.interval import wilson

Judgement: TypeAlias = Mapping[str, Any]
"""Plain JSON values: the counts of one output."""
BootstrapInterval: TypeAlias = Callable[[], tuple[float, float]]
"""Function that returns the ends of an interval."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Cell: `percent` (None if nothing is counted) of `of` things; create it by `share_figure` or `value_figure`.

    `low` and `high` are Wilson's 95% interval, in percent, if the figure is a share of independent things. Otherwise
    `bootstrap_interval` computes them, which takes time. `published` is the key of the published figure in
    `evaluation/eai/published.py`, empty if there is none. `hits` is the numerator of a share.
    """

    name: str
    percent: float | None
    of: int
    published: str = ""
    hits: int | None = None
    low: float | None = None
    high: float | None = None
    bootstrap_interval: BootstrapInterval | None = None

    def with_interval(self) -> Figure:
        """Return the figure with its interval."""
        if self.bootstrap_interval is None or self.percent is None:
            return self
        low, high = self.bootstrap_interval()
        return replace(self, low=100 * low, high=100 * high)


def share_figure(name: str, hits: int, *, of: int, published: str = "") -> Figure:
    """Return the share of `hits` in `of`."""
    low, high = wilson(hits, of)
    percent = 100 * hits / of if of else None
    return Figure(name, percent, of, published, hits, 100 * low, 100 * high)


def value_figure(
    name: str, value: float | None, *, of: int, published: str = "", bootstrap_interval: BootstrapInterval | None = None
) -> Figure:
    """Return a value between 0 and 1 that is no share, such as an F1 over `of` things; None if undefined."""
    return Figure(name, None if value is None else 100 * value, of, published, bootstrap_interval=bootstrap_interval)


def f1_figures(
    whole: ConfusionCounts,
    names: Mapping[Metric, str],
    *,
    rows: Callable[[], Sequence[ConfusionCounts]],
    published: Mapping[Metric, str],
) -> Iterator[Figure]:
    """Yield precision, recall and F1 of the sum of `rows`, one row an output, under the given `names`."""
    found: Mapping[Metric, tuple[float, int]] = {
        "precision": (whole.precision, whole.predicted),
        "recall": (whole.recall, whole.wanted),
        "f1": (whole.f1, whole.predicted + whole.wanted),
    }
    for part, (value, of) in found.items():
        interval_of_part = partial(_interval, rows, part)
        yield value_figure(
            names[part], value, of=of, published=published.get(part, ""), bootstrap_interval=interval_of_part
        )


def _interval(rows: Callable[[], Sequence[ConfusionCounts]], part: Metric) -> tuple[float, float]:
    return metric_interval(rows(), part)


INTERRUPTED: Final = "broke_off"


class OutputScorer(Protocol):
    """Scorer of one task."""

    @property
    def version(self) -> str:
        """Version, incremented by hand if a change affects figures."""
        ...

    def task_ids(self) -> Sequence[str]:
        """Return the tasks that count, in order: the denominator. Raises InputError if data is not installed."""
        ...

    def score(self, task_id: str, output: str | None) -> Judgement:
        """Judge one output; None is a missing one, which counts as a failure. Raises ServiceError."""
        ...

    def figures(self, judged: Sequence[Judgement]) -> Sequence[Figure]:
        """Return one model's figures; an interrupted sample has an `interrupted_judgement`."""
        ...


def interrupted_judgement(scorer: OutputScorer, task_id: str) -> Judgement:
    """Return the judgement of an interrupted sample: that of a missing output, with its own outcome."""
    return {**scorer.score(task_id, None), "outcome": INTERRUPTED}


SCORERS: Final[Mapping[TaskName, str]] = {
    "action-sequencing": "scenecypher.evaluation.eai.action_sequencing:action_scorer",
    "subgoal": "scenecypher.evaluation.eai.subgoal:subgoal_scorer",
    "goal": "scenecypher.evaluation.eai.goal_interpretation:goal_scorer",
    "transition": "scenecypher.evaluation.eai.transition:transition_scorer",
}
"""Scorers by task: ``module:function`` of the function that creates it; all arguments are optional."""


def make_scorer(task: TaskName, **options: Any) -> OutputScorer:
    """Create the task's scorer with its own `options`."""
    module, _, function = SCORERS[task].partition(":")
    make: Callable[..., OutputScorer] = getattr(import_module(module), function)
    return make(**options)

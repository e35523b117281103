"""What a scorer of recorded outputs is: the one form that all four tasks of the Embodied Agent Interface have.

A scorer turns each output into a *judgement* (a flat document of plain JSON values, kept in the sample's log), and the
judgements of one model into *figures*. It is made once a run, in the main thread, and makes no call before it is used;
`score` runs in worker threads, several at a time. Everything else is the harness's: samples, logs, resuming, tables,
JSON, the published figures beside. To add a task's scorer, write a class of this form and add its row to `SCORERS`.
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
"""Plain JSON values: what of one output is counted."""
BootstrapInterval: TypeAlias = Callable[[], tuple[float, float]]
"""Makes the ends of an interval."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One cell: `percent` (None where nothing is counted) of `of` things; make it by `share` or `measure`.

    `low` and `high` are Wilson's interval at 95%, in percent, where the figure is a share of independent things; else
    `bootstrap_interval` makes those of a bootstrap, which takes time.
    `published` is the key by which `evaluation/eai/published.py` has the published figure, empty where there is none.
    `hits` is what was counted, in a share.
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
        """The same with its interval."""
        if self.bootstrap_interval is None or self.percent is None:
            return self
        low, high = self.bootstrap_interval()
        return replace(self, low=100 * low, high=100 * high)


def share_figure(name: str, hits: int, *, of: int, published: str = "") -> Figure:
    """So many of so many."""
    low, high = wilson(hits, of)
    percent = 100 * hits / of if of else None
    return Figure(name, percent, of, published, hits, 100 * low, 100 * high)


def value_figure(
    name: str, value: float | None, *, of: int, published: str = "", bootstrap_interval: BootstrapInterval | None = None
) -> Figure:
    """A value between 0 and 1 that is no share, such as an F1 over `of` things; None where it is not defined."""
    return Figure(name, None if value is None else 100 * value, of, published, bootstrap_interval=bootstrap_interval)


def f1_figures(
    whole: ConfusionCounts,
    names: Mapping[Metric, str],
    *,
    rows: Callable[[], Sequence[ConfusionCounts]],
    published: Mapping[Metric, str],
) -> Iterator[Figure]:
    """Precision, recall and F1 of the sum of `rows`, one an output, by the names that each shall have."""
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
    """How one task is scored."""

    @property
    def version(self) -> str:
        """Raised by hand where a change moves figures."""
        ...

    def task_ids(self) -> Sequence[str]:
        """The tasks that count, in order: the denominator. Raises InputError where data is not installed."""
        ...

    def score(self, task_id: str, output: str | None) -> Judgement:
        """What came of one output; None is a missing one, which counts as a failure. Raises ServiceError."""
        ...

    def figures(self, judged: Sequence[Judgement]) -> Sequence[Figure]:
        """One model's figures; a sample that broke off has what `broken` says of it."""
        ...


def interrupted_judgement(scorer: OutputScorer, task_id: str) -> Judgement:
    """What is counted of a sample that broke off: all of a missing output, told apart by its outcome."""
    return {**scorer.score(task_id, None), "outcome": INTERRUPTED}


SCORERS: Final[Mapping[TaskName, str]] = {
    "action-sequencing": "scenecypher.evaluation.eai.action_sequencing:action_scorer",
    "subgoal": "scenecypher.evaluation.eai.subgoal:subgoal_scorer",
    "goal": "scenecypher.evaluation.eai.goal_interpretation:goal_scorer",
    "transition": "scenecypher.evaluation.eai.transition:transition_scorer",
}
"""By task: the function that makes its scorer, all arguments optional, as ``module:function``."""


def make_scorer(task: TaskName, **options: Any) -> OutputScorer:
    """The task's scorer, made with `options`, which are its own."""
    module, _, function = SCORERS[task].partition(":")
    make: Callable[..., OutputScorer] = getattr(import_module(module), function)
    return make(**options)

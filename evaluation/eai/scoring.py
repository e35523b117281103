"""Scorers of outputs of the four tasks of the Embodied Agent Interface: their interface, counts and figures.

A scorer turns each output into a *judgement* (a flat document of plain JSON values, kept in the sample's log), and the
judgements of one model into *figures*. It is created once a run, in the main thread, and makes no call before it is
used; `score` runs in several worker threads. Samples, logs, resuming, tables, JSON and published figures are the
harness's. To add a task's scorer, write a class of this form and name it in the task's row (`task_table.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, get_args

from scenecypher.evaluation.eai.tasks import TaskGoals
from scenecypher.evaluation.result import Cell
from scenecypher.evaluation.run_result import RESAMPLES, share_cell

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

Metric: TypeAlias = Literal["precision", "recall", "f1"]
METRICS: Final[tuple[Metric, ...]] = get_args(Metric)
QUANTILES: Final = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class ConfusionCounts:
    """Counts of right predictions, wrong predictions and missed gold items."""

    hits: int = 0
    alarms: int = 0
    misses: int = 0

    def __add__(self, other: ConfusionCounts) -> ConfusionCounts:
        return ConfusionCounts(self.hits + other.hits, self.alarms + other.alarms, self.misses + other.misses)

    @property
    def predicted(self) -> int:
        """Denominator of precision."""
        return self.hits + self.alarms

    @property
    def wanted(self) -> int:
        """Denominator of recall."""
        return self.hits + self.misses

    @property
    def precision(self) -> float:
        """Precision; 0 if nothing was predicted, as in the Embodied Agent Interface."""
        return self.hits / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Recall; 0 if there is nothing to predict, as in the Embodied Agent Interface."""
        return self.hits / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def as_list(self) -> list[int]:
        """Return the counts as a list, for a judgement."""
        return [self.hits, self.alarms, self.misses]


def metric_interval(rows: Sequence[ConfusionCounts], part: Metric) -> tuple[float, float]:
    """Return the 95% percentile interval of a metric of the sum, from seeded resamples of the rows (B. Efron, 1979)."""
    import numpy as np

    hits, alarms, misses = (_resamples(len(rows)) @ np.array([row.as_list() for row in rows])).T
    over = {"precision": hits + alarms, "recall": hits + misses, "f1": hits + (alarms + misses) / 2}[part]
    low, high = np.quantile(hits / np.maximum(over, 0.5), QUANTILES)  # a zero denominator gives 0
    return float(low), float(high)


@lru_cache(4)
def _resamples(count: int) -> NDArray[int64]:
    """Return how often each row occurs in each resample."""
    import numpy as np

    return np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)


def sum_counts(counts: Iterable[ConfusionCounts]) -> ConfusionCounts:
    """Return the sum of the counts, zeros for none."""
    return sum(counts, ConfusionCounts())


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


def outcome_figures(judged: Sequence[Judgement], outcomes: Iterable[str]) -> Figures:
    """Return the shares of outputs with these outcomes, and of interrupted samples."""
    ends = [one["outcome"] for one in judged]
    return {name: percent_cell(ends.count(name), len(ends)) for name in (*outcomes, INTERRUPTED)}


def goal_figures(judged: Sequence[Judgement], *, at: int = 0) -> Figures:
    """Return the shares of met goals: in a judgement's lists the number `at` this place, and the wanted last."""
    states, relations, actions = ("states",), ("relations",), ("actions",)
    kinds = {"state_goals": states, "relation_goals": relations, "action_goals": actions}
    return {
        name: percent_cell(*(sum(one[kind][place] for one in judged for kind in of) for place in (at, -1)))
        for name, of in {**kinds, "goals": states + relations + actions}.items()
    }


def unexecuted_judgement(fault: str, why: str, wanted: TaskGoals, **own: Any) -> Judgement:
    """Return the judgement of an output that is not executed, with a scorer's `own` counts."""
    unmet = {"states": [0, len(wanted.states)], "relations": [0, len(wanted.relations)]}
    return {"outcome": fault, "why": why, **own, "steps": 0, **unmet}


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


def grouped_f1_figures(
    counted: Sequence[Mapping[str, Iterable[int]]],
    groups: Mapping[str, Collection[str]],
    name: Callable[[str, Metric], str],
    *,
    intervals: Collection[str],
) -> Figures:
    """Return the figures of each of the `groups` of keys; `counted` are the counts of each output by key."""
    found: Figures = {}
    for group, keys in groups.items():
        rows = [sum_counts(ConfusionCounts(*one[key]) for key in keys if key in one) for one in counted]
        names: dict[Metric, str] = {part: name(group, part) for part in METRICS}
        found |= f1_figures(sum_counts(rows), names, rows=partial(list, rows), intervals=intervals)
    return found


def interrupted_judgement(scorer: OutputScorer, task_id: str) -> Judgement:
    """Return the judgement of an interrupted sample: that of a missing output, with its own outcome."""
    return {**scorer.score(task_id, None), "outcome": INTERRUPTED}

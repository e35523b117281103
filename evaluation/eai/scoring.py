"""Scorers of outputs of the four tasks of the Embodied Agent Interface: their interface, counts and figures.

A scorer is a module that turns each output into a *judgement* (a flat document of plain JSON values, kept in the
sample's log), and the judgements of one model into *figures*; `score` runs in several worker threads. The task's row
names it (`task_table.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias, get_args

from scenecypher.evaluation.eai.tasks import TaskGoals
from scenecypher.evaluation.result import Cell
from scenecypher.evaluation.run_result import RESAMPLES, share_cell

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

Metric: TypeAlias = Literal["precision", "recall", "f1"]
METRICS: Final[tuple[Metric, ...]] = get_args(Metric)
QUANTILES: Final = (0.025, 0.975)


class ConfusionCounts(NamedTuple):
    """Counts of right predictions, wrong predictions and missed gold items; a metric of nothing is 0, as in EAI."""

    hits: int = 0
    alarms: int = 0
    misses: int = 0

    @property
    def precision(self) -> float:
        """Share of right ones in the predictions."""
        return self.hits / max(1, self.hits + self.alarms)

    @property
    def recall(self) -> float:
        """Share of right ones in the gold items."""
        return self.hits / max(1, self.hits + self.misses)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def sum_counts(counts: Iterable[ConfusionCounts]) -> ConfusionCounts:
    """Return the sum of the counts, zeros for none."""
    return ConfusionCounts(*map(sum, zip(*counts, strict=True)))


def metric_interval(rows: Sequence[ConfusionCounts], part: Metric) -> tuple[float, float]:
    """Return the 95% percentile interval of a metric of the sum, from seeded resamples of the rows (B. Efron, 1979)."""
    import numpy as np

    hits, alarms, misses = (_resamples(len(rows)) @ np.array(rows)).T
    over = {"precision": hits + alarms, "recall": hits + misses, "f1": hits + (alarms + misses) / 2}[part]
    low, high = np.quantile(hits / np.maximum(over, 0.5), QUANTILES)  # a zero denominator gives 0
    return float(low), float(high)


@lru_cache(4)
def _resamples(count: int) -> NDArray[int64]:
    """Return how often each row occurs in each resample."""
    import numpy as np

    return np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)


Judgement: TypeAlias = Mapping[str, Any]
"""Plain JSON values: the counts of one output."""
Figures: TypeAlias = dict[str, Cell]
"""Cells in percent by the figure's name; `count` is the numerator of a share, None for another value such as an F1."""
INTERRUPTED: Final = "broke_off"


class OutputScorer(Protocol):
    """Scorer of one task: a module with these functions."""

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

    def outcome(self, judged: Judgement) -> tuple[str, bool]:
        """Return an output's outcome, and whether it succeeded by the best order of goals, with none missed."""
        ...


def model_figures(scorer: OutputScorer, judged: Sequence[Judgement], *, intervals: Collection[str]) -> Figures:
    """Return one model's figures; those of a single output have no intervals, of however many goals they are."""
    found = scorer.figures(judged, intervals=intervals)
    if len(judged) > 1:
        return found
    return {name: cell.model_copy(update={"low": None, "high": None}) for name, cell in found.items()}


def interrupted_judgement(scorer: OutputScorer, task_id: str) -> Judgement:
    """Return the judgement of an interrupted sample: that of a missing output, with its own outcome."""
    return {**scorer.score(task_id, None), "outcome": INTERRUPTED}


def percent_cell(hits: int, of: int) -> Cell:
    """Return the share of `hits` in `of` in percent."""
    return share_cell(hits, of, scale=100)


def outcome_figures(judged: Sequence[Judgement], outcomes: Iterable[str]) -> Figures:
    """Return the shares of outputs with these outcomes, and of interrupted samples."""
    ends = [one["outcome"] for one in judged]
    return {name: percent_cell(ends.count(name), len(ends)) for name in (*outcomes, INTERRUPTED)}


def met_share(judged: Sequence[Judgement], *kinds: str, at: int = 0) -> Cell:
    """Return the share of met goals of some kinds: in a judgement's lists the number `at` this place is of the last."""
    return percent_cell(*(sum(one[kind][place] for one in judged for kind in kinds) for place in (at, -1)))


def unexecuted_judgement(fault: str, why: str, wanted: TaskGoals, **own: Any) -> Judgement:
    """Return the judgement of an output that is not executed, with a scorer's `own` counts."""
    unmet = {"states": [0, len(wanted.states)], "relations": [0, len(wanted.relations)]}
    return {"outcome": fault, "why": why, **own, "steps": 0, **unmet}


def f1_figures(
    counted: Sequence[Mapping[str, Iterable[int]]],
    keys: Collection[str],
    name: Callable[[Metric], str],
    *,
    intervals: Collection[str],
) -> Figures:
    """Return precision, recall and F1 in percent; `counted` are the counts of each output by key, `keys` are summed.

    Recall without gold is n/a.
    """
    rows = [sum_counts(ConfusionCounts(*one[key]) for key in keys if key in one) for one in counted]
    whole = sum_counts(rows)
    predicted, wanted = whole.hits + whole.alarms, whole.hits + whole.misses
    of = {"precision": predicted, "recall": wanted, "f1": predicted + wanted}
    found = {name(part): Cell(value=100 * getattr(whole, part), n=of[part]) for part in METRICS}
    if not wanted:
        found[name("recall")] = Cell(value=None, n=0)
    for part in METRICS:
        if name(part) in intervals and found[name(part)].value is not None:
            low, high = metric_interval(rows, part)
            found[name(part)] = found[name(part)].model_copy(update={"low": 100 * low, "high": 100 * high})
    return found

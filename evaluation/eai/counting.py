"""Counts of predictions against gold: hits, false alarms and misses; precision, recall and F1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias

from scenecypher.evaluation.interval import RESAMPLES

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

Metric: TypeAlias = Literal["precision", "recall", "f1"]
QUANTILES: Final = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class ConfusionCounts:
    """Counts of right predictions, wrong predictions and missed gold items."""

    hits: int = 0
    alarms: int = 0
    misses: int = 0

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Self:
        """Create counts from a judgement's list."""
        return cls(*numbers)

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

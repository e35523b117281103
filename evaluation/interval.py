"""Confidence intervals of proportions and of means."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from random import Random
from typing import Final

Z_95: Final = 1.959963984540054
RESAMPLES: Final = 2_000


def wilson(successes: int, trials: int, *, z: float = Z_95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion, at 95% by default (E. B. Wilson, 1927); (0, 1) for no trials."""
    if not trials:
        return 0.0, 1.0
    share, square = successes / trials, z * z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    reach = z / (1 + square / trials) * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def bootstrap(values: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """Return the 95% percentile interval of a mean, from seeded resamples (B. Efron, 1979).

    Raises ValueError if there are no values.
    """
    if not values:
        raise ValueError("there are no values to resample")
    random = Random(seed)  # noqa: S311 - a statistic
    means = sorted(sum(random.choices(values, k=len(values))) / len(values) for _ in range(RESAMPLES))
    return means[round(0.025 * (RESAMPLES - 1))], means[round(0.975 * (RESAMPLES - 1))]

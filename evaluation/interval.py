"""Confidence intervals of proportions."""

from __future__ import annotations

from math import sqrt
from typing import Final

Z_95: Final = 1.959963984540054


def wilson(successes: int, trials: int, *, z: float = Z_95) -> tuple[float, float]:
    """Wilson's score interval of a proportion, by default at 95% (E. B. Wilson, 1927); (0, 1) for no trials."""
    if not trials:
        return 0.0, 1.0
    share, square = successes / trials, z * z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    reach = z / (1 + square / trials) * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    return max(0.0, middle - reach), min(1.0, middle + reach)

"""Confidence as evidence: how looks that agree add up, and what a look that disagrees leaves."""

from __future__ import annotations

from typing import Final

LEAST: Final = 0.3
"""Confidence below which a sighting is told, but not merged, and a thing that was not seen is absent."""
MOST: Final = 0.99
"""Confidence that pictures alone can give."""
INFERRED: Final = 0.75
"""Factor of a sighting's confidence for each thing that was inferred: its support, or what it is."""
OVERLOOKED: Final = 0.1
"""Chance that a look at the whole of a place misses a thing that is there."""
PRIOR: Final = 0.5
"""Confidence of a belief that nobody has confirmed, where a look misses the thing."""


def agreeing(before: float, seen: float) -> float:
    """Return the confidence after a thing was seen again where it is believed: 1 - (1 - before)(1 - seen)."""
    most = max(before, seen, MOST)
    return round(min(1 - (1 - before) * (1 - seen), most), 4)


def disagreeing(before: float) -> float:
    """Return the confidence after a whole look missed a thing: Bayes's rule with the chance of overlooking it."""
    there = min(before, MOST) * OVERLOOKED
    return round(there / (there + 1 - min(before, MOST)), 4)

"""The time that planning takes: of the processor, so that a busy machine finds the same plans, and of the clock."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

CLOCK_PER_PROCESSOR_S = 10
"""Seconds on the clock that an engine may wait for each second of the processor: a guard against one that hangs."""


@dataclass(slots=True)
class TimeLimit:
    """At most `seconds` of processor time of this thread and its engines, and `clock_s` on the clock.

    `reserved_s` is the share that is kept for later searches.
    """

    seconds: float
    clock_s: float = float("inf")
    reserved_s: float = 0.0
    _engines_s: float = field(default=0.0, init=False)
    _thread_start: float = field(default_factory=time.thread_time, init=False)
    _clock_start: float = field(default_factory=time.monotonic, init=False)

    @property
    def spent_s(self) -> float:
        """Return the processor time so far."""
        return time.thread_time() - self._thread_start + self._engines_s

    @property
    def left_s(self) -> float:
        """Return the seconds that may still be taken, negative if none are left."""
        on_the_clock = self.clock_s - (time.monotonic() - self._clock_start)
        return min(self.seconds - self.spent_s, on_the_clock) - self.reserved_s

    @property
    def clock_left_s(self) -> float:
        """Return the seconds that an engine may take on the clock."""
        on_the_clock = self.clock_s - (time.monotonic() - self._clock_start)
        return max(1.0, min(on_the_clock, self.left_s * CLOCK_PER_PROCESSOR_S))

    def share(self, part: float) -> None:
        """Allow a part of all that is left, and keep the rest."""
        self.reserved_s = 0.0
        self.reserved_s = (1 - part) * self.left_s

    def is_over(self) -> bool:
        """Check if nothing is left."""
        return self.left_s < 0

    @contextmanager
    def engine(self) -> Iterator[None]:
        """Count the processor time of an engine that runs within: that of this program's children that ended.

        Engines of other threads may be among them, so it is never counted for more than the clock. Where a system does
        not tell it, the clock counts.
        """
        clock, children = time.monotonic(), _children_s()
        try:
            yield
        finally:
            self._engines_s += min(time.monotonic() - clock, _children_s() - children or float("inf"))


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system

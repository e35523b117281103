"""What a session may spend, and what it has spent: one budget for all methods."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Final

from scenecypher.chat.model import Model, Reply, Request, Usage
from scenecypher.planner.events import Outcome

MAX_INFEASIBLE: Final = 3
"""Proposals in a row that could not be carried out, before a session ends (LookPlanGraph, section IV-A)."""
MIN_TIMEOUT_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Budget:
    """What a session may spend: decisions, proposals refused in a row, tokens, seconds (None: any).

    Tokens are those of planning and of pictures together.
    """

    steps: int = 30
    infeasible: int = MAX_INFEASIBLE
    tokens: int | None = None
    seconds: float | None = None


class Stopwatch:
    """How long a session has taken, with what it had taken before it was resumed; stands still until it is started."""

    def __init__(self, limit_s: float | None = None) -> None:
        self._limit_s = limit_s
        self._began: float | None = None
        self._before = 0.0

    def start(self, before: float = 0.0) -> None:
        """Begin to count, from `before` seconds on."""
        self._began, self._before = time.monotonic(), before

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return self._before + (0.0 if self._began is None else time.monotonic() - self._began)

    @property
    def left(self) -> float | None:
        """The seconds that are left, at least a moment; None where there is no limit."""
        return None if self._limit_s is None else max(self._limit_s - self.seconds, MIN_TIMEOUT_S)


@dataclass(frozen=True, slots=True)
class DeadlineModel:
    """A model that has no longer for a reply than the session has left."""

    model: Model
    watch: Stopwatch

    def reply(self, request: Request) -> Reply:
        """Answer once. Raises what the model does."""
        return self.model.reply(replace(request, timeout_s=self.watch.left))


class UsageMeter:
    """What a session's eyes have cost so far, with what they had before it was resumed."""

    def __init__(self) -> None:
        self.usage = Usage()


@dataclass(frozen=True, slots=True)
class MeteredVisionModel:
    """A model that reads pictures, whose tokens are counted apart from those of planning."""

    model: Model
    meter: UsageMeter

    def reply(self, request: Request) -> Reply:
        """Answer once. Raises what the model does."""
        reply = self.model.reply(request)
        self.meter.usage += reply.usage
        return reply


@dataclass(frozen=True, slots=True)
class Spent:
    """What a session has spent so far: `usage` on planning, `seeing` on pictures; `seconds` before it was resumed."""

    steps: int = 0
    actions: int = 0
    refused: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    seeing: Usage = field(default_factory=Usage)

    def over(self, budget: Budget, seconds: float) -> tuple[Outcome, str] | None:
        """Which budget is spent, in words; None where there is something left of each."""
        if self.refused >= budget.infeasible:
            return "infeasible", f"{self.refused} proposals in a row could not be carried out"
        if self.steps >= budget.steps:
            return "steps", f"the limit of {budget.steps} steps is reached"
        if budget.tokens is not None and (self.usage + self.seeing).total_tokens >= budget.tokens:
            return "tokens", f"the limit of {budget.tokens:,} tokens is reached"
        if budget.seconds is not None and seconds >= budget.seconds:
            return "seconds", f"the limit of {budget.seconds:g} s is reached"
        return None

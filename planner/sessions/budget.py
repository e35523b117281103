"""The budget of a session and its use so far, the same for all methods."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Final

from scenecypher.chat.model import Model, Reply, Request, Usage
from scenecypher.planner.sessions.events import Outcome

MAX_INFEASIBLE: Final = 3
"""Consecutive infeasible proposals after which a session ends (LookPlanGraph, section IV-A)."""
MIN_TIMEOUT_S: Final = 0.1
"""Least time limit of a request when the budget is spent."""
SPARE_STEPS: Final = 10
"""Decisions granted beyond a task's actions: to report that it is done, and to replan."""


UNASKED_STEPS: Final = 1_000
"""Decisions of a method that asks no model: its plan tells how many it takes."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a session: decisions, consecutive refusals, tokens and seconds (None: no limit).

    The limit of refusals holds for methods whose recipe has it (`Recipe.ends_refused`). Tokens count planning and
    pictures together.
    """

    steps: int = 30
    infeasible: int | None = MAX_INFEASIBLE
    tokens: int | None = None
    seconds: float | None = None


class Stopwatch:
    """Clock of a session, including the time before it was resumed; stopped until `start` is called."""

    def __init__(self, limit_s: float | None = None) -> None:
        self._limit_s = limit_s
        self._began: float | None = None
        self._before = 0.0

    def start(self, before: float = 0.0) -> None:
        """Start the clock at `before` seconds."""
        self._began, self._before = time.monotonic(), before

    def pause(self) -> None:
        """Stop the clock until `go_on`."""
        if self._began is not None:
            self._before, self._began = self._before + time.monotonic() - self._began, None

    def go_on(self) -> None:
        """Start the clock again where it was paused."""
        self.start(self._before)

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return self._before + (0.0 if self._began is None else time.monotonic() - self._began)

    @property
    def left(self) -> float | None:
        """Seconds left, at least MIN_TIMEOUT_S; None without a limit."""
        return None if self._limit_s is None else max(self._limit_s - self.seconds, MIN_TIMEOUT_S)


@dataclass(frozen=True, slots=True)
class DeadlineModel:
    """Model whose requests time out when the session's time is over."""

    model: Model
    watch: Stopwatch

    def reply(self, request: Request) -> Reply:
        """Return one reply. Raises as the model does."""
        return self.model.reply(replace(request, timeout_s=self.watch.left))


class UsageMeter:
    """Token counter for the pictures of a session, including those before it was resumed."""

    def __init__(self) -> None:
        self.usage = Usage()


@dataclass(frozen=True, slots=True)
class MeteredVisionModel:
    """Model for pictures whose tokens are counted separately; a `name` is that of another model of the service."""

    model: Model
    meter: UsageMeter
    name: str = ""

    def reply(self, request: Request) -> Reply:
        """Return one reply. Raises as the model does."""
        reply = self.model.reply(replace(request, model=self.name or request.model))
        self.meter.usage += reply.usage
        return reply


@dataclass(frozen=True, slots=True)
class Spent:
    """Budget used so far: `usage` by planning, `seeing` by pictures; `seconds` are those before a resume."""

    steps: int = 0
    actions: int = 0
    refused: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    seeing: Usage = field(default_factory=Usage)

    def exceeded(self, budget: Budget, seconds: float) -> tuple[Outcome, str] | None:
        """Return the outcome and reason if a limit is reached, else None."""
        if budget.infeasible is not None and self.refused >= budget.infeasible:
            return "infeasible", f"{self.refused} decisions in a row were refused"
        if self.steps >= budget.steps:
            return "steps", f"the limit of {budget.steps} steps is reached"
        if budget.tokens is not None and (self.usage + self.seeing).total_tokens >= budget.tokens:
            return "tokens", f"the limit of {budget.tokens:,} tokens is reached"
        if budget.seconds is not None and seconds >= budget.seconds:
            return "seconds", f"the limit of {budget.seconds:g} s is reached"
        return None

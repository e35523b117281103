"""What a session may spend, and what it has spent: one budget for all methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from chat.model import Usage
from planner.events import Outcome

INFEASIBLE: Final = 3
"""Proposals in a row that could not be carried out, before a session ends (LookPlanGraph, section IV-A)."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a session may spend: decisions, proposals refused in a row, tokens, seconds (None: any)."""

    steps: int = 30
    infeasible: int = INFEASIBLE
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What a session has spent so far."""

    steps: int = 0
    actions: int = 0
    refused: int = 0
    usage: Usage = field(default_factory=Usage)

    def over(self, budget: Budget, seconds: float) -> tuple[Outcome, str] | None:
        """Which budget is spent, in words; None where there is something left of each."""
        if self.refused >= budget.infeasible:
            return "infeasible", f"{self.refused} proposals in a row could not be carried out"
        if self.steps >= budget.steps:
            return "steps", f"the limit of {budget.steps} steps is reached"
        if budget.tokens is not None and self.usage.total_tokens >= budget.tokens:
            return "tokens", f"the limit of {budget.tokens:,} tokens is reached"
        if budget.seconds is not None and seconds >= budget.seconds:
            return "seconds", f"the limit of {budget.seconds:g} s is reached"
        return None

"""Symbolic: no model; a PDDL engine plans, and plans again after a refused action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from scenecypher.chat.model import Usage
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.sessions.goal_check import missing_goals, steps_of
from scenecypher.planner.sessions.method import Act, Decision, Done, GiveUp, Memory
from scenecypher.planner.symbolic.plan import PlanResult
from scenecypher.planner.symbolic.states import RequiredAction

MAX_PLANS: Final = 5
"""Limit of plans for one task; reaching it means that the scene does not behave as its operators state."""


class Symbolic:
    """Method that decides by `make_plan`, which plans from the present scene for the remaining `required_actions`.

    A plan that the session's `max_steps` can't hold is not begun.
    """

    def __init__(
        self,
        make_plan: Callable[[tuple[RequiredAction, ...]], PlanResult],
        required_actions: tuple[RequiredAction, ...] = (),
        *,
        max_steps: int,
    ) -> None:
        self._make_plan, self._deeds, self._max_steps = make_plan, required_actions, max_steps
        self._remaining: list[ActionCall] = []
        self._plans = 0

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the plan's next action; plan at the start, after a refusal, and at the end to check the goal."""
        if (memory.turns and memory.turns[-1].refused) or not self._remaining:
            end = self._replan(memory)
            if end is not None:
                return end, Usage()
        call = self._remaining.pop(0)
        return Act(str(call), f"plan {self._plans}, {len(self._remaining)} to come"), Usage()

    def _replan(self, memory: Memory) -> Done | GiveUp | None:
        if self._plans == MAX_PLANS:
            return GiveUp(f"{MAX_PLANS} plans did not lead to the goal")
        self._plans += 1
        done = steps_of(action for turn in memory.turns for action in turn.done)
        planned = self._make_plan(missing_goals(done, self._deeds))
        if planned.plan is None:
            return GiveUp(planned.why)
        self._remaining = [*planned.plan]
        return too_long(planned.plan, memory, self._max_steps) if planned.plan else Done("the goal holds")


def too_long(plan: Sequence[ActionCall], memory: Memory, max_steps: int) -> GiveUp | None:
    """Return the end of a session whose limit can't hold a plan and the decision after it; None if it can."""
    taken = len(memory.turns)
    if taken + len(plan) < max_steps:
        return None
    left = max(0, max_steps - taken - 1)
    return GiveUp(
        f"the plan takes {len(plan)} actions, and the limit of {max_steps} steps leaves {left}; nothing of it is done: "
        f"raise the limit to {taken + len(plan) + 1} (`plan --max-steps`)"
    )

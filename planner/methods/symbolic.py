"""Symbolic: no model; a plan by a PDDL engine, carried out action by action, and made anew when one is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scenecypher.chat.model import Usage
from scenecypher.planner.actions.pddl_deeds import Deed
from scenecypher.planner.actions.pddl_planner import Planned
from scenecypher.planner.actions.text import Call
from scenecypher.planner.goal_check import missing_goals, steps_of
from scenecypher.planner.method import Act, Decision, Done, GiveUp, Memory

MAX_PLANS: Final = 5
"""Plans for one task; more mean that the scene does not do what its operators say."""


class Symbolic:
    """Decides by `planning`, which gives a plan from the scene as it is now, and for what is left of `deeds`."""

    def __init__(self, planning: Callable[[tuple[Deed, ...]], Planned], deeds: tuple[Deed, ...] = ()) -> None:
        self._planning, self._deeds = planning, deeds
        self._ahead: list[Call] = []
        self._plans = 0

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """The next action of the plan; a new plan at first, after a refusal, and at the end, to make sure."""
        if (memory.turns and memory.turns[-1].refused) or not self._ahead:
            ended = self._plan_anew(memory)
            if ended is not None:
                return ended, Usage()
        call = self._ahead.pop(0)
        return Act(str(call), f"plan {self._plans}, {len(self._ahead)} to come"), Usage()

    def _plan_anew(self, memory: Memory) -> Done | GiveUp | None:
        if self._plans == MAX_PLANS:
            return GiveUp(f"{MAX_PLANS} plans did not lead to the goal")
        self._plans += 1
        done = steps_of(action for turn in memory.turns for action in turn.done)
        planned = self._planning(missing_goals(done, self._deeds))
        if planned.plan is None:
            return GiveUp(planned.why)
        self._ahead = [*planned.plan]
        return None if planned.plan else Done("the goal holds")

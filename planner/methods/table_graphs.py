"""The rows of the methods that LookPlanGraph compares, and of those of no paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from db.condition import ALWAYS
from planner.method import Method
from planner.methods.stepwise import Stepwise
from planner.methods.symbolic import Symbolic
from planner.recipe import Given, Recipe


def _symbolic(given: Given) -> Method:
    goal = given.goal or ALWAYS
    return Symbolic(lambda: given.planning(goal))


GRAPH_METHODS: Final[Mapping[str, Recipe]] = {
    "stepwise": Recipe(
        lambda given: Stepwise(given.model),
        "one decision a reply, from the schema; asks in words what it wants to know",
    ),
    "symbolic": Recipe(
        _symbolic,
        "no model: a PDDL engine plans for a task's goal, and anew when an action is refused",
        model=False,
        goal=True,
        fix=False,
    ),
}

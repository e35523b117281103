"""Export to PDDL: domain and problem of the part of a scene that a goal is about, as it is now."""

from __future__ import annotations

import time

from scenecypher.db.condition import evaluate
from scenecypher.errors import InputError
from scenecypher.planner.actions.pddl import pddl_text, planning_problem
from scenecypher.planner.actions.pddl_bindings import OutOfTime
from scenecypher.planner.actions.pddl_engine import check_pddl_installed
from scenecypher.planner.actions.pddl_facts import ConditionReader
from scenecypher.planner.actions.pddl_formula import FALSE, TRUE
from scenecypher.planner.actions.pddl_planner import (
    NO_AGENT,
    PlanRequest,
    ReadPart,
    ground_actions,
    optimistic_goal,
    planning_state,
    relevant_actions,
    unreachable_reason,
)
from scenecypher.planner.vocabularies.registry import vocabulary_named


def export_pddl(request: PlanRequest, read_part: ReadPart) -> tuple[str, str]:
    """Return domain and problem as `find_plan` first asks an engine: the nearest actions, on the goal's part.

    The actions are ground. Raises InputError if the goal holds already or can't be reached, if there are too many
    actions, and if unified-planning is missing.
    """
    check_pddl_installed()
    effort = vocabulary_named(request.vocabulary).planning.efforts[0]
    state = planning_state(read_part(effort.wide), request.vocabulary)
    if state is None:
        raise InputError(f"{NO_AGENT}: choose one that has one")
    if evaluate(request.goal, state.graph, {}):
        raise InputError("the goal holds already: there is nothing to plan")
    goal_formula = optimistic_goal(request, state.graph)
    if goal_formula == FALSE:
        raise InputError(unreachable_reason(request.goal, state.graph))
    deadline = time.monotonic() + request.timeout_s
    try:
        facts, actions = ground_actions(request, state, goal_formula=goal_formula, effort=effort, deadline=deadline)
    except OutOfTime as error:
        msg = f"there are too many ground actions to write within {request.timeout_s:g} s; choose a smaller goal"
        raise InputError(msg) from error
    goal = ConditionReader(facts).read(request.goal, {})
    if goal in (TRUE, FALSE):
        raise InputError("no action achieves what the goal asks for: choose another goal or scene")
    return pddl_text(planning_problem(relevant_actions(actions, goal, facts, effort=effort), goal, facts.now))

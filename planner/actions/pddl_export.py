"""Export to PDDL: domain and problem of the part of a scene that a goal is about, as it is now."""

from __future__ import annotations

from scenecypher.db.condition import evaluate
from scenecypher.errors import InputError
from scenecypher.planner.actions.execution import NO_AGENT
from scenecypher.planner.actions.pddl import pddl_text, planning_problem
from scenecypher.planner.actions.pddl_bindings import OutOfTime
from scenecypher.planner.actions.pddl_derived import lifted_problem
from scenecypher.planner.actions.pddl_engine import check_pddl_installed
from scenecypher.planner.actions.pddl_facts import ConditionReader
from scenecypher.planner.actions.pddl_formula import FALSE, TRUE
from scenecypher.planner.actions.pddl_part import part_of
from scenecypher.planner.actions.pddl_planner import (
    PlanRequest,
    ReadPart,
    ground_actions,
    optimistic_goal,
    planning_state,
    relevant_actions,
    unreachable_reason,
)
from scenecypher.planner.actions.pddl_time import TimeLimit
from scenecypher.planner.vocabularies.registry import vocabulary_named


def export_pddl(request: PlanRequest, read_part: ReadPart) -> tuple[str, str]:
    """Return domain and problem as `find_plan` first asks an engine: the nearest actions, on the goal's part.

    The actions are ground, except a scene's own. Raises InputError if the goal holds already or can't be reached, if
    there are too many actions, and if unified-planning is missing.
    """
    check_pddl_installed()
    effort = vocabulary_named(request.vocabulary).planning.efforts[0]
    part = read_part(effort.wide)
    if effort.lifted:
        part = part_of(part, request.goal, wide=effort.wide)
    state = planning_state(part, request.vocabulary)
    if state is None:
        raise InputError(NO_AGENT)
    if evaluate(request.goal, state.graph, {}):
        raise InputError("the goal holds already: there is nothing to plan")
    goal_formula = optimistic_goal(request, state.graph)
    if goal_formula == FALSE:
        raise InputError(unreachable_reason(request.goal, state.graph))
    if effort.lifted:
        problem = lifted_problem(state.operators, state.graph, state.agent, request.goal, vocabulary=request.vocabulary)
        return problem.domain, problem.problem
    limit = TimeLimit(request.timeout_s)
    try:
        facts, actions = ground_actions(request, state, goal_formula=goal_formula, effort=effort, limit=limit)
    except OutOfTime as error:
        msg = (
            f"there are too many ground actions to write within {request.timeout_s:g} s; choose a smaller "
            "goal, or raise SCENECYPHER_ENGINE_TIMEOUT_S (`--engine-timeout`)"
        )
        raise InputError(msg) from error
    goal = ConditionReader(facts).read(request.goal, {})
    if goal in (TRUE, FALSE):
        raise InputError("no action achieves what the goal asks for: choose another goal or scene")
    return pddl_text(planning_problem(relevant_actions(actions, goal, facts, effort=effort), goal, facts.now))

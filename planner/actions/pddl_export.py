"""Domain and problem as PDDL text: the part of a scene that a goal is about, as it is now, for any PDDL planner."""

from __future__ import annotations

import time

from scenecypher.db.condition import evaluate
from scenecypher.errors import InputError
from scenecypher.planner.actions.pddl import pddl_text, planning_problem
from scenecypher.planner.actions.pddl_bindings import OutOfTime
from scenecypher.planner.actions.pddl_effort import efforts_of
from scenecypher.planner.actions.pddl_engine import check_installed
from scenecypher.planner.actions.pddl_facts import Reader
from scenecypher.planner.actions.pddl_formula import FALSE, TRUE
from scenecypher.planner.actions.pddl_planner import (
    NO_AGENT,
    Question,
    See,
    grounded,
    hoped,
    impossible,
    situation_in,
    worth_trying,
)


def exported(question: Question, see: See) -> tuple[str, str]:
    """Domain and problem as `plan` first asks an engine: the nearest ways to act, on the part that the goal is about.

    The actions are ground. Raises InputError where the goal holds already or can't be reached, where there are too many
    ways to act, and where unified-planning is missing.
    """
    check_installed()
    effort = efforts_of(question.vocabulary)[0]
    situation = situation_in(see(effort.wide), question.vocabulary)
    if situation is None:
        raise InputError(f"{NO_AGENT}: choose one that has")
    if evaluate(question.goal, situation.graph, {}):
        raise InputError("the goal holds already: there is nothing to plan")
    wanted = hoped(question, situation.graph)
    if wanted == FALSE:
        raise InputError(impossible(question.goal, situation.graph))
    deadline = time.monotonic() + question.timeout_s
    try:
        facts, actions = grounded(question, situation, wanted=wanted, effort=effort, deadline=deadline)
    except OutOfTime as error:
        msg = f"there are too many ways to act to write them within {question.timeout_s:g} s; choose a smaller goal"
        raise InputError(msg) from error
    goal = Reader(facts).read(question.goal, {})
    if goal in (TRUE, FALSE):
        raise InputError("no action brings about what the goal asks for: choose another goal or scene")
    return pddl_text(planning_problem(worth_trying(actions, goal, facts, effort=effort), goal, facts.now))

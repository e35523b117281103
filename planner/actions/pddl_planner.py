"""From a goal and the part of a scene that it is about to a plan that was carried out in memory before it is given."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from scenecypher.db.condition import And, Condition, HasState, conjuncts, evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.minigrid_obstacles import hindered, with_hurdles
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.pddl import planning_problem
from scenecypher.planner.actions.pddl_bindings import OutOfTime, Scope
from scenecypher.planner.actions.pddl_dead_effects import lean
from scenecypher.planner.actions.pddl_effort import Effort, efforts_of
from scenecypher.planner.actions.pddl_engine import Answered, check_installed, solve
from scenecypher.planner.actions.pddl_facts import Facts, Reader
from scenecypher.planner.actions.pddl_formula import FALSE, TRUE, Atom, Formula, literals
from scenecypher.planner.actions.pddl_grounding import GroundAction, Grounding
from scenecypher.planner.actions.pddl_part import SECOND_HAND, is_filler, is_spare, sought_for
from scenecypher.planner.actions.pddl_relevance import nearest, useful
from scenecypher.planner.actions.pddl_required_actions import Deed, Situation, carried_out, deeds_done
from scenecypher.planner.actions.pddl_simplified import plain
from scenecypher.planner.actions.text import Call
from scenecypher.planner.actions.vocabularies import operators_of

PLAN_TIMEOUT_S: Final = 30.0
LONGEST: Final = 60
"""Actions of a plan in which those that are of no use are looked for, in the square of their number."""
AT_ONCE: Final = 3
"""Parts of a goal that are planned for together where the whole is too much."""
NAMED: Final = 5
"""Nodes that a message lists."""
NEAREST: Final = 3
"""Of the actions that bring a fact about so many are looked at first."""
NO_AGENT: Final = "the scene has no agent"

See = Callable[[bool], SceneGraph]
"""The part of the scene that a goal is about, as it is now; a wider one where asked."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan that reaches the goal, or why there is none; `seconds` it took, `nodes` it looked at."""

    plan: tuple[Call, ...] | None
    why: str
    nodes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of an engine: which goal, with which operators, by whom, and for how long.

    `deeds` are actions that the task asks for beside the goal.
    """

    goal: Condition
    vocabulary: str
    timeout_s: float = PLAN_TIMEOUT_S
    deeds: tuple[Deed, ...] = ()
    engine: str | None = None
    search: str | None = None


Found: TypeAlias = tuple[tuple[Call, ...] | None, str]
"""A plan, or None and why there is none."""


def plan(question: Question, see: See, *, efforts: Sequence[Effort] | None = None) -> Planned:
    """A validated plan: on the part that the goal is about, then on a wider one, then with nothing left out.

    That there is none is said only of the part that was looked at last. Raises InputError where no engine is installed.
    """
    check_installed()
    began = time.monotonic()
    deadline = began + question.timeout_s
    why, nodes = "", 0
    for effort in efforts or efforts_of(question.vocabulary):
        left = deadline - time.monotonic()
        if left < 0:
            why = why or f"no plan within {question.timeout_s:g} s"
            break
        part = see(effort.wide)
        nodes = len(part.nodes)
        found, why = _attempt(question, part, effort=effort, deadline=deadline - (1 - effort.share) * left)
        if found is not None:
            return Planned(found, "", nodes, time.monotonic() - began)
    return Planned(None, why, nodes, time.monotonic() - began)


def situation_in(part: SceneGraph, vocabulary: str) -> Situation | None:
    """How things are in a part of a scene, for its first agent; None where there is none."""
    operators, graph = _hindered(vocabulary, part)
    agent = min(graph.by_kind.get("Agent", ()), default=None)
    return None if agent is None else Situation(graph, agent, operators)


def _attempt(question: Question, part: SceneGraph, *, effort: Effort, deadline: float) -> Found:
    situation = situation_in(part, question.vocabulary)
    if situation is None:
        return None, NO_AGENT
    graph, agent, operators = situation.graph, situation.agent, situation.operators
    attempt = _by_steps if effort.stepwise else _at_once
    found, why = attempt(question, situation, effort=effort, deadline=deadline)
    if found is None:
        return None, why
    if len(found) <= LONGEST:
        found = shortened(found, question.goal, graph, operators=operators, agent=agent)
    return _with_deeds(question, found, situation)


def _with_deeds(question: Question, found: tuple[Call, ...], situation: Situation) -> Found:
    """The plan, and after it the actions that the task asks for; without these where there is first more to do."""
    more = deeds_done(question.deeds, question.goal, situation.after(*found))
    if more is None and not found:
        return (
            None,
            f"the goal holds, but no way was found to {_worded(question.deeds)} as well, which the task asks for",
        )
    return found + (more or ()), ""


def _worded(deeds: Sequence[Deed]) -> str:
    return ", then ".join(" or ".join(deed) for deed in deeds)


def _by_steps(question: Question, situation: Situation, *, effort: Effort, deadline: float) -> Found:
    """A plan for a few parts of the goal, then from where it ended for a few more, which keeps what was reached."""
    parts = sorted(conjuncts(question.goal), key=lambda part: isinstance(part, HasState))
    plan: tuple[Call, ...] = ()
    for number in range(0, len(parts), AT_ONCE):
        newest = And(tuple(parts[number : number + AT_ONCE]))
        step = replace(question, goal=And(tuple(parts[: number + AT_ONCE])))
        found, why = _at_once(step, situation, effort=effort, deadline=deadline, about=newest)
        if found is None:
            return None, why
        plan, situation = plan + found, situation.after(*found)
    return plan, ""


def _at_once(
    question: Question, situation: Situation, *, effort: Effort, deadline: float, about: Condition | None = None
) -> Found:
    """A plan for the whole goal, which moves at first only what `about` speaks of (None: the goal)."""
    if evaluate(question.goal, situation.graph, {}):
        return (), ""
    wanted = hoped(question, situation.graph)
    if wanted == FALSE:
        return None, impossible(question.goal, situation.graph)
    try:
        facts, actions = grounded(question, situation, wanted=wanted, effort=effort, deadline=deadline, about=about)
    except OutOfTime:
        return None, f"no plan within {question.timeout_s:g} s: there are too many ways to act"
    found, why = _asked(question, facts, actions, effort=effort, deadline=deadline)
    return (None, why) if found is None else _validated(found, question.goal, situation)


def grounded(
    question: Question,
    situation: Situation,
    *,
    wanted: Formula,
    effort: Effort,
    deadline: float,
    about: Condition | None = None,
) -> tuple[Facts, Sequence[GroundAction]]:
    """What is so, and the ways to act; with `nearest` only on what `about` (None: the goal) speaks of.

    `wanted` is what `hoped` says of the goal. Raises OutOfTime at the `deadline` of `time.monotonic`.
    """
    graph = situation.graph
    asked = _atoms(wanted if about is None else hoped(replace(question, goal=about), graph))
    movable = frozenset(node for atom in asked for node in atom[1:]) | _fillers(graph, asked)
    scope = Scope(
        situation.agent,
        _atoms(wanted),
        _spares(graph),
        thrifty=effort.thrifty,
        movable=movable if effort.nearest else None,
        deadline=deadline,
    )
    operators = plain(question.vocabulary, situation.operators) if effort.nearest else situation.operators
    facts = Facts(graph, question.vocabulary)
    return facts, Grounding(facts, lean(operators, question.goal), scope).actions()


def _asked(
    question: Question, facts: Facts, actions: Sequence[GroundAction], *, effort: Effort, deadline: float
) -> tuple[Answered | None, str]:
    """What an engine says, or why none is asked."""
    goal = Reader(facts).read(question.goal, {})
    if goal in (TRUE, FALSE):
        return None, "no action brings about what the goal asks for"
    chosen = worth_trying(actions, goal, facts, effort=effort)
    if len(chosen) > effort.most:
        return None, "there are too many ways to act at once"
    left = max(1.0, deadline - time.monotonic())
    problem = planning_problem(chosen, goal, facts.now)
    return solve(problem, timeout_s=left, engine=question.engine, search=question.search), ""


def worth_trying(
    actions: Sequence[GroundAction], goal: Formula, facts: Facts, *, effort: Effort
) -> Sequence[GroundAction]:
    """Those of the actions that may help to the goal."""
    return nearest(actions, goal, facts.now, calls=NEAREST) if effort.nearest else useful(actions, goal)


def _validated(answered: Answered, goal: Condition, situation: Situation) -> Found:
    """The plan, where the operators themselves say that it can be carried out and reaches the goal."""
    if answered.answer != "solved":
        proven = answered.answer == "unsolvable"
        return None, "there is no plan" if proven else "the engine found no plan in its time"
    try:
        end = situation.after(*answered.plan)
    except Infeasible as refusal:
        return None, f"the plan does not work: {refusal}"
    reached = evaluate(goal, end.graph, {})
    return (answered.plan, "") if reached else (None, "the plan does not reach the goal")


def shortened(
    plan: Sequence[Call], goal: Condition, graph: SceneGraph, *, operators: Mapping[str, Operator], agent: str
) -> tuple[Call, ...]:
    """The plan without each action that nothing after it needs, one after the other (action elimination)."""
    kept, number = tuple(plan), 0
    while number < len(kept):
        shorter, end = _without(kept, number, graph, operators=operators, agent=agent)
        if evaluate(goal, end, {}):
            kept = shorter
        else:
            graph = carried_out(kept[number], graph, operators=operators, agent=agent)
            number += 1
    return kept


def _without(
    plan: tuple[Call, ...], number: int, graph: SceneGraph, *, operators: Mapping[str, Operator], agent: str
) -> tuple[tuple[Call, ...], SceneGraph]:
    """The plan without the action of this number and those that are not possible without it, and where it ends.

    `graph` is how things are before that action.
    """
    kept = plan[:number]
    for call in plan[number + 1 :]:
        try:
            graph = carried_out(call, graph, operators=operators, agent=agent)
        except Infeasible:
            continue
        kept += (call,)
    return kept, graph


def _hindered(vocabulary: str, part: SceneGraph) -> tuple[Mapping[str, Operator], SceneGraph]:
    if vocabulary == "babyai":
        return hindered(), with_hurdles(part)
    return operators_of(vocabulary), part


def hoped(question: Question, graph: SceneGraph) -> Formula:
    """The goal's value where everything could come to be; that is false where it speaks of what is not there."""
    return Reader(Facts(graph, question.vocabulary, anything=True)).read(question.goal, {})


def _atoms(formula: Formula) -> frozenset[Atom]:
    """The facts that a value depends on."""
    return frozenset(literal.atom for literal in literals(formula))


def impossible(goal: Condition, graph: SceneGraph) -> str:
    """Why a goal that nothing can bring about can't be reached."""
    missing = sorted(sought_for(goal).ids - graph.nodes.keys())
    if not missing:
        return "nothing that can be done makes the goal hold in this scene"
    return f"the goal is about {', '.join(missing[:NAMED])}, which this scene does not have: is it the task's own?"


def _fillers(graph: SceneGraph, wanted: frozenset[Atom]) -> frozenset[str]:
    """What fills the first hand, where the goal asks for something in the second."""
    asked = any(atom[0] == SECOND_HAND for atom in wanted)
    return frozenset(x for x in graph.nodes if is_filler(graph, x)) if asked else frozenset()


def _spares(graph: SceneGraph) -> frozenset[str]:
    """One surface a room, the first by id."""
    found = (
        min((x for x in graph.sources(place, "INSIDE") if is_spare(graph, x)), default=None)
        for place in graph.by_kind.get("Place", ())
    )
    return frozenset(x for x in found if x is not None)

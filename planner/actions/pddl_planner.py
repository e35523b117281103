"""From a goal and the part of a scene that it is about to a plan that was carried out in memory before it is given."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from db.condition import Condition, evaluate
from db.delta import apply
from db.scene import SceneGraph
from planner.actions.execution import Infeasible, simulate
from planner.actions.minigrid_hurdles import hindered, with_hurdles
from planner.actions.operator import AGENT, Operator
from planner.actions.pddl import planning_problem
from planner.actions.pddl_engine import Answered, check_installed, solve
from planner.actions.pddl_facts import Facts, Reader
from planner.actions.pddl_formula import FALSE, TRUE, Atom, literals
from planner.actions.pddl_grounding import Grounding, OutOfTime, Scope
from planner.actions.pddl_lean import lean
from planner.actions.pddl_part import SECOND_HAND, is_filler, is_spare
from planner.actions.pddl_plain import plain
from planner.actions.pddl_relevance import nearest, useful
from planner.actions.text import Call
from planner.actions.vocabularies import operators_of

PLAN_TIMEOUT_S: Final = 30.0
LONGEST: Final = 60
"""Actions of a plan in which those that are of no use are looked for, in the square of their number."""
NEAREST: Final = 3
"""Of the actions that bring a fact about so many are looked at first."""

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
    """What is asked of an engine: which goal, with which operators, by whom, and for how long."""

    goal: Condition
    vocabulary: str
    timeout_s: float = PLAN_TIMEOUT_S
    engine: str | None = None
    search: str | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is looked at: a `wide` part of the scene, a `thrifty` grounding, the `nearest` actions only."""

    wide: bool
    thrifty: bool = True
    nearest: bool = False


EFFORTS: Final = (
    Effort(wide=False, nearest=True),
    Effort(wide=True, nearest=True),
    Effort(wide=True),
    Effort(wide=True, thrifty=False),
)


def plan(question: Question, see: See) -> Planned:
    """A validated plan: on the part that the goal is about, then on a wider one, then with nothing left out.

    That there is none is said only of the part that was looked at last. Raises InputError where no engine is installed.
    """
    check_installed()
    began = time.monotonic()
    deadline = began + question.timeout_s
    why, nodes = "", 0
    for effort in EFFORTS:
        if time.monotonic() > deadline:
            why = why or f"no plan within {question.timeout_s:g} s"
            break
        part = see(effort.wide)
        nodes = len(part.nodes)
        found, why = _attempt(question, part, effort=effort, deadline=deadline)
        if found is not None:
            return Planned(found, "", nodes, time.monotonic() - began)
    return Planned(None, why, nodes, time.monotonic() - began)


def _attempt(
    question: Question, part: SceneGraph, *, effort: Effort, deadline: float
) -> tuple[tuple[Call, ...] | None, str]:
    operators, graph = _hindered(question.vocabulary, part)
    planned_with = plain(question.vocabulary, operators) if effort.nearest else operators
    agent = min(graph.by_kind.get("Agent", ()), default=None)
    if agent is None:
        return None, "the scene has no agent"
    if evaluate(question.goal, graph, {}):
        return (), ""
    facts = Facts(graph, question.vocabulary)
    wanted = _wanted(question, graph)
    named = frozenset(node for atom in wanted for node in atom[1:]) if effort.nearest else None
    movable = None if question.vocabulary == "babyai" or named is None else named | _fillers(graph, wanted)
    scope = Scope(agent, wanted, _spares(graph), thrifty=effort.thrifty, movable=movable, deadline=deadline)
    try:
        actions = Grounding(facts, lean(planned_with, question.goal), scope).actions()
    except OutOfTime:
        return None, f"no plan within {question.timeout_s:g} s: there are too many ways to act"
    goal = Reader(facts).read(question.goal, {})
    if goal in (TRUE, FALSE):
        return None, "no action brings about what the goal asks for"
    chosen = nearest(actions, goal, facts.now, calls=NEAREST) if effort.nearest else useful(actions, goal)
    problem = planning_problem(chosen, goal, facts.now)
    answered = solve(
        problem, timeout_s=max(1.0, deadline - time.monotonic()), engine=question.engine, search=question.search
    )
    return _validated(answered, question.goal, graph, operators=operators, agent=agent)


def _validated(
    answered: Answered, goal: Condition, graph: SceneGraph, *, operators: Mapping[str, Operator], agent: str
) -> tuple[tuple[Call, ...] | None, str]:
    """The plan, where the operators themselves say that it can be carried out and reaches the goal."""
    if answered.answer != "solved":
        proven = answered.answer == "unsolvable"
        return None, "there is no plan" if proven else "the engine found no plan in its time"
    end = graph
    try:
        for call in answered.plan:
            end = carried_out(call, end, operators=operators, agent=agent)
    except Infeasible as refusal:
        return None, f"the plan does not work: {refusal}"
    if not evaluate(goal, end, {}):
        return None, "the plan does not reach the goal"
    if len(answered.plan) > LONGEST:
        return answered.plan, ""
    return shortened(answered.plan, goal, graph, operators=operators, agent=agent), ""


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


def carried_out(call: Call, graph: SceneGraph, *, operators: Mapping[str, Operator], agent: str) -> SceneGraph:
    """The graph after an action. Raises Infeasible."""
    operator = operators[call.name]
    names = (parameter.name for parameter in operator.parameters)
    arguments = {AGENT: agent, **dict(zip(names, call.arguments, strict=True))}
    return apply(graph, simulate(operator, graph, arguments, action=str(call)))


def _hindered(vocabulary: str, part: SceneGraph) -> tuple[Mapping[str, Operator], SceneGraph]:
    if vocabulary == "babyai":
        return hindered(), with_hurdles(part)
    return operators_of(vocabulary), part


def _wanted(question: Question, graph: SceneGraph) -> frozenset[Atom]:
    """The facts that the goal depends on."""
    everything = Facts(graph, question.vocabulary, anything=True)
    return frozenset(literal.atom for literal in literals(Reader(everything).read(question.goal, {})))


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

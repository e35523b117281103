"""From a goal and the part of a scene that it is about to a plan that was carried out in memory before it is given."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from db.condition import Condition, HasClass, Id, evaluate, terms
from db.delta import apply
from db.scene import SceneGraph
from planner.actions.execution import Infeasible, simulate
from planner.actions.minigrid_hurdles import hindered, with_hurdles
from planner.actions.operator import AGENT, Operator
from planner.actions.pddl import planning_problem
from planner.actions.pddl_engine import Answered, check_installed, solve
from planner.actions.pddl_facts import Facts, Reader
from planner.actions.pddl_formula import FALSE, TRUE, Atom, literals
from planner.actions.pddl_grounding import Grounding, OutOfTime, Scope, parts_of
from planner.actions.pddl_lean import lean
from planner.actions.pddl_relevance import nearest, useful
from planner.actions.text import Call
from planner.actions.vocabularies import operators_of

SURFACES: Final = ("put_on", "surfaces")
"""The affordances of what things can be put on, in the words of the vocabularies."""
LIFTED: Final = ("pick_up", "grabbable")
"""Those of what can be carried away, likewise."""
PLAN_TIMEOUT_S: Final = 30.0
NEAREST: Final = 3
"""Of the actions that bring a fact about so many are looked at first."""

PLAINER: Final[Mapping[str, frozenset[str]]] = {
    "virtualhome": frozenset(
        {"run", "find", "put_back", "drop", "release", "move", "push", "pull", "touch", "look_at", "point_at", "watch"}
    ),
}
"""Actions that are left out at first, since others bring the same about."""

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


def named_in(goal: Condition) -> tuple[frozenset[str], frozenset[str]]:
    """The ids and the classes that a goal names."""
    ids: set[str] = set()
    classes: set[str] = set()
    for part in parts_of(goal):
        if isinstance(part, HasClass):
            classes.add(part.class_)
        ids |= {term.id for term in terms(part) if isinstance(term, Id)}
    return frozenset(ids), frozenset(classes)


def _attempt(
    question: Question, part: SceneGraph, *, effort: Effort, deadline: float
) -> tuple[tuple[Call, ...] | None, str]:
    operators, graph = _hindered(question.vocabulary, part)
    if effort.nearest:
        plainer = PLAINER.get(question.vocabulary.removesuffix("_ext"), frozenset())
        operators = {name: operator for name, operator in operators.items() if name not in plainer}
    agent = min(graph.by_kind.get("Agent", ()), default=None)
    if agent is None:
        return None, "the scene has no agent"
    if evaluate(question.goal, graph, {}):
        return (), ""
    facts = Facts(graph, question.vocabulary)
    wanted = _wanted(question, graph)
    named = frozenset(node for atom in wanted for node in atom[1:]) if effort.nearest else None
    movable = None if question.vocabulary == "babyai" else named  # keys and hurdles are in no goal
    scope = Scope(agent, wanted, _spares(graph), thrifty=effort.thrifty, movable=movable, deadline=deadline)
    try:
        actions = Grounding(facts, lean(operators, question.goal), scope).actions()
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
    try:
        for call in answered.plan:
            graph = carried_out(call, graph, operators=operators, agent=agent)
    except Infeasible as refusal:
        return None, f"the plan does not work: {refusal}"
    return (answered.plan, "") if evaluate(goal, graph, {}) else (None, "the plan does not reach the goal")


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


def _spares(graph: SceneGraph) -> frozenset[str]:
    """One surface a room, the first by id."""
    found = (
        min((x for x in graph.sources(place, "INSIDE") if _is_surface(graph, x)), default=None)
        for place in graph.by_kind.get("Place", ())
    )
    return frozenset(x for x in found if x is not None)


def _is_surface(graph: SceneGraph, x: str) -> bool:
    affordances = {*graph.nodes[x].affordances}
    return bool(affordances & {*SURFACES}) and not affordances & {*LIFTED}

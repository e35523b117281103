"""Planning: from a goal and its part of a scene to a plan that is validated in memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from scenecypher.db.condition import And, Condition, HasState, conjuncts, evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.pddl import planning_problem
from scenecypher.planner.actions.pddl_bindings import GroundingScope, OutOfTime
from scenecypher.planner.actions.pddl_dead_effects import drop_dead_effects
from scenecypher.planner.actions.pddl_effort import Effort
from scenecypher.planner.actions.pddl_engine import EngineAnswer, check_pddl_installed, solve
from scenecypher.planner.actions.pddl_facts import ConditionReader, PossibleFacts
from scenecypher.planner.actions.pddl_formula import FALSE, TRUE, Formula, GroundAtom, literals
from scenecypher.planner.actions.pddl_grounding import GroundAction, Grounding
from scenecypher.planner.actions.pddl_part import SECOND_HAND, is_liftable, is_spare_surface, sought_for
from scenecypher.planner.actions.pddl_relevance import goal_relevant, nearest
from scenecypher.planner.actions.pddl_required_actions import PlanningState, RequiredAction, apply_call, plan_required
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.vocabularies.registry import vocabulary_named

PLAN_TIMEOUT_S: Final = 30.0
MAX_SHORTENED: Final = 60
"""Maximum length of a plan from which needless actions are removed, at quadratic cost."""
GOAL_PARTS_AT_ONCE: Final = 3
"""Goal parts that are added per step in stepwise planning."""
MAX_NAMED: Final = 5
"""Maximum number of nodes that a message lists."""
NEAREST_CALLS: Final = 3
"""Number of calls considered first for each fact to be achieved."""
NO_AGENT: Final = "the scene has no agent"

ReadPart = Callable[[bool], SceneGraph]
"""Reads the part of the scene that a goal is about, as it is now; True asks for a wider part."""


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan that reaches the goal, or why there is none; the `seconds` it took, the number of `nodes` considered."""

    plan: tuple[ActionCall, ...] | None
    why: str
    nodes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A goal, its vocabulary, a time limit, and optionally the engine and its search.

    `required_actions` are actions that the task requires besides the goal.
    """

    goal: Condition
    vocabulary: str
    timeout_s: float = PLAN_TIMEOUT_S
    required_actions: tuple[RequiredAction, ...] = ()
    engine: str | None = None
    search: str | None = None


PlanOrReason: TypeAlias = tuple[tuple[ActionCall, ...] | None, str]
"""A plan, or None and the reason."""


def find_plan(request: PlanRequest, read_part: ReadPart, *, efforts: Sequence[Effort] | None = None) -> PlanResult:
    """Return a validated plan: on the part that the goal is about, then on a wider one, then without pruning.

    "No plan" refers only to the part that was tried last. Raises InputError if no engine is installed.
    """
    check_pddl_installed()
    started = time.monotonic()
    deadline = started + request.timeout_s
    why, nodes = "", 0
    for effort in efforts or vocabulary_named(request.vocabulary).planning.efforts:
        remaining_s = deadline - time.monotonic()
        if remaining_s < 0:
            why = why or f"no plan within {request.timeout_s:g} s"
            break
        part = read_part(effort.wide)
        nodes = len(part.nodes)
        found, why = _attempt(request, part, effort=effort, deadline=deadline - (1 - effort.share) * remaining_s)
        if found is not None:
            return PlanResult(found, "", nodes, time.monotonic() - started)
    return PlanResult(None, why, nodes, time.monotonic() - started)


def planning_state(part: SceneGraph, vocabulary: str) -> PlanningState | None:
    """Return the state of a part of a scene with its first agent; None if it has no agent."""
    chosen = vocabulary_named(vocabulary)
    operators, graph = chosen.planning.prepare(chosen.operators, part)
    agent = min(graph.by_kind.get("Agent", ()), default=None)
    return None if agent is None else PlanningState(graph, agent, operators)


def _attempt(request: PlanRequest, part: SceneGraph, *, effort: Effort, deadline: float) -> PlanOrReason:
    state = planning_state(part, request.vocabulary)
    if state is None:
        return None, NO_AGENT
    graph, agent, operators = state.graph, state.agent, state.operators
    attempt = _plan_stepwise if effort.stepwise else _plan_whole
    found, why = attempt(request, state, effort=effort, deadline=deadline)
    if found is None:
        return None, why
    if len(found) <= MAX_SHORTENED:
        found = shorten_plan(found, request.goal, graph, operators=operators, agent=agent)
    return _with_required(request, found, state)


def _with_required(request: PlanRequest, found: tuple[ActionCall, ...], state: PlanningState) -> PlanOrReason:
    """Return the plan, followed by the required actions if a way to do them after it is found."""
    more = plan_required(request.required_actions, request.goal, state.after(*found))
    if more is None and not found:
        required = _describe_required(request.required_actions)
        return None, f"the goal holds, but no way was found to {required} as well, which the task asks for"
    return found + (more or ()), ""


def _describe_required(required_actions: Sequence[RequiredAction]) -> str:
    return ", then ".join(" or ".join(required) for required in required_actions)


def _plan_stepwise(request: PlanRequest, state: PlanningState, *, effort: Effort, deadline: float) -> PlanOrReason:
    """Plan for a few parts of the goal, then from the reached state for a few more, keeping the former."""
    parts = sorted(conjuncts(request.goal), key=lambda part: isinstance(part, HasState))
    plan: tuple[ActionCall, ...] = ()
    for number in range(0, len(parts), GOAL_PARTS_AT_ONCE):
        newest = And(tuple(parts[number : number + GOAL_PARTS_AT_ONCE]))
        step = replace(request, goal=And(tuple(parts[: number + GOAL_PARTS_AT_ONCE])))
        found, why = _plan_whole(step, state, effort=effort, deadline=deadline, about=newest)
        if found is None:
            return None, why
        plan, state = plan + found, state.after(*found)
    return plan, ""


def _plan_whole(
    request: PlanRequest, state: PlanningState, *, effort: Effort, deadline: float, about: Condition | None = None
) -> PlanOrReason:
    """Plan for the whole goal; the nearest search moves only what `about` names (None: the goal)."""
    if evaluate(request.goal, state.graph, {}):
        return (), ""
    goal_formula = optimistic_goal(request, state.graph)
    if goal_formula == FALSE:
        return None, unreachable_reason(request.goal, state.graph)
    try:
        facts, actions = ground_actions(
            request, state, goal_formula=goal_formula, effort=effort, deadline=deadline, about=about
        )
    except OutOfTime:
        return None, f"no plan within {request.timeout_s:g} s: there are too many ways to act"
    found, why = _solve_ground(request, facts, actions, effort=effort, deadline=deadline)
    return (None, why) if found is None else _validated(found, request.goal, state)


def ground_actions(
    request: PlanRequest,
    state: PlanningState,
    *,
    goal_formula: Formula,
    effort: Effort,
    deadline: float,
    about: Condition | None = None,
) -> tuple[PossibleFacts, Sequence[GroundAction]]:
    """Return the possible facts and ground actions; `nearest` restricts to what `about` (None: the goal) names.

    `goal_formula` is the goal's `optimistic_goal`. Raises OutOfTime at the `deadline` of `time.monotonic`.
    """
    graph = state.graph
    goal_atoms = _atoms(goal_formula if about is None else optimistic_goal(replace(request, goal=about), graph))
    movable = frozenset(node for atom in goal_atoms for node in atom[1:]) | _liftable_fillers(graph, goal_atoms)
    scope = GroundingScope(
        state.agent,
        _atoms(goal_formula),
        _spare_surfaces(graph),
        pruned=effort.pruned,
        movable=movable if effort.nearest else None,
        deadline=deadline,
    )
    simplify = vocabulary_named(request.vocabulary).planning.simplify
    operators = simplify(state.operators) if effort.nearest else state.operators
    facts = PossibleFacts(graph, request.vocabulary)
    return facts, Grounding(facts, drop_dead_effects(operators, request.goal), scope).actions()


def _solve_ground(
    request: PlanRequest, facts: PossibleFacts, actions: Sequence[GroundAction], *, effort: Effort, deadline: float
) -> tuple[EngineAnswer | None, str]:
    """Return an engine's answer, or the reason why none is asked."""
    goal = ConditionReader(facts).read(request.goal, {})
    if goal in (TRUE, FALSE):
        return None, "no action brings about what the goal asks for"
    chosen = relevant_actions(actions, goal, facts, effort=effort)
    if len(chosen) > effort.max_actions:
        return None, "there are too many ways to act at once"
    remaining_s = max(1.0, deadline - time.monotonic())
    problem = planning_problem(chosen, goal, facts.now)
    return solve(problem, timeout_s=remaining_s, engine=request.engine, search=request.search), ""


def relevant_actions(
    actions: Sequence[GroundAction], goal: Formula, facts: PossibleFacts, *, effort: Effort
) -> Sequence[GroundAction]:
    """Return the actions that may help to reach the goal."""
    return nearest(actions, goal, facts.now, calls=NEAREST_CALLS) if effort.nearest else goal_relevant(actions, goal)


def _validated(answer: EngineAnswer, goal: Condition, state: PlanningState) -> PlanOrReason:
    """Return the plan if the operators can carry it out and it reaches the goal."""
    if answer.status != "solved":
        proven = answer.status == "unsolvable"
        return None, "there is no plan" if proven else "the engine found no plan in its time"
    try:
        end = state.after(*answer.plan)
    except Infeasible as refusal:
        return None, f"the plan does not work: {refusal}"
    reached = evaluate(goal, end.graph, {})
    return (answer.plan, "") if reached else (None, "the plan does not reach the goal")


def shorten_plan(
    plan: Sequence[ActionCall], goal: Condition, graph: SceneGraph, *, operators: Mapping[str, Operator], agent: str
) -> tuple[ActionCall, ...]:
    """Return the plan without actions that nothing after them needs, tested one by one (action elimination)."""
    kept, number = tuple(plan), 0
    while number < len(kept):
        shorter, end = _without(kept, number, graph, operators=operators, agent=agent)
        if evaluate(goal, end, {}):
            kept = shorter
        else:
            graph = apply_call(kept[number], graph, operators=operators, agent=agent)
            number += 1
    return kept


def _without(
    plan: tuple[ActionCall, ...], number: int, graph: SceneGraph, *, operators: Mapping[str, Operator], agent: str
) -> tuple[tuple[ActionCall, ...], SceneGraph]:
    """Return the plan without this action and those that depend on it, and its final graph.

    `graph` is the graph before that action.
    """
    kept = plan[:number]
    for call in plan[number + 1 :]:
        try:
            graph = apply_call(call, graph, operators=operators, agent=agent)
        except Infeasible:
            continue
        kept += (call,)
    return kept, graph


def optimistic_goal(request: PlanRequest, graph: SceneGraph) -> Formula:
    """Return the goal's formula if every fact were possible; FALSE if it is about missing nodes."""
    return ConditionReader(PossibleFacts(graph, request.vocabulary, all_possible=True)).read(request.goal, {})


def _atoms(formula: Formula) -> frozenset[GroundAtom]:
    """Return the facts that a formula depends on."""
    return frozenset(literal.atom for literal in literals(formula))


def unreachable_reason(goal: Condition, graph: SceneGraph) -> str:
    """Return why a goal that no action can achieve is unreachable."""
    missing = sorted(sought_for(goal).ids - graph.nodes.keys())
    if not missing:
        return "nothing that can be done makes the goal hold in this scene"
    return f"the goal is about {', '.join(missing[:MAX_NAMED])}, which this scene does not have: is it the task's own?"


def _liftable_fillers(graph: SceneGraph, goal_atoms: frozenset[GroundAtom]) -> frozenset[str]:
    """Return the objects that can fill the first hand, if the goal asks for one in the second."""
    needs_second_hand = any(atom[0] == SECOND_HAND for atom in goal_atoms)
    return frozenset(x for x in graph.nodes if is_liftable(graph, x)) if needs_second_hand else frozenset()


def _spare_surfaces(graph: SceneGraph) -> frozenset[str]:
    """Return one surface a room, the first by id."""
    found = (
        min((x for x in graph.sources(place, "INSIDE") if is_spare_surface(graph, x)), default=None)
        for place in graph.by_kind.get("Place", ())
    )
    return frozenset(x for x in found if x is not None)

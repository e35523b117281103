"""Planning: from a goal and its part of a scene to a plan that is validated in memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, TypeAlias

from scenecypher.db.condition import And, Condition, evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.planner.actions.execution import NO_AGENT, Infeasible
from scenecypher.planner.actions.giving import giving_classes
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.pddl import planning_problem
from scenecypher.planner.actions.pddl_bindings import GroundingScope, OutOfTime
from scenecypher.planner.actions.pddl_dead_effects import drop_dead_effects
from scenecypher.planner.actions.pddl_derived import NotLifted, lifted_problem
from scenecypher.planner.actions.pddl_effort import Effort
from scenecypher.planner.actions.pddl_engine import MORE_TIME, NO_PLAN, EngineAnswer, check_pddl_installed
from scenecypher.planner.actions.pddl_facts import ConditionReader, PossibleFacts
from scenecypher.planner.actions.pddl_fast_downward import fast_downward_driver, solve, solve_with_fast_downward
from scenecypher.planner.actions.pddl_formula import FALSE, TRUE, Formula, GroundAtom, literals
from scenecypher.planner.actions.pddl_grounding import GroundAction, Grounding
from scenecypher.planner.actions.pddl_part import SECOND_HAND, is_liftable, is_spare_surface, part_of, sought_for
from scenecypher.planner.actions.pddl_parts import goal_parts
from scenecypher.planner.actions.pddl_relevance import goal_relevant, nearest
from scenecypher.planner.actions.pddl_required_actions import PlanningState, RequiredAction, apply_call, plan_required
from scenecypher.planner.actions.pddl_time import TimeLimit
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.vocabularies.registry import vocabulary_named

PLAN_TIMEOUT_S: Final = 30.0
MAX_SHORTENED: Final = 60
"""Maximum length of a plan from which needless actions are removed, at quadratic cost."""
MAX_PARTS_AT_ONCE: Final = 8
"""Goals of more parts are planned stepwise before anything else is tried."""
GOAL_PARTS_AT_ONCE: Final = 3
"""Goal parts that are added per step in stepwise planning."""
MAX_NAMED: Final = 5
"""Maximum number of nodes that a message lists."""
NEAREST_CALLS: Final = 3
"""Number of calls considered first for each fact to be achieved."""

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
    """A goal, its vocabulary, and optionally the engine and its search.

    `timeout_s` limits the time of the processor, and `clock_s` that of the clock.
    `required_actions` are actions that the task requires besides the goal.
    """

    goal: Condition
    vocabulary: str
    timeout_s: float = PLAN_TIMEOUT_S
    clock_s: float = float("inf")
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
    started, limit = time.monotonic(), TimeLimit(request.timeout_s, request.clock_s)
    read, why, nodes = cache(read_part), "", 0
    for effort in efforts or _efforts(request, read):
        if limit.is_over():
            why = why or f"no plan within {request.timeout_s:g} s of processor time; {MORE_TIME}"
            break
        part = whole = read(effort.wide)
        if effort.lifted and not effort.wide:
            part = part_of(whole, request.goal, wide=False)
            if len(part.nodes) == len(whole.nodes):
                continue
        nodes = len(part.nodes)
        limit.share(effort.share)
        found, why = _attempt(request, part, effort=effort, limit=limit)
        limit.reserved_s = 0.0
        if found is not None:
            return PlanResult(found, "", nodes, time.monotonic() - started)
        if effort.lifted and effort.wide and why == NO_PLAN:
            break
    return PlanResult(None, why, nodes, time.monotonic() - started)


def _efforts(request: PlanRequest, read_part: ReadPart) -> Sequence[Effort]:
    """Return the vocabulary's searches; for a goal of many parts, the one that plans part by part comes first."""
    efforts = vocabulary_named(request.vocabulary).planning.efforts
    many = len(goal_parts(request.goal, read_part(efforts[0].wide), request.vocabulary)) > MAX_PARTS_AT_ONCE
    return sorted(efforts, key=lambda effort: not effort.stepwise) if many else efforts


def part_reader(read: Callable[[], SceneGraph], goal: Condition, vocabulary: str) -> ReadPart:
    """Return a function that takes the part relevant to `goal` of what `read` returns, the scene as it is now.

    The wide part is the whole scene for actions read from PDDL: nothing is known of what they need besides the goal.
    """
    chosen = vocabulary_named(vocabulary)
    is_unknown = any(effort.lifted for effort in chosen.planning.efforts)
    small, operators = chosen.planning.small_scene, chosen.operators

    def part(wide: bool) -> SceneGraph:  # noqa: FBT001 - what a ReadPart takes
        graph = read()
        return graph if wide and is_unknown else part_of(graph, goal, wide=wide, small=small, operators=operators)

    return part


def planning_state(part: SceneGraph, vocabulary: str) -> PlanningState | None:
    """Return the state of a part of a scene with its first agent; None if it has no agent."""
    chosen = vocabulary_named(vocabulary)
    operators, graph = chosen.planning.prepare(chosen.operators, part)
    agent = min(graph.by_kind.get("Agent", ()), default=None)
    return None if agent is None else PlanningState(graph, agent, operators)


def _attempt(request: PlanRequest, part: SceneGraph, *, effort: Effort, limit: TimeLimit) -> PlanOrReason:
    state = planning_state(part, request.vocabulary)
    if state is None:
        return None, NO_AGENT
    graph, agent, operators = state.graph, state.agent, state.operators
    attempt = _plan_lifted if effort.lifted else _plan_stepwise if effort.stepwise else _plan_whole
    found, why = attempt(request, state, effort=effort, limit=limit)
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


def _plan_stepwise(request: PlanRequest, state: PlanningState, *, effort: Effort, limit: TimeLimit) -> PlanOrReason:
    """Plan for a few parts of the goal, then from the reached state for a few more, keeping the former."""
    parts = goal_parts(request.goal, state.graph, request.vocabulary)
    plan: tuple[ActionCall, ...] = ()
    for number in range(0, len(parts), GOAL_PARTS_AT_ONCE):
        newest, so_far = (And(parts[first : number + GOAL_PARTS_AT_ONCE]) for first in (number, 0))
        found, why = _plan_next(replace(request, goal=so_far), newest, state, effort=effort, limit=limit)
        if found is None:
            return None, why
        found = shorten_plan(found, so_far, state.graph, operators=state.operators, agent=state.agent)
        plan, state = plan + found, state.after(*found)
    return plan, ""


def _plan_next(
    request: PlanRequest, newest: Condition, state: PlanningState, *, effort: Effort, limit: TimeLimit
) -> PlanOrReason:
    """Plan for the newest parts on what they alone are about; on all that is known if that spoils former parts."""
    near = replace(state, graph=part_of(state.graph, newest, wide=False, small=0, operators=state.operators))
    found, _ = _plan_whole(replace(request, goal=newest), near, effort=effort, limit=limit)
    if found is not None:
        with suppress(Infeasible):
            if evaluate(request.goal, state.after(*found).graph, {}):
                return found, ""
    return _plan_whole(request, state, effort=effort, limit=limit, about=newest)


def _plan_whole(
    request: PlanRequest, state: PlanningState, *, effort: Effort, limit: TimeLimit, about: Condition | None = None
) -> PlanOrReason:
    """Plan for the whole goal; the nearest search moves only what `about` names (None: the goal)."""
    if evaluate(request.goal, state.graph, {}):
        return (), ""
    goal_formula = optimistic_goal(request, state.graph)
    if goal_formula == FALSE:
        return None, unreachable_reason(request.goal, state.graph)
    try:
        facts, actions = ground_actions(
            request, state, goal_formula=goal_formula, effort=effort, limit=limit, about=about
        )
    except OutOfTime:
        return (
            None,
            f"no plan within {request.timeout_s:g} s of processor time: there are too many ways to act; {MORE_TIME}",
        )
    found, why = _solve_ground(request, facts, actions, effort=effort, limit=limit)
    return (None, why) if found is None else _validated(found, request.goal, state)


def _plan_lifted(request: PlanRequest, state: PlanningState, *, effort: Effort, limit: TimeLimit) -> PlanOrReason:
    """Plan for the whole goal with actions that Fast Downward grounds itself, if it is installed."""
    del effort
    if evaluate(request.goal, state.graph, {}):
        return (), ""
    driver = fast_downward_driver() if request.engine is None else None
    if driver is None:
        return None, "Fast Downward, which alone plans with derived predicates, is not asked"
    if optimistic_goal(request, state.graph) == FALSE:
        return None, unreachable_reason(request.goal, state.graph)
    try:
        problem = lifted_problem(state.operators, state.graph, state.agent, request.goal, vocabulary=request.vocabulary)
    except NotLifted as error:
        return None, f"{error} can't be written as PDDL"
    found = solve_with_fast_downward(driver, problem.domain, problem.problem, limit, search=request.search)
    plan = tuple(map(problem.call, found.steps))
    return _validated(EngineAnswer(found.status, plan, "fast-downward"), request.goal, state)


def ground_actions(
    request: PlanRequest,
    state: PlanningState,
    *,
    goal_formula: Formula,
    effort: Effort,
    limit: TimeLimit,
    about: Condition | None = None,
) -> tuple[PossibleFacts, Sequence[GroundAction]]:
    """Return the possible facts and ground actions; `nearest` restricts to what `about` (None: the goal) names.

    `goal_formula` is the goal's `optimistic_goal`. Raises OutOfTime.
    """
    graph = state.graph
    goal_atoms = _atoms(goal_formula if about is None else optimistic_goal(replace(request, goal=about), graph))
    movable = frozenset(node for atom in goal_atoms for node in atom[1:]) | _liftable_fillers(graph, goal_atoms)
    scope = GroundingScope(
        state.agent,
        _atoms(goal_formula),
        _spare_surfaces(graph) | _givers(request.goal, state),
        pruned=effort.pruned,
        movable=movable if effort.nearest else None,
        is_over=limit.is_over,
    )
    simplify = vocabulary_named(request.vocabulary).planning.simplify
    operators = simplify(state.operators) if effort.nearest else state.operators
    facts = PossibleFacts(graph, request.vocabulary)
    return facts, Grounding(facts, drop_dead_effects(operators, request.goal), scope).actions()


def _solve_ground(
    request: PlanRequest, facts: PossibleFacts, actions: Sequence[GroundAction], *, effort: Effort, limit: TimeLimit
) -> tuple[EngineAnswer | None, str]:
    """Return an engine's answer, or the reason why none is asked."""
    goal = ConditionReader(facts).read(request.goal, {})
    if goal in (TRUE, FALSE):
        return None, "no action brings about what the goal asks for"
    chosen = relevant_actions(actions, goal, facts, effort=effort)
    if len(chosen) > effort.max_actions:
        return None, "there are too many ways to act at once"
    problem = planning_problem(chosen, goal, facts.now)
    return solve(problem, limit, engine=request.engine, search=request.search), ""


def relevant_actions(
    actions: Sequence[GroundAction], goal: Formula, facts: PossibleFacts, *, effort: Effort
) -> Sequence[GroundAction]:
    """Return the actions that may help to reach the goal."""
    return nearest(actions, goal, facts.now, calls=NEAREST_CALLS) if effort.nearest else goal_relevant(actions, goal)


def _validated(answer: EngineAnswer, goal: Condition, state: PlanningState) -> PlanOrReason:
    """Return the plan if the operators can carry it out and it reaches the goal."""
    if answer.status != "solved":
        proven = answer.status == "unsolvable"
        return None, NO_PLAN if proven else f"the engine found no plan in its time; {MORE_TIME}"
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


def _givers(goal: Condition, state: PlanningState) -> frozenset[str]:
    """Return the things, such as appliances, that give what is in them a state that the goal asks for."""
    classes = giving_classes(goal, state.operators)
    return frozenset(x for class_ in classes for x in state.graph.by_class.get(class_, ()))


def _spare_surfaces(graph: SceneGraph) -> frozenset[str]:
    """Return one surface a room, the first by id."""
    found = (
        min((x for x in graph.sources(place, "INSIDE") if is_spare_surface(graph, x)), default=None)
        for place in graph.by_kind.get("Place", ())
    )
    return frozenset(x for x in found if x is not None)

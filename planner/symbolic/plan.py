"""Planning: from a goal and a scene to a plan that the operators carry out and that reaches the goal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from scenecypher.db.condition import And, Condition, HasState, Not, PropertyEquals, atoms_of, evaluate, explain
from scenecypher.db.graph.invariants import parent_faults
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rule_memory import has_run_out, is_open, open_duties
from scenecypher.db.rules import NO_RULES, Rules, forbidden_by
from scenecypher.db.schema import HOLDING
from scenecypher.errors import ActionRefused, InputError
from scenecypher.planner.actions.execution import NO_AGENT
from scenecypher.planner.actions.operator import Assign, Forget, is_static, simple_effects
from scenecypher.planner.actions.ruled import operators_under
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.symbolic.engine import MORE_TIME, SEARCH, TOO_LATE, TimeLimit, check_engine, solve
from scenecypher.planner.symbolic.parts import part_of, sought_for
from scenecypher.planner.symbolic.reachable import forbidding, unreachable_part
from scenecypher.planner.symbolic.states import PlanningState, RequiredAction, plan_required
from scenecypher.planner.symbolic.write import WrittenProblem, in_serial_order, write_problem
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

PLAN_TIMEOUT_S: Final = 30.0
LEAST_S: Final = 2.0
"""Least time for another plan, where the first one breaks a rule."""
PART_SHARE: Final = 0.4
"""Share of the time that is left which planning on a part of the scene may take."""
MAX_WRITTEN_NODES: Final = 5_000
"""A larger scene is planned on in parts alone: no engine grounds it in its time."""
GROUP: Final = 4
"""Parts of a goal that are planned for together where all of them are too much for the engine."""
MAX_SHORTENED: Final = 60
"""Maximum length of a plan from which needless actions are removed, at quadratic cost."""
MAX_NAMED: Final = 5
"""Maximum number of nodes that a message lists."""


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan that reaches the goal, or why there is none; the `seconds` it took, the number of `nodes` considered."""

    plan: tuple[ActionCall, ...] | None
    why: str
    nodes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A goal, its vocabulary, and optionally the engine's search.

    `timeout_s` limits the time of the processor, and `clock_s` that of the clock.
    `required_actions` are actions that the task requires besides the goal. A plan keeps the `rules` of the house;
    where one has a person asked, it counts on a yes.
    """

    goal: Condition
    vocabulary: str
    timeout_s: float = PLAN_TIMEOUT_S
    clock_s: float = float("inf")
    required_actions: tuple[RequiredAction, ...] = ()
    search: str = SEARCH
    rules: Rules = NO_RULES


PlanOrReason: TypeAlias = tuple[tuple[ActionCall, ...] | None, str]
"""A plan, or None and the reason."""


def find_plan(request: PlanRequest, graph: SceneGraph) -> PlanResult:
    """Return a plan that is validated in the whole scene.

    What no action can bring about is told at once. It is planned on the part that the goal is about, then on a wider
    one, then on the whole scene: only then there is no plan. Where the first part alone is too much for the engine, the
    goal is planned for in groups. A scene of over MAX_WRITTEN_NODES is planned on in parts alone; the result's `nodes`
    tell. Where the plan would break a rule of the house or leave a duty open, another one is looked for that keeps the
    rules; if there is none, the reason names that rule. Raises InputError if the engine is not installed.
    """
    check_engine()
    free = _find_plan(replace(request, rules=NO_RULES), graph)
    broken = _first_refusal(free.plan, graph, request)
    if not broken:
        return free
    left = max(request.timeout_s - free.seconds, LEAST_S)
    fulfilled = (Not(is_open(it)) for it in request.rules.duties)
    ruled = replace(request, goal=And((request.goal, *fulfilled)), timeout_s=left)
    state = planning_state(graph, request.vocabulary)
    rule = None if state is None else forbidding(request.rules.in_force, request.goal, state)
    found = PlanResult(None, forbidden_by(rule), free.nodes, 0) if rule else _find_plan(ruled, graph)
    why = "" if found.plan else f"no plan was found that keeps the rules of the house: {broken} ({found.why})"
    return replace(found, why=why, seconds=free.seconds + found.seconds)


def _first_refusal(plan: Sequence[ActionCall] | None, graph: SceneGraph, request: PlanRequest) -> str:
    """Return with what a plan is refused that was made without the rules of the house; empty if it keeps them."""
    state = planning_state(graph, request.vocabulary, request.rules)
    if plan is None or state is None or not request.rules.in_force:
        return ""
    try:
        end = state.after(*plan)
    except ActionRefused as refused:
        return "; ".join(refused.reasons)
    return next((f"the rule {it.name} wants more: {it.words}" for it in open_duties(request.rules, end.graph)), "")


def _find_plan(request: PlanRequest, graph: SceneGraph) -> PlanResult:
    started, limit = time.monotonic(), TimeLimit(request.timeout_s, request.clock_s)
    whole, nodes = planning_state(graph, request.vocabulary, request.rules), len(graph.nodes)
    in_groups = False
    why = NO_AGENT if whole is None else why_unreachable(request.goal, whole)
    levels = _levels(request, graph, whole) if whole is not None and not why else ()
    for number, state in enumerate(levels, 1):
        if limit.is_over():
            is_late = limit.spent_s < request.timeout_s
            took = f"{request.clock_s:g} s" if is_late else f"{request.timeout_s:g} s of processor time"
            why = f"no plan within {took}; {MORE_TIME}"
            break
        nodes = len(state.graph.nodes)
        limit.share(PART_SHARE if number < len(levels) else 1.0)
        found, why = _attempt(request, state, whole, limit=limit) if whole is not None else (None, why)
        is_too_much, limit.reserved_s = why == TOO_LATE or limit.is_over(), 0.0
        if found is None and is_too_much and not in_groups and whole is not None:
            in_groups = True
            found, why = plan_in_groups(request, whole, limit)
        if found is not None:
            return PlanResult(found, "", nodes, time.monotonic() - started)
    return PlanResult(None, why, nodes, time.monotonic() - started)


def export_pddl(request: PlanRequest, graph: SceneGraph) -> tuple[str, str]:
    """Return domain and problem as `find_plan` first asks the engine, on the least part in which the goal has a chance.

    Raises InputError if the goal holds already or can't be reached.
    """
    whole = planning_state(graph, request.vocabulary)
    if whole is None:
        raise InputError(NO_AGENT)
    if evaluate(request.goal, whole.graph, {}):
        raise InputError("the goal holds already: there is nothing to plan")
    for level in _levels(request, graph, whole):
        problem = _problem(request, level)
        if not problem.is_hopeless:
            return problem.domain, problem.problem
    raise InputError(unreachable_reason(request.goal, whole))


def planning_state(graph: SceneGraph, vocabulary: str, rules: Rules = NO_RULES) -> PlanningState | None:
    """Return the state of a scene, or a part of it, with its first agent; None if it has no agent."""
    chosen = vocabulary_named(vocabulary)
    operators, prepared = chosen.planning.prepare(chosen.operators, graph)
    agent = min(prepared.by_kind.get("Agent", ()), default=None)
    return None if agent is None else PlanningState(prepared, agent, operators_under(operators, rules), rules)


def _levels(request: PlanRequest, graph: SceneGraph, whole: PlanningState) -> list[PlanningState]:
    """Return what is planned on in turn: parts of the scene, first with approximate operators, at last all of it.

    Where the goal holds, only the actions that are required besides are looked for, in the parts.
    """
    planning = vocabulary_named(request.vocabulary).planning
    found: list[PlanningState] = []
    about = And((request.goal, *_concerned(request, graph)))
    for wide in (False, True):
        part = part_of(graph, about, wide=wide, small=planning.small_scene, operators=whole.operators)
        state = planning_state(part, request.vocabulary, request.rules)
        if state is not None and (not found or len(state.graph.nodes) > len(found[-1].graph.nodes)):
            found.append(replace(state, operators=planning.simplify(state.operators)))
    exact = [replace(found[-1], operators=whole.operators)] if found[-1].operators != whole.operators else []
    levels = [*found, *exact]
    if len(whole.graph.nodes) > MAX_WRITTEN_NODES or evaluate(request.goal, whole.graph, {}):
        return levels
    return [*(levels[:-1] if len(levels[-1].graph.nodes) == len(whole.graph.nodes) else levels), whole]


def _concerned(request: PlanRequest, graph: SceneGraph) -> Iterator[Condition]:
    """Yield the conditions of rules about things that the goal is about."""
    goal = sought_for(request.goal)
    classes = goal.classes | {graph.nodes[it].class_ for it in goal.ids & graph.nodes.keys()}
    for rule in request.rules.in_force:
        about = And((rule.fits, rule.condition, rule.begun))
        sought = sought_for(about)
        if sought.classes & classes or sought.ids & goal.ids:
            yield about


def _attempt(request: PlanRequest, state: PlanningState, whole: PlanningState, *, limit: TimeLimit) -> PlanOrReason:
    exact = replace(state, operators=whole.operators)
    if evaluate(request.goal, whole.graph, {}):
        return _with_required(request, (), exact, limit)
    problem = _problem(request, state)
    if problem.is_hopeless:
        return None, unreachable_reason(request.goal, state)
    answer = solve(problem.domain, problem.problem, limit, search=request.search)
    if answer.status != "solved":
        return None, answer.why
    plan = tuple(map(problem.call, answer.steps))
    with_all, why = _shortened(request, plan, exact, limit)
    if with_all is None:
        return None, why
    return _validated(with_all, request.goal, whole)


def plan_in_groups(request: PlanRequest, whole: PlanningState, limit: TimeLimit) -> PlanOrReason:
    """Return plans for a few parts of the goal at a time, one after another, each keeping what is reached."""
    plan: tuple[ActionCall, ...] = ()
    parts, reached, size = in_serial_order(request.goal, whole.graph), 0, GROUP
    state = whole
    while reached < len(parts):
        found, why = _next_group(request, parts, range(reached, reached + size), state, limit)
        if found is not None:
            plan, state, reached = plan + found, state.after(*found), reached + size
        elif size > 1 and not limit.is_over():
            size = 1
        else:
            return None, why
    found, why = _validated(plan, request.goal, whole)
    return (None, why) if found is None else _with_required(request, found, whole, limit)


def _next_group(
    request: PlanRequest, parts: Sequence[Condition], group: range, state: PlanningState, limit: TimeLimit
) -> PlanOrReason:
    """Return a plan for a group of parts that keeps those before it: first without mentioning these."""
    kept, why = And(tuple(parts[: group.stop])), ""
    for goal in (And(tuple(parts[group.start : group.stop])), kept):
        asked = replace(request, goal=goal, required_actions=())
        level, *_ = _levels(asked, state.graph, state)
        found, why = _attempt(asked, level, state, limit=limit)
        if found is not None and evaluate(kept, state.after(*found).graph, {}):
            return found, ""
    return None, why or "the plan does not keep what was reached"


def _problem(request: PlanRequest, state: PlanningState) -> WrittenProblem:
    chosen = vocabulary_named(request.vocabulary)
    types = chosen.conventions.containment
    one_parent = chosen.planning.keeps_one_parent and not any(parent_faults(state.graph, types))
    parents = frozenset((*types, *HOLDING)) if one_parent else frozenset[str]()
    never = [*state.never, *(has_run_out(it) for it in state.rules.duties if it.unit == "actions")]
    return write_problem(state.operators, state.graph, state.agent, request.goal, parents=parents, never=never)


def _shortened(
    request: PlanRequest, plan: tuple[ActionCall, ...], state: PlanningState, limit: TimeLimit
) -> PlanOrReason:
    """Return the plan without needless actions, and with those that the task requires besides."""
    found, why = _validated(plan, request.goal, state)
    if found is None:
        return None, why
    if len(plan) <= MAX_SHORTENED:
        found = shorten_plan(plan, request.goal, state)
    return _with_required(request, found, state, limit)


def _with_required(
    request: PlanRequest, found: tuple[ActionCall, ...], state: PlanningState, limit: TimeLimit
) -> PlanOrReason:
    """Return the plan, followed by the required actions if a way to do them after it is found in the time left."""
    more = plan_required(request.required_actions, request.goal, state.after(*found), is_over=limit.is_over)
    if more is None and not found:
        required = ", then ".join(" or ".join(it) for it in request.required_actions)
        return None, f"the goal holds, but no way was found to {required} as well, which the task asks for"
    return found + (more or ()), ""


def _validated(plan: tuple[ActionCall, ...], goal: Condition, state: PlanningState) -> PlanOrReason:
    """Return the plan if the operators can carry it out and it reaches the goal."""
    try:
        end = state.after(*plan)
    except ActionRefused as refusal:
        return None, f"the plan does not work: {refusal}"
    return (plan, "") if evaluate(goal, end.graph, {}) else (None, "the plan does not reach the goal")


def shorten_plan(plan: Sequence[ActionCall], goal: Condition, state: PlanningState) -> tuple[ActionCall, ...]:
    """Return the plan without actions that nothing after them needs, tested one by one (action elimination)."""
    kept, number = tuple(plan), 0
    while number < len(kept):
        others = [*state.as_possible(kept[number + 1 :])]
        end = others[-1][1] if others else state
        if evaluate(goal, end.graph, {}):
            kept = (*kept[:number], *(call for call, _ in others))
        else:
            state = state.after(kept[number])
            number += 1
    return kept


def why_unreachable(goal: Condition, state: PlanningState | None) -> str:
    """Return in words which part of a goal no action can bring about; empty if none is known, or there is no agent."""
    if state is None or evaluate(goal, state.graph, {}):
        return ""
    part = unreachable_part(goal, state)
    match part:
        case None:
            return ""
        case HasState():
            return f"no action makes {explain(part, state.graph, {}).replace(' is ', ' ', 1)}"
        case _ if is_static(part) or sought_for(part).ids - state.graph.nodes.keys():
            return unreachable_reason(goal, state)
        case _:
            return f"no action brings it about that {explain(part, state.graph, {})}"


def unreachable_reason(goal: Condition, state: PlanningState) -> str:
    """Return why a goal that no action can achieve, or none that is planned for, is unreachable."""
    missing = sorted(sought_for(goal).ids - state.graph.nodes.keys())
    asked = {it.key for it in atoms_of(goal) if isinstance(it, PropertyEquals)}
    effects = (effect for it in state.operators.values() for effect in simple_effects(it.effects))
    changed = sorted(asked & {effect.key for effect in effects if isinstance(effect, Assign | Forget)})
    if changed and not missing:
        return (
            f"goals about {', '.join(changed)} are not planned for, though actions change it: name the action instead"
        )
    if not missing:
        return "nothing that can be done makes the goal hold in this scene"
    return f"the goal is about {', '.join(missing[:MAX_NAMED])}, which this scene does not have: is it the task's own?"

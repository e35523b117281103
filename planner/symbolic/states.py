"""Scenes as planning has them in memory: plans carried out, actions that a task requires besides, order by rooms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product, takewhile
from typing import Final, TypeAlias

from scenecypher.db.condition import And, Condition, Exists, Id, Or, bind, conjuncts, evaluate, witnesses
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rule_memory import decide
from scenecypher.db.rules import NO_RULES, PATH, Rules, keys_of
from scenecypher.errors import ActionRefused, RuleBroken
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.actions.operator import AGENT, Operator, is_static, variables_of
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.prompts.layout import SceneLayout
from scenecypher.planner.symbolic.parts import sought_for
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

RequiredAction: TypeAlias = tuple[str, ...]
"""Alternatives, one of which must be done, spelt as in the data sets: our action names without underscores."""

MAX_REPAIRS: Final = 4
"""Maximum number of repairs, and their maximum depth, before one action."""


@dataclass(frozen=True)
class PlanningState:
    """A scene or a part of it at one time, with its agent and operators, and the rules of the house."""

    graph: SceneGraph
    agent: str
    operators: Mapping[str, Operator]
    rules: Rules = NO_RULES

    @cached_property
    def never(self) -> Mapping[Condition, frozenset[str]]:
        """What a plan must never bring about by `never` rules, each with the states and relations that it reads."""
        found = (planned_never(it.condition, self.graph) for it in self.rules.never)
        return {it: frozenset(str(key[0]).removeprefix(PATH) for key in keys_of(it)) for it in found}

    def after(self, *plan: ActionCall) -> PlanningState:
        """Return the state after the plan. Raises Infeasible, RuleBroken."""
        graph = self.graph
        for call in plan:
            graph = apply_call(call, graph, operators=self.operators, agent=self.agent, rules=self.rules)
        return replace(self, graph=graph)

    def as_possible(self, plan: Iterable[ActionCall]) -> Iterator[tuple[ActionCall, PlanningState]]:
        """Yield the actions of a plan that can be carried out in turn, each with the state after it."""
        state = self
        for call in plan:
            with suppress(ActionRefused):
                state = state.after(call)
                yield call, state


def planned_never(condition: Condition, graph: SceneGraph) -> Condition:
    """Return what a plan must not bring about: a condition, but for the ways in which it is so at the start."""
    if not evaluate(condition, graph, {}):
        return condition
    return Or(tuple(it for it in _ways(condition, graph) if not evaluate(it, graph, {})))


def _ways(condition: Condition, graph: SceneGraph) -> Iterator[Condition]:
    """Yield the conditions of single nodes of which any makes a condition true."""
    match condition:
        case Or(parts):
            for part in parts:
                yield from _ways(part, graph)
        case And(parts):
            yield from map(And, product(*(tuple(_ways(it, graph)) for it in parts)))
        case Exists(var, where):
            fixed = And(tuple(it for it in conjuncts(where) if is_static(it) and variables_of(it) == {var}))
            for node in witnesses(var, fixed, graph=graph, bindings={}):
                yield from _ways(bind(where, {var: Id(node)}), graph)
        case _:
            yield condition


def apply_call(
    call: ActionCall, graph: SceneGraph, *, operators: Mapping[str, Operator], agent: str, rules: Rules = NO_RULES
) -> SceneGraph:
    """Return the graph after an action. Raises Infeasible, RuleBroken."""
    operator = operators[call.name]
    names = (parameter.name for parameter in operator.parameters)
    arguments = {AGENT: agent, **dict(zip(names, call.arguments, strict=True))}
    delta = simulate(operator, graph, arguments, action=str(call))
    return apply(graph, decide(rules, graph, delta, action=str(call)))


def plan_required(
    required_actions: Sequence[RequiredAction],
    goal: Condition,
    state: PlanningState,
    *,
    is_over: Callable[[], bool] = lambda: False,
) -> tuple[ActionCall, ...] | None:
    """Return actions that do each required action in order and keep the goal true; None if none are found.

    What was found when time `is_over` counts.

    Of the candidates, take the fewest actions, and prefer arguments that the goal names.
    """
    plan: tuple[ActionCall, ...] = ()
    goal_ids = sought_for(goal).ids
    for required in required_actions:
        attempts = takewhile(lambda _: not is_over(), _attempts(required, state))
        found = [steps for steps in attempts if steps and evaluate(goal, state.after(*steps).graph, {})]
        if not found:
            return None
        best = min(found, key=lambda steps: (len(steps), not goal_ids & {*steps[-1].arguments}, tuple(map(str, steps))))
        plan, state = plan + best, state.after(*best)
    return plan


def _attempts(required: RequiredAction, state: PlanningState) -> Iterator[tuple[ActionCall, ...] | None]:
    """Yield a plan for one required action with each arguments, preceded by its repairs; None where these fail."""
    nodes = sorted({*state.graph.nodes} - {state.agent})
    for operator in state.operators.values():
        if operator.name.replace("_", "") in required:
            for arguments in product(nodes, repeat=len(operator.parameters)):
                yield with_repairs(ActionCall(operator.name, arguments), state, MAX_REPAIRS)


def with_repairs(call: ActionCall, state: PlanningState, depth: int) -> tuple[ActionCall, ...] | None:
    """Return the action preceded by the repairs that its refusals name, `depth` deep; None if these do not suffice."""
    steps: tuple[ActionCall, ...] = ()
    for _ in range(MAX_REPAIRS):
        try:
            state.after(call)
        except Infeasible as refusal:
            remedy = refusal.unmet[0].remedy
            if depth == 0 or remedy is None or any(part.requirement.repair is None for part in refusal.unmet):
                return None
            first = with_repairs(remedy, state, depth - 1)
            if first is None:
                return None
            steps, state = steps + first, state.after(*first)
        except RuleBroken:
            return None
        else:
            return (*steps, call)
    return None


MAX_ORDERED: Final = 60
"""Maximum length of a plan that is ordered, at quadratic cost."""


@dataclass(frozen=True, slots=True)
class _Walked:
    """A plan's actions that are possible in their order, the rooms of the agent from the start on, and the end."""

    plan: tuple[ActionCall, ...]
    rooms: tuple[str | None, ...]
    end: SceneGraph

    @property
    def changes(self) -> int:
        """Return how often the agent changes rooms."""
        return sum(one != other for one, other in pairwise(self.rooms))


def order_by_rooms(
    plan: Sequence[ActionCall], goal: Condition, state: PlanningState, vocabulary: str
) -> tuple[ActionCall, ...]:
    """Return a plan for `goal` with fewer changes of rooms, if moving blocks of it gives one, else the plan itself.

    What is moved is what is done in one room, all of it or from one going to a thing to the next.
    """
    approach = vocabulary_named(vocabulary).words.approach
    if approach is None or len(plan) > MAX_ORDERED:
        return tuple(plan)
    best, improved = _walk(plan, state, vocabulary), True
    while improved:
        improved = False
        for changed in _rearranged(best, approach.go):
            other = _walk(changed, state, vocabulary)
            if other.changes < best.changes and evaluate(goal, other.end, {}):
                best, improved = other, True
                break
    return best.plan


def _walk(plan: Sequence[ActionCall], state: PlanningState, vocabulary: str) -> _Walked:
    """Carry out a plan in memory, without the actions that are not possible."""
    steps = [*state.as_possible(plan)]
    graphs = [state.graph, *(after.graph for _, after in steps)]
    rooms = tuple(SceneLayout(graph, vocabulary).here for graph in graphs)
    return _Walked(tuple(call for call, _ in steps), rooms, graphs[-1])


def _rearranged(walked: _Walked, going: Collection[str]) -> Iterator[tuple[ActionCall, ...]]:
    """Yield the plans in which a block stands next to a later one in the same room."""
    plan, rooms = walked.plan, walked.rooms[1:]
    blocks = [*dict.fromkeys((*_blocks(plan, rooms, going), *_blocks(plan, rooms, ())))]
    for one, other in product(blocks, blocks):
        if one.stop < other.start and rooms[one.start] == rooms[other.start]:
            between = range(one.stop, other.start)
            for order in ((*one, *other, *between), (*between, *one, *other)):
                yield (*plan[: one.start], *(plan[number] for number in order), *plan[other.stop :])


def _blocks(plan: Sequence[ActionCall], rooms: Sequence[str | None], going: Collection[str]) -> Iterator[range]:
    """Yield the stretches of actions in one room; actions of `going` begin new ones."""
    starts = (it for it, call in enumerate(plan) if it == 0 or rooms[it] != rooms[it - 1] or call.name in going)
    yield from (range(*ends) for ends in pairwise((*starts, len(plan))))

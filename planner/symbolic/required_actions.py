"""Actions that a task requires besides its goal: done after the goal is reached, keeping it true."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product, takewhile
from typing import Final, TypeAlias

from scenecypher.db.condition import And, Condition, Exists, Id, Or, bind, conjuncts, evaluate, witnesses
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rule_memory import decide
from scenecypher.db.rules import NO_RULES, PATH, Rules, keys_of
from scenecypher.errors import RuleBroken
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.actions.operator import AGENT, Operator
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.actions.variables import is_static, variables_of
from scenecypher.planner.symbolic.parts import sought_for

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

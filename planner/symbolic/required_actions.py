"""Actions that a task requires besides its goal: done after the goal is reached, keeping it true."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product, takewhile
from typing import Final, TypeAlias

from scenecypher.db.condition import Condition, evaluate
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rule_memory import decide
from scenecypher.db.rules import NO_RULES, Rules
from scenecypher.errors import RuleBroken
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.actions.operator import AGENT, Operator
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.symbolic.parts import sought_for

RequiredAction: TypeAlias = tuple[str, ...]
"""Alternatives, one of which must be done, spelt as in the data sets: our action names without underscores."""

MAX_REPAIRS: Final = 4
"""Maximum number of repairs, and their maximum depth, before one action."""


@dataclass(frozen=True, slots=True)
class PlanningState:
    """A scene or a part of it at one time, with its agent and operators, and the rules of the house."""

    graph: SceneGraph
    agent: str
    operators: Mapping[str, Operator]
    rules: Rules = NO_RULES

    def after(self, *plan: ActionCall) -> PlanningState:
        """Return the state after the plan. Raises Infeasible, RuleBroken."""
        graph = self.graph
        for call in plan:
            graph = apply_call(call, graph, operators=self.operators, agent=self.agent, rules=self.rules)
        return replace(self, graph=graph)


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

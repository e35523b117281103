"""Actions that a task asks for beside its goal: they are done where the goal holds already, and leave it so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, TypeAlias

from scenecypher.db.condition import Condition, evaluate
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.actions.operator import AGENT, Operator
from scenecypher.planner.actions.pddl_part import sought_for
from scenecypher.planner.actions.text import ActionCall

RequiredAction: TypeAlias = tuple[str, ...]
"""Alternatives, in the words of the data sets, which write our actions without underscores: one must be done."""

MAX_REPAIRS: Final = 4
"""How many actions in a row a rule puts before one that is not possible yet."""


@dataclass(frozen=True, slots=True)
class PlanningState:
    """A scene, or a part of it, as it is at some time, who acts there, and with which operators."""

    graph: SceneGraph
    agent: str
    operators: Mapping[str, Operator]

    def after(self, *plan: ActionCall) -> PlanningState:
        """When the plan is carried out. Raises Infeasible."""
        graph = self.graph
        for call in plan:
            graph = apply_call(call, graph, operators=self.operators, agent=self.agent)
        return replace(self, graph=graph)


def apply_call(call: ActionCall, graph: SceneGraph, *, operators: Mapping[str, Operator], agent: str) -> SceneGraph:
    """The graph after an action. Raises Infeasible."""
    operator = operators[call.name]
    names = (parameter.name for parameter in operator.parameters)
    arguments = {AGENT: agent, **dict(zip(names, call.arguments, strict=True))}
    return apply(graph, simulate(operator, graph, arguments, action=str(call)))


def plan_required(
    required_actions: Sequence[RequiredAction], goal: Condition, state: PlanningState
) -> tuple[ActionCall, ...] | None:
    """Actions that do each of the deeds in order and leave the goal true; None where no few do.

    Of those the fewest, and rather with what the goal names than with anything else.
    """
    plan: tuple[ActionCall, ...] = ()
    named = sought_for(goal).ids
    for required in required_actions:
        found = [steps for steps in _attempts(required, state) if evaluate(goal, state.after(*steps).graph, {})]
        if not found:
            return None
        best = min(found, key=lambda steps: (len(steps), not named & {*steps[-1].arguments}, tuple(map(str, steps))))
        plan, state = plan + best, state.after(*best)
    return plan


def _attempts(required: RequiredAction, state: PlanningState) -> Iterator[tuple[ActionCall, ...]]:
    """The ways to do one, with anything, each with what has to be done first by rule."""
    nodes = sorted({*state.graph.nodes} - {state.agent})
    for operator in state.operators.values():
        if operator.name.replace("_", "") in required:
            for arguments in product(nodes, repeat=len(operator.parameters)):
                steps = _with_repairs(ActionCall(operator.name, arguments), state, MAX_REPAIRS)
                if steps is not None:
                    yield steps


def _with_repairs(call: ActionCall, state: PlanningState, depth: int) -> tuple[ActionCall, ...] | None:
    """The action with what its refusals say is to be done first; None where they say nothing, or too much."""
    steps: tuple[ActionCall, ...] = ()
    for _ in range(MAX_REPAIRS):
        try:
            state.after(call)
        except Infeasible as refusal:
            remedy = refusal.unmet[0].remedy
            if depth == 0 or remedy is None or any(part.requirement.repair is None for part in refusal.unmet):
                return None
            first = _with_repairs(remedy, state, depth - 1)
            if first is None:
                return None
            steps, state = steps + first, state.after(*first)
        else:
            return (*steps, call)
    return None

"""Rehearsal of a plan on a scene graph in memory: SayPlan's scene graph simulator, without commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.reference import resolve_reference
from scenecypher.errors import ActionRefused, UnknownReference
from scenecypher.planner.actions.execution import NO_AGENT
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.text import ActionCall, operator_of, parse_action
from scenecypher.planner.symbolic.required_actions import apply_call


def rehearse(graph: SceneGraph, plan: Sequence[str], *, operators: Mapping[str, Operator]) -> SceneGraph:
    """Return the graph after the plan of its first agent.

    Raises ActionRefused, UnknownReference at the first infeasible action; the message has its number.
    """
    agent = min(graph.by_kind.get("Agent", ()), default=None)
    if agent is None:
        raise ActionRefused("plan", [NO_AGENT])
    for number, action in enumerate(plan, 1):
        try:
            named = parse_action(action)
            call = ActionCall(named.name, tuple(resolve_reference(graph, it) for it in named.arguments))
            operator_of(call, operators)  # raises if there is none
            graph = apply_call(call, graph, operators=operators, agent=agent)
        except ActionRefused as refused:
            raise ActionRefused(f"step {number}, {action}", refused.reasons) from refused
        except UnknownReference as unknown:
            raise UnknownReference(f"step {number}, {action}: {unknown}") from unknown
    return graph

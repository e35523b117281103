"""Rehearsal of a plan on a scene graph in memory: SayPlan's scene graph simulator, without commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import ActionRefused, UnknownReference, did_you_mean
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
            call = _resolve_names(parse_action(action), graph)
            operator_of(call, operators)  # raises if there is none
            graph = apply_call(call, graph, operators=operators, agent=agent)
        except ActionRefused as refused:
            raise ActionRefused(f"step {number}, {action}", refused.reasons) from refused
        except UnknownReference as unknown:
            raise UnknownReference(f"step {number}, {action}: {unknown}") from unknown
    return graph


def _resolve_names(call: ActionCall, graph: SceneGraph) -> ActionCall:
    """Replace unique names and classes by ids. Raises UnknownReference."""
    return ActionCall(call.name, tuple(_id_of(word, graph) for word in call.arguments))


def _id_of(word: str, graph: SceneGraph) -> str:
    if word in graph:
        return word
    nodes = graph.nodes.values()
    for found in ([it.id for it in nodes if it.name == word], [it.id for it in nodes if it.class_ == word]):
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownReference(f"{word[:100]!r} can mean several nodes: {', '.join(sorted(found)[:10])}; use an id")
    raise UnknownReference(
        f"there is no node {word[:100]!r}{did_you_mean(word, tuple(graph.nodes))}; use the id of one"
    )

"""A plan carried out on a scene graph in memory: SayPlan's scene graph simulator, which commits nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from db.delta import apply
from db.scene import SceneGraph
from planner.actions.execution import Infeasible, simulate
from planner.actions.operator import AGENT, Operator
from planner.actions.text import Call, operator_of, parse
from scenecypher.errors import ActionRefused, UnknownReference, did_you_mean

MOST_INSERTED: Final = 8


def rehearse(
    graph: SceneGraph, plan: Sequence[str], *, operators: Mapping[str, Operator], fix: bool = False
) -> SceneGraph:
    """The graph after the plan; with `fix` what stands in the way is done first, by rule.

    Raises ActionRefused, UnknownReference at the first action that can't be, whose number the message tells.
    """
    agent = min(graph.by_kind.get("Agent", ()), default=None)
    if agent is None:
        raise ActionRefused("plan", ["this scene has no agent: choose one that has"])
    for number, action in enumerate(plan, 1):
        try:
            graph = _carried_out(_meant(parse(action), graph), graph, operators=operators, agent=agent, fix=fix)
        except ActionRefused as refused:
            raise ActionRefused(f"step {number}, {action}", refused.reasons) from refused
        except UnknownReference as unknown:
            raise UnknownReference(f"step {number}, {action}: {unknown}") from unknown
    return graph


def _carried_out(
    call: Call, graph: SceneGraph, *, operators: Mapping[str, Operator], agent: str, fix: bool
) -> SceneGraph:
    operator = operator_of(call, operators)
    names = (parameter.name for parameter in operator.parameters)
    arguments = {AGENT: agent, **dict(zip(names, call.arguments, strict=True))}
    for _ in range(MOST_INSERTED):
        try:
            return apply(graph, simulate(operator, graph, arguments, action=str(call)))
        except Infeasible as refusal:
            remedy = refusal.unmet[0].remedy
            if not fix or remedy is None or any(part.requirement.repair is None for part in refusal.unmet):
                raise
            graph = _carried_out(remedy, graph, operators=operators, agent=agent, fix=fix)
    return apply(graph, simulate(operator, graph, arguments, action=str(call)))


def _meant(call: Call, graph: SceneGraph) -> Call:
    """The call with ids for names and classes that only one node has. Raises UnknownReference."""
    return Call(call.name, tuple(_id_of(word, graph) for word in call.arguments))


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

"""What an agent can do with a node now, and what it can't, with the reason and what it needs first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rules import NO_RULES, Rules
from scenecypher.db.schema import HOLDING
from scenecypher.errors import InputError
from scenecypher.planner.actions.execution import bind_operator, unmet_requirements
from scenecypher.planner.actions.operator import AGENT, Operator
from scenecypher.planner.actions.ruled import refusal_by_rules, under_rules
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.vocabularies.registry import operators_of


@dataclass(frozen=True, slots=True)
class Doable:
    """An action about a node; `why_not` is empty if it can be done now."""

    action: str
    why_not: str = ""


def doable(graph: SceneGraph, vocabulary: str, node: str, rules: Rules = NO_RULES) -> tuple[Doable, ...]:
    """Return the actions on a node, and of what the agent holds with the node, those that can be done now first.

    Actions that the node will never allow, and those whose effect holds already, are left off. What breaks one of the
    `rules` of the house can't be done.
    """
    try:
        operators = operators_of(vocabulary)
    except InputError:  # a scene whose vocabulary is not installed here can be looked at
        return ()
    agent = min(graph.by_kind.get("Agent", ()), default=None)
    if agent is None or node == agent:
        return ()
    ruled = (under_rules(it, rules) for it in operators.values())
    found = (it for operator in ruled for it in _with(operator, graph, agent, node, rules))
    return tuple(sorted(found, key=lambda it: bool(it.why_not)))


def _with(operator: Operator, graph: SceneGraph, agent: str, node: str, rules: Rules) -> Iterator[Doable]:
    for arguments in _arguments(operator, graph, agent, node):
        given = {AGENT: agent, **dict(zip((it.name for it in operator.parameters), arguments, strict=True))}
        bindings = bind_operator(operator, graph, given)
        unmet = unmet_requirements(operator, graph, bindings)
        action = str(ActionCall(operator.name, arguments))
        if not unmet:
            yield Doable(action, refusal_by_rules(operator, rules, graph, given, action))
        elif all(it.requirement.fault == "missing" for it in unmet):
            yield Doable(action, "; ".join(it.words for it in unmet))


def _arguments(operator: Operator, graph: SceneGraph, agent: str, node: str) -> Iterator[tuple[str, ...]]:
    """Yield the node alone, or what the agent holds and the node."""
    if len(operator.parameters) == 1:
        yield (node,)
    elif len(operator.parameters) == 2:  # what is held, and where to
        yield from ((held, node) for held in sorted(graph.targets(agent, *HOLDING)) if held != node)

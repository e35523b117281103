"""Ground calls: the actions on nodes of a scene that may become possible, since what never changes allows them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice, product

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import GraphView, SceneGraph
from scenecypher.planner.actions.operator import AGENT, Operator
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.actions.variables import is_static, variables_of
from scenecypher.planner.symbolic.parts import part_of


def calls_for(
    goal: c.Condition, graph: SceneGraph, operators: Mapping[str, Operator], *, agent: str, most: int
) -> tuple[ActionCall, ...] | None:
    """Return the ground calls on all nodes; if these are over `most`, on the part of the scene that `goal` is about.

    They are in the order of the operators, then of the arguments. None if there are too many of either.
    """
    for part in (graph, part_of(graph, goal, wide=True, operators=operators), part_of(graph, goal, wide=False)):
        found = [*islice(_static_calls(operators, graph, among=part.nodes, agent=agent), most + 1)]
        if len(found) <= most:
            return tuple(found)
    return None


def _static_calls(
    operators: Mapping[str, Operator], graph: GraphView, *, among: Collection[str], agent: str
) -> Iterator[ActionCall]:
    """Yield the calls with arguments `among` these nodes that satisfy the requirements that never change."""
    for operator in operators.values():
        fixed, names = _fixed(operator), [parameter.name for parameter in operator.parameters]
        for chosen in product(*_fitting(operator, graph, among)):
            arguments = {AGENT: agent, **dict(zip(names, chosen, strict=True))}
            if all(c.evaluate(condition, graph, arguments) for condition in fixed):
                yield ActionCall(operator.name, chosen)


def afforded(operators: Mapping[str, Operator], graph: GraphView) -> dict[str, Operator]:
    """Return the operators for each of whose parameters the scene has a node that may ever serve."""
    return {name: it for name, it in operators.items() if all(_fitting(it, graph, graph.nodes))}


def usable(operators: Mapping[str, Operator], graph: GraphView, among: Collection[str]) -> frozenset[str]:
    """Return the nodes `among` these that are what some action asks its argument to be, such as grabbable."""
    found = set[str]()
    for operator in operators.values():
        asked = {it.condition for it in operator.requires if it.fault == "affordance"}
        for parameter in operator.parameters:
            own = [it for it in _fixed(operator) if it in asked and variables_of(it) == {parameter.name}]
            left = {*among} - found if own else set[str]()
            found |= {x for x in left if all(c.evaluate(it, graph, {parameter.name: x}) for it in own)}
    return frozenset(found)


def _fixed(operator: Operator) -> list[c.Condition]:
    """Return the requirements that never change and ask for no choice."""
    open_ = {choice.var for choice in operator.choose}
    conditions = (part.condition for part in operator.requires)
    return [it for it in conditions if is_static(it) and not open_ & variables_of(it)]


def _fitting(operator: Operator, graph: GraphView, among: Collection[str]) -> list[list[str]]:
    """Return for each parameter the nodes that meet its own requirements that never change, by id."""
    fixed = _fixed(operator)
    own = {it.name: [part for part in fixed if variables_of(part) == {it.name}] for it in operator.parameters}
    return [
        [x for x in sorted(among) if all(c.evaluate(it, graph, {name: x}) for it in conditions)]
        for name, conditions in own.items()
    ]

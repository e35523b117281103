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
    ids = sorted(among)
    for operator in operators.values():
        names = [parameter.name for parameter in operator.parameters]
        open_ = {choice.var for choice in operator.choose}
        conditions = (part.condition for part in operator.requires)
        fixed = [it for it in conditions if is_static(it) and not open_ & variables_of(it)]
        own = {name: [it for it in fixed if variables_of(it) == {name}] for name in names}
        fitting = [[x for x in ids if all(c.evaluate(it, graph, {name: x}) for it in own[name])] for name in names]
        for chosen in product(*fitting):
            arguments = {AGENT: agent, **dict(zip(names, chosen, strict=True))}
            if all(c.evaluate(condition, graph, arguments) for condition in fixed):
                yield ActionCall(operator.name, chosen)

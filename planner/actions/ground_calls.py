"""Ground calls: the actions on nodes of a scene that may become possible, since what never changes allows them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice, product

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import GraphView, SceneGraph
from scenecypher.planner.actions.operator import AGENT, Operator
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.actions.variables import variables_of
from scenecypher.planner.symbolic.parts import part_of


def static_calls(
    operators: Mapping[str, Operator], graph: GraphView, *, among: Collection[str], agent: str
) -> Iterator[tuple[Operator, dict[str, str] | None]]:
    """Yield operators with arguments `among` these nodes that satisfy the requirements that never change.

    A choice of arguments that does not is yielded as None, so that the consumer can watch the clock.
    """
    ids = sorted(among)
    for operator in operators.values():
        names = [parameter.name for parameter in operator.parameters]
        chosen_vars = frozenset(choice.var for choice in operator.choose)
        fixed = [part.condition for part in operator.requires if _is_static(part.condition, chosen_vars)]
        own = {name: [it for it in fixed if variables_of(it) == {name}] for name in names}
        fitting = [[x for x in ids if all(c.evaluate(it, graph, {name: x}) for it in own[name])] for name in names]
        for chosen in product(*fitting):
            arguments = {AGENT: agent, **dict(zip(names, chosen, strict=True))}
            is_possible = all(c.evaluate(condition, graph, arguments) for condition in fixed)
            yield operator, arguments if is_possible else None


def calls_for(
    goal: c.Condition, graph: SceneGraph, operators: Mapping[str, Operator], *, agent: str, most: int
) -> tuple[ActionCall, ...] | None:
    """Return the ground calls on all nodes; if these are over `most`, on the part of the scene that `goal` is about.

    They are in the order of the operators, then of the arguments. None if there are too many of either.
    """
    for part in (graph, part_of(graph, goal, wide=True, operators=operators), part_of(graph, goal, wide=False)):
        possible = (it for it in static_calls(operators, graph, among=part.nodes, agent=agent) if it[1] is not None)
        found = [_call(operator, arguments or {}) for operator, arguments in islice(possible, most + 1)]
        if len(found) <= most:
            return tuple(found)
    return None


def _call(operator: Operator, arguments: Mapping[str, str]) -> ActionCall:
    return ActionCall(operator.name, tuple(arguments[parameter.name] for parameter in operator.parameters))


def _is_static(condition: c.Condition, chosen: frozenset[str]) -> bool:
    """Return whether no action can change the condition's value and it mentions no chosen variable."""
    match condition:
        case c.And() | c.Or():
            return all(_is_static(part, chosen) for part in condition.parts)
        case c.Not():
            return _is_static(condition.part, chosen)
        case c.HasAffordance() | c.HasClass() | c.HasKind() | c.PropertyEquals() | c.Same():
            return not chosen & {*c.terms(condition)}
        case _:
            return False

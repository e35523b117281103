"""Parts of a goal that can be planned for one after another, in an order that stays in a room."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.planner.actions.pddl_variables import atoms_of
from scenecypher.planner.prompts.layout import SceneLayout

Quantified: TypeAlias = c.Exists | c.AtLeast


def goal_parts(goal: c.Condition, graph: SceneGraph, vocabulary: str) -> tuple[c.Condition, ...]:
    """Return parts that make the goal true together: states last, and else by room, the agent's first.

    Where the goal leaves open which node is meant, nodes are chosen of which most holds already, then by room.
    """
    layout = SceneLayout(graph, vocabulary)
    parts = dict.fromkeys(_parts(goal, layout))
    return tuple(sorted(parts, key=lambda part: (isinstance(part, c.HasState), *_place(part, layout))))


def _parts(goal: c.Condition, layout: SceneLayout) -> Iterator[c.Condition]:
    graph = layout.graph
    match goal:
        case c.And():
            for part in goal.parts:
                yield from _parts(part, layout)
        case c.ForAll() if all(map(is_lasting, c.conjuncts(goal.where))):
            for node in c.witnesses(goal.var, goal.where, graph=graph, bindings={}):
                yield from _parts(c.bind(goal.then, {goal.var: c.Id(node)}), layout)
        case c.AtLeast() | c.Exists():
            yield from _chosen(goal, layout)
        case _:
            yield goal


def _chosen(goal: Quantified, layout: SceneLayout) -> Iterator[c.Condition]:
    """Yield the parts for chosen nodes; the goal itself if that would leave one part, or if there are too few nodes."""
    number = goal.n if isinstance(goal, c.AtLeast) else 1
    among = c.And(tuple(part for part in c.conjuncts(goal.where) if is_lasting(part)))
    asked = [part for part in c.conjuncts(goal.where) if not is_lasting(part)]
    found = [*c.witnesses(goal.var, among, graph=layout.graph, bindings={})] if among.parts else []
    choices = {node: [*_parts(c.bind(c.And(tuple(asked)), {goal.var: c.Id(node)}), layout)] for node in found}
    if len(found) < number or (sum(map(len, choices.values())) <= len(found) and number == 1):
        yield goal
        return
    for node in islice(sorted(choices, key=lambda it: (_left(choices[it], layout), *_room(it, layout), it)), number):
        yield from choices[node]


def is_lasting(condition: c.Condition) -> bool:
    """Check if no action changes the value of a condition: it is about what nodes are."""
    match condition:
        case c.Not():
            return is_lasting(condition.part)
        case c.HasClass() | c.HasKind() | c.HasAffordance() | c.PropertyEquals() | c.Same():
            return True
        case _:
            return False


def _left(parts: list[c.Condition], layout: SceneLayout) -> int:
    """Return the number of parts that do not hold yet."""
    return sum(not c.evaluate(part, layout.graph, {}) for part in parts)


def _place(part: c.Condition, layout: SceneLayout) -> tuple[bool, str, str]:
    """Return the room of the first node that a part names, as a key to sort by, and the last node."""
    ids = [term.id for atom in atoms_of(part) for term in c.terms(atom) if isinstance(term, c.Id)]
    return (*_room(ids[0], layout), ids[-1]) if ids else (True, "", "")


def _room(node: str, layout: SceneLayout) -> tuple[bool, str]:
    room = layout.room_of(node) if node in layout.graph else None
    return room != layout.here, room or ""

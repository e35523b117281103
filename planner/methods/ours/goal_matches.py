"""What a goal matches in a scene now: the candidates of its variables by room, and what holds already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.actions.variables import is_static
from scenecypher.planner.prompts.layout import SceneLayout, is_confirmed
from scenecypher.planner.symbolic.parts import sought_for

MAX_LISTED: Final = 6
"""Nodes of a room that are listed; more are counted."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The nodes of `classes` that a variable may mean, those of which the goal holds already, and how many it needs."""

    var: str
    nodes: tuple[str, ...]
    met: tuple[str, ...]
    needed: int
    classes: frozenset[str]

    @property
    def is_open(self) -> bool:
        """Check if the goal leaves open which nodes are meant."""
        return len(self.nodes) > self.needed > len(self.met)

    @property
    def is_notable(self) -> bool:
        """Check if the goal may mean another thing than was meant."""
        return self.is_open or len(self.nodes) < max(1, self.needed)


def candidates(goal: c.Condition, graph: SceneGraph) -> Iterator[Candidates]:
    """Yield the candidates of each variable that is bound outside of a negation, outer variables first."""
    match goal:
        case c.And():
            for part in goal.parts:
                yield from candidates(part, graph)
        case c.ForAll() | c.Exists() | c.AtLeast():
            among, asked = _guard(goal), goal.then if isinstance(goal, c.ForAll) else goal.where
            if among:
                nodes = tuple(sorted(c.witnesses(goal.var, c.And(among), graph=graph, bindings={})))
                met = tuple(node for node in nodes if c.evaluate(asked, graph, {goal.var: node}))
                classes = frozenset(part.class_ for part in among if isinstance(part, c.HasClass))
                yield Candidates(goal.var, nodes, met, _needed(goal, nodes), classes)
            yield from candidates(asked, graph)
        case _:
            return


def match_words(goal: c.Condition, graph: SceneGraph, vocabulary: str) -> tuple[str, bool]:
    """Return what the goal matches, a line for each variable, and whether the model should be asked about it."""
    found, holds = [*candidates(goal, graph)], c.evaluate(goal, graph, {})
    lines = [_words(each, SceneLayout(graph, vocabulary)) for each in found]
    if holds:
        lines.append("The goal holds already: nothing would be done for it.")
    return "\n".join(lines), holds or any(each.is_notable for each in found)


def lost_classes(goal: c.Condition, graph: SceneGraph, vocabulary: str) -> list[str]:
    """Return the classes of which the goal needs more things than have a known place."""
    layout, types = SceneLayout(graph, vocabulary), conventions_of(vocabulary).containment

    def is_lost(node: str) -> bool:
        placed = graph.targets(node, *types) or layout.holder(node)
        return not placed and not is_confirmed(graph.nodes[node])

    lost = {graph.nodes[it].class_ for it in sought_for(goal).ids & graph.nodes.keys() if is_lost(it)}
    for each in candidates(goal, graph):
        is_unknown = not any(graph.by_class.get(class_) for class_ in each.classes)
        if is_unknown or (each.nodes and sum(not is_lost(it) for it in each.nodes) < each.needed):
            lost |= each.classes
    return sorted(lost)


def _guard(goal: c.ForAll | c.Exists | c.AtLeast) -> tuple[c.Condition, ...]:
    """Return what the variable ranges over: its class and the like, without what relates it to others."""
    parts = (part for part in c.conjuncts(goal.where) if is_static(part) and not isinstance(part, c.Not | c.HasKind))
    return tuple(parts)


def _needed(goal: c.ForAll | c.Exists | c.AtLeast, nodes: Sequence[str]) -> int:
    match goal:
        case c.ForAll():
            return len(nodes)
        case c.AtLeast():
            return goal.n
        case _:
            return 1


def _words(found: Candidates, layout: SceneLayout) -> str:
    if not found.nodes:
        return f"{found.var}: none is known."
    rooms: dict[str, list[str]] = {}
    for node in found.nodes:
        rooms.setdefault(layout.room_of(node) or "no known room", []).append(node)
    where = "; ".join(f"in {room}: {_listed(nodes)}" for room, nodes in sorted(rooms.items()))
    number = len(found.nodes)
    which = f"{found.needed} of {number}, any of them" if found.is_open else f"{found.needed} of {number}"
    already = f" It holds already for {_listed(found.met)}." if found.met else ""
    return f"{found.var}: {which}; {where}.{already}"


def _listed(nodes: Sequence[str]) -> str:
    more = len(nodes) - MAX_LISTED
    return ", ".join(islice(nodes, MAX_LISTED)) + (f" and {more} more" if more > 0 else "")

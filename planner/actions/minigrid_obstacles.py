"""What stands before a door, for planning in BabyAI: the graph's cells say it, its relations do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from scenecypher.db.condition import And, Exists, HasState, Not, Or, Related, Same
from scenecypher.db.graph.scene import Point, Relation, SceneGraph
from scenecypher.planner.actions.babyai import OPERATORS
from scenecypher.planner.actions.operator import Operator, Requirement, Unrelate

BLOCKS: Final = "BLOCKS"
"""An item in the cell before a door. It is in no scene: only a copy that is planned on has it."""

_HURDLE: Final = And((Related("hurdle", BLOCKS, "door"), Not(Same("hurdle", "x"))))
_WAY: Final = And((Related("door", "CONNECTS", "there"), HasState("door", "open"), Not(Exists("hurdle", _HURDLE))))
A_FREE_WAY: Final = Requirement(
    Or((Same("here", "there"), Exists("door", _WAY))), "something stands in the way to {x}: remove it first"
)
FREE_DOOR: Final = Requirement(
    Not(Exists("hurdle", And((Related("hurdle", BLOCKS, "x"), Related("hurdle", "INSIDE", "there"))))),
    "something stands before {x}: remove it first",
)


def with_hurdles(graph: SceneGraph) -> SceneGraph:
    """The graph with what stands before its doors, as far as cells are known."""
    doors = graph.by_kind.get("Door", ())
    items = graph.by_kind.get("Object", ())
    hurdles = {Relation(item, BLOCKS, door) for door in doors for item in items if _side_by_side(graph, item, door)}
    return SceneGraph.of(graph.nodes.values(), graph.relations | hurdles)


def hindered() -> Mapping[str, Operator]:
    """BabyAI's operators as MiniGrid lets them be carried out where such things stand."""
    lifted = {name: _lifting(OPERATORS[name]) for name in ("pickup", "remove")}
    opened = replace(OPERATORS["open"], requires=(*OPERATORS["open"].requires, A_FREE_WAY, FREE_DOOR))
    return {**lifted, "open": opened}


def _lifting(operator: Operator) -> Operator:
    effects = (*operator.effects, Unrelate("x", (BLOCKS,)))
    return replace(operator, requires=(*operator.requires, A_FREE_WAY), effects=effects)


def _side_by_side(graph: SceneGraph, one: str, other: str) -> bool:
    match [graph.nodes[node].properties.get("center") for node in (one, other)]:
        case [Point() as a, Point() as b]:
            return abs(a.x - b.x) + abs(a.y - b.y) == 1
    return False

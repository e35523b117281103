"""Obstacles before doors, for planning in BabyAI: derived from the graph's cells, since no relation states them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.condition import And, Exists, HasState, Not, Or, Related, Same
from scenecypher.db.graph.scene import Point, Relation, SceneGraph
from scenecypher.planner.actions.operator import Operator, Requirement, Unrelate
from scenecypher.planner.vocabularies.vocabulary import Operators

BLOCKS: Final = "BLOCKS"
"""An item in the cell before a door. Scenes do not have this relation, only the copy that is planned on."""

_OBSTACLE: Final = And((Related("obstacle", BLOCKS, "door"), Not(Same("obstacle", "x"))))
_OPEN_CLEAR_DOOR: Final = And(
    (Related("door", "CONNECTS", "there"), HasState("door", "open"), Not(Exists("obstacle", _OBSTACLE)))
)
CLEAR_PATH: Final = Requirement(
    Or((Same("here", "there"), Exists("door", _OPEN_CLEAR_DOOR))), "something stands in the way to {x}: remove it first"
)
CLEAR_DOOR: Final = Requirement(
    Not(Exists("obstacle", And((Related("obstacle", BLOCKS, "x"), Related("obstacle", "INSIDE", "there"))))),
    "something stands before {x}: remove it first",
)


def with_obstacles(operators: Operators, graph: SceneGraph) -> tuple[Operators, SceneGraph]:
    """Return the operators with MiniGrid's requirements about obstacles, and the graph with its obstacles."""
    return _operators_with_obstacles(operators), _graph_with_obstacles(graph)


def _graph_with_obstacles(graph: SceneGraph) -> SceneGraph:
    """Return the graph with BLOCKS relations for the items before its doors, as far as cells are known."""
    doors = graph.by_kind.get("Door", ())
    items = graph.by_kind.get("Object", ())
    obstacles = {Relation(item, BLOCKS, door) for door in doors for item in items if _adjacent(graph, item, door)}
    return SceneGraph.of(graph.nodes.values(), graph.relations | obstacles)


def _operators_with_obstacles(operators: Operators) -> Operators:
    clearing = {name: _with_clearing(operators[name]) for name in ("pickup", "remove")}
    opened = replace(operators["open"], requires=(*operators["open"].requires, CLEAR_PATH, CLEAR_DOOR))
    return {**clearing, "open": opened}


def _with_clearing(operator: Operator) -> Operator:
    effects = (*operator.effects, Unrelate("x", (BLOCKS,)))
    return replace(operator, requires=(*operator.requires, CLEAR_PATH), effects=effects)


def _adjacent(graph: SceneGraph, one: str, other: str) -> bool:
    match [graph.nodes[node].properties.get("center") for node in (one, other)]:
        case [Point() as a, Point() as b]:
            return abs(a.x - b.x) + abs(a.y - b.y) == 1
    return False

"""Small homes in four forms that files have: silent, with rooms stated twice, with affordances, and without rooms."""

from __future__ import annotations

from typing import Final

from scenecypher.db.graph.scene import Node, Relation, SceneGraph

ROBOT: Final = "robot"


def node(id_: str, kind: str, *, states: str = "", affordances: str = "") -> Node:
    return Node(id_, kind, id_, id_.rpartition("-")[0] or id_, tuple(states.split()), tuple(affordances.split()))


NODES: Final = (
    node("kitchen", "Place"),
    node("hall", "Place"),
    node(ROBOT, "Agent"),
    node("visitor", "Agent"),
    node("table", "Asset"),
    node("fridge", "Asset", states="closed"),
    node("lamp", "Asset", states="off"),
    node("shelf", "Asset"),
    node("tray", "Object", affordances="surfaces"),
    node("jar", "Object", states="closed"),
    node("cup", "Object"),
    node("apple", "Object"),
    node("key", "Object"),
)
RELATIONS: Final = tuple(
    Relation(*row)
    for row in (
        *((x, "INSIDE", "kitchen") for x in ("table", "fridge", "lamp")),
        *((x, "INSIDE", "hall") for x in (ROBOT, "visitor", "shelf", "key")),
        ("tray", "ON", "table"),
        ("cup", "ON", "tray"),
        ("jar", "ON", "shelf"),
        ("apple", "INSIDE", "fridge"),
    )
)

SILENT: Final = SceneGraph.of(NODES, RELATIONS)
"""A home as somebody writes it by hand: no affordance but that of the tray, each thing in one place."""

TWICE: Final = SceneGraph.of(
    NODES,
    {
        *RELATIONS,
        *(Relation(x, "INSIDE", "kitchen") for x in ("tray", "cup", "apple")),
        *(Relation("jar", "INSIDE", room) for room in ("hall",)),
    },
)
"""The same, with the room of each thing stated besides its place."""

ROOMLESS: Final = SceneGraph.of(
    (it for it in NODES if it.kind != "Place"), (it for it in RELATIONS if it.target not in {"kitchen", "hall"})
)
"""The same without rooms."""

"""Tiny worlds as rows: a scene graph, what holds in it, and what does not, with the reasons in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import Node, Properties, Relation, SceneGraph


@dataclass(frozen=True, slots=True)
class World:
    """One scene and goals in it; `fails` gives each goal that does not hold the reasons that `unmet_parts` names."""

    name: str
    graph: SceneGraph
    bindings: Mapping[str, str] = field(default_factory=dict)
    holds: tuple[c.Condition, ...] = ()
    fails: tuple[tuple[c.Condition, tuple[str, ...]], ...] = ()


def _inside(*pairs: tuple[str, str]) -> list[Relation]:
    return [Relation(source, "INSIDE", target) for source, target in pairs]


APPLE: Final = c.HasClass("a", "apple")
PLATE: Final = c.HasClass("p", "plate")

KITCHEN: Final = World(
    "kitchen",
    SceneGraph.of(
        [
            Node("kitchen_1", "Place", "kitchen", "kitchen"),
            Node("hall_1", "Place", "hall", "hall"),
            Node("robot_1", "Agent", "robot", "robot"),
            Node("fridge_1", "Asset", "fridge", "fridge", ("closed", "plugged_in"), ("can_open", "containers")),
            Node("table_1", "Asset", "table_1", "table", (), ("surfaces",)),
            Node(
                "apple_1",
                "Object",
                "apple",
                "apple",
                ("clean",),
                ("eatable", "grabbable"),
                Properties({"color": "red"}),
            ),
            Node("apple_2", "Object", "apple", "apple", (), ("eatable", "grabbable")),
            Node("plate_1", "Object", "plate", "plate", ("dirty",), ("grabbable", "surfaces")),
            Node("soap_1001", "Object", "soap_1001", "soap", (), ("grabbable",)),
        ],
        [
            *_inside(
                ("robot_1", "kitchen_1"), ("fridge_1", "kitchen_1"), ("table_1", "kitchen_1"), ("apple_1", "fridge_1")
            ),
            Relation("plate_1", "ON", "table_1"),
            Relation("apple_2", "ON", "plate_1"),
            Relation("robot_1", "CLOSE", "table_1"),
            Relation("robot_1", "HOLDS_RH", "soap_1001"),
        ],
    ),
    {"agent": "robot_1", "x": "fridge_1"},
    holds=(
        c.HasState("x", "closed"),
        c.And((c.HasAffordance("x", "can_open"), c.Not(c.Related("agent", "CLOSE", "x")))),
        c.HeldBy(c.Id("soap_1001"), "agent"),
        c.Within(c.Id("apple_2"), c.Id("kitchen_1")),
        c.Exactly(2, "a", APPLE),
        c.ForAll("a", APPLE, c.HasAffordance("a", "grabbable")),
        c.Exists("p", c.And((PLATE, c.Exists("a", c.And((APPLE, c.Related("a", "ON", "p"))))))),
        c.ForAll("a", c.HasClass("a", "banana"), c.HasState("a", "eaten")),
    ),
    fails=(
        (c.HasState("x", "open"), ("the fridge is not open",)),
        (c.Not(c.HasState("x", "plugged_in")), ("the fridge is plugged in",)),
        (
            c.And((c.HasAffordance("x", "can_open"), c.Related("agent", "CLOSE", "x"), c.HasState("x", "open"))),
            ("the robot is not close to the fridge", "the fridge is not open"),
        ),
        (c.HasState("y", "open"), ("nothing is given for y",)),
        (c.HasState(c.Id("oven_1"), "open"), ("there is no node 'oven_1'",)),
        (c.Related("agent", "CLOSE", c.Id("oven_1")), ("there is no node 'oven_1'",)),
        (c.HeldBy(c.Id("plate_1"), "agent"), ("the robot is not holding the plate",)),
        (c.Not(c.HeldBy(c.Id("soap_1001"), "agent")), ("the robot is holding soap_1001",)),
        (c.Related(c.Id("apple_2"), "INSIDE", "x"), ("the apple (apple_2) is not inside the fridge",)),
        (
            c.Or((c.HasState("x", "open"), c.HasState("x", "broken"))),
            ("none of these holds: the fridge is open, or the fridge is broken",),
        ),
        (
            c.ForAll("a", APPLE, c.Within("a", "x")),
            ("the apple (apple_2) is not inside or on the fridge, directly or not",),
        ),
        (c.Exists("a", c.And((APPLE, c.Related("a", "ON", c.Id("table_1"))))), ("no apple is on table_1",)),
        (
            c.Not(c.Exists("a", c.And((APPLE, c.Related("a", "INSIDE", "x"))))),
            ("the apple (apple_1) is inside the fridge",),
        ),
        (
            c.AtLeast(2, "a", c.And((APPLE, c.Related("a", "INSIDE", "x")))),
            ("fewer than 2 apples are inside the fridge (1 now)",),
        ),
        (c.Exactly(1, "a", APPLE), ("there is not exactly 1 apple (2 now)",)),
        (
            c.Not(c.And((c.HasState("x", "closed"), c.HasState("x", "plugged_in")))),
            ("the fridge is closed and the fridge is plugged in",),
        ),
        (c.Not(c.Or((c.HasState("x", "open"), c.HasState("x", "closed")))), ("the fridge is closed",)),
        (
            c.Not(c.Or((c.HasState("x", "closed"), c.HasState("x", "plugged_in")))),
            ("the fridge is closed", "the fridge is plugged in"),
        ),
        (c.Not(c.Not(c.HasState("x", "open"))), ("the fridge is not open",)),
        (c.PropertyEquals(c.Id("apple_1"), "color", "green"), ("the apple (apple_1) does not have color 'green'",)),
        (c.Same("agent", "x"), ("the robot is not the fridge",)),
        (c.HasKind("x", "Object"), ("the fridge is not an object",)),
        (c.Or(()), ("what is needed is impossible",)),
        (c.Not(c.And(())), ("what is needed is impossible",)),
    ),
)

ODD: Final = World(
    "odd",
    SceneGraph.of(
        [
            Node("robot", "Agent", "robot", "robot"),
            Node("basket", "Object", "basket", "basket"),
            Node("curtain_1", "Asset", "curtain", "curtain"),
            Node("curtain_2", "Asset", "curtain", "curtain"),
        ],
        [
            *_inside(("basket", "basket"), ("curtain_1", "curtain_2"), ("curtain_2", "curtain_1")),
            Relation("robot", "HOLDS_LH", "basket"),
            Relation("robot", "HOLDS_RH", "basket"),
        ],
    ),
    holds=(
        c.Related(c.Id("basket"), "INSIDE", c.Id("basket")),
        c.Within(c.Id("curtain_1"), c.Id("curtain_1")),
        c.Exactly(3, "x", c.Within("x", "x")),
        c.Exactly(1, "x", c.HeldBy("x", c.Id("robot"))),
    ),
    fails=(
        (c.Not(c.Within(c.Id("basket"), c.Id("basket"))), ("the basket is inside or on the basket, directly or not",)),
        (
            c.ForAll("x", c.Related("x", "INSIDE", "x"), c.Not(c.Related(c.Id("robot"), "HOLDS_LH", "x"))),
            ("the robot is holding the basket in the left hand",),
        ),
    ),
)

EMPTY_WORLD: Final = World(
    "empty",
    SceneGraph.of(),
    {"x": "gone"},
    holds=(c.ForAll("x", c.And(()), c.Or(())), c.Exactly(0, "x", c.And(())), c.Not(c.HasState("x", "open"))),
    fails=((c.Exists("x", c.And(())), ("there is no thing",)), (c.HasState("x", "open"), ("there is no node 'gone'",))),
)

WORLDS: Final = (KITCHEN, ODD, EMPTY_WORLD)

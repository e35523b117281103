"""Tiny worlds as rows: a scene graph, what holds in it, and what does not, with the reasons in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from scenecypher.db.condition import (
    And,
    AtLeast,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasAffordance,
    HasClass,
    HasKind,
    HasState,
    HeldBy,
    Id,
    Not,
    Or,
    PropertyEquals,
    Related,
    Same,
    Within,
)
from scenecypher.db.graph.scene import Node, Properties, Relation, SceneGraph


@dataclass(frozen=True, slots=True)
class World:
    """One scene and goals in it; `fails` gives each goal that does not hold the reasons that `unmet` names."""

    name: str
    graph: SceneGraph
    bindings: Mapping[str, str] = field(default_factory=dict)
    holds: tuple[Condition, ...] = ()
    fails: tuple[tuple[Condition, tuple[str, ...]], ...] = ()


def _inside(*pairs: tuple[str, str]) -> list[Relation]:
    return [Relation(source, "INSIDE", target) for source, target in pairs]


APPLE: Final = HasClass("a", "apple")
PLATE: Final = HasClass("p", "plate")

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
        HasState("x", "closed"),
        And((HasAffordance("x", "can_open"), Not(Related("agent", "CLOSE", "x")))),
        HeldBy(Id("soap_1001"), "agent"),
        Within(Id("apple_2"), Id("kitchen_1")),
        Exactly(2, "a", APPLE),
        ForAll("a", APPLE, HasAffordance("a", "grabbable")),
        Exists("p", And((PLATE, Exists("a", And((APPLE, Related("a", "ON", "p"))))))),
        ForAll("a", HasClass("a", "banana"), HasState("a", "eaten")),
    ),
    fails=(
        (HasState("x", "open"), ("the fridge is not open",)),
        (Not(HasState("x", "plugged_in")), ("the fridge is plugged in",)),
        (
            And((HasAffordance("x", "can_open"), Related("agent", "CLOSE", "x"), HasState("x", "open"))),
            ("the robot is not close to the fridge", "the fridge is not open"),
        ),
        (HasState("y", "open"), ("nothing is given for y",)),
        (HasState(Id("oven_1"), "open"), ("there is no node 'oven_1'",)),
        (Related("agent", "CLOSE", Id("oven_1")), ("there is no node 'oven_1'",)),
        (HeldBy(Id("plate_1"), "agent"), ("the robot is not holding the plate",)),
        (Not(HeldBy(Id("soap_1001"), "agent")), ("the robot is holding soap_1001",)),
        (Related(Id("apple_2"), "INSIDE", "x"), ("the apple (apple_2) is not inside the fridge",)),
        (
            Or((HasState("x", "open"), HasState("x", "broken"))),
            ("none of these holds: the fridge is open, or the fridge is broken",),
        ),
        (
            ForAll("a", APPLE, Within("a", "x")),
            ("the apple (apple_2) is not inside or on the fridge, directly or not",),
        ),
        (Exists("a", And((APPLE, Related("a", "ON", Id("table_1"))))), ("no apple is on table_1",)),
        (Not(Exists("a", And((APPLE, Related("a", "INSIDE", "x"))))), ("the apple (apple_1) is inside the fridge",)),
        (
            AtLeast(2, "a", And((APPLE, Related("a", "INSIDE", "x")))),
            ("fewer than 2 apples are inside the fridge (1 now)",),
        ),
        (Exactly(1, "a", APPLE), ("there is not exactly 1 apple (2 now)",)),
        (
            Not(And((HasState("x", "closed"), HasState("x", "plugged_in")))),
            ("the fridge is closed and the fridge is plugged in",),
        ),
        (Not(Or((HasState("x", "open"), HasState("x", "closed")))), ("the fridge is closed",)),
        (
            Not(Or((HasState("x", "closed"), HasState("x", "plugged_in")))),
            ("the fridge is closed", "the fridge is plugged in"),
        ),
        (Not(Not(HasState("x", "open"))), ("the fridge is not open",)),
        (PropertyEquals(Id("apple_1"), "color", "green"), ("the apple (apple_1) does not have color 'green'",)),
        (Same("agent", "x"), ("the robot is not the fridge",)),
        (HasKind("x", "Object"), ("the fridge is not an object",)),
        (Or(()), ("what is needed is impossible",)),
        (Not(And(())), ("what is needed is impossible",)),
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
        Related(Id("basket"), "INSIDE", Id("basket")),
        Within(Id("curtain_1"), Id("curtain_1")),
        Exactly(3, "x", Within("x", "x")),
        Exactly(1, "x", HeldBy("x", Id("robot"))),
    ),
    fails=(
        (Not(Within(Id("basket"), Id("basket"))), ("the basket is inside or on the basket, directly or not",)),
        (
            ForAll("x", Related("x", "INSIDE", "x"), Not(Related(Id("robot"), "HOLDS_LH", "x"))),
            ("the robot is holding the basket in the left hand",),
        ),
    ),
)

EMPTY_WORLD: Final = World(
    "empty",
    SceneGraph.of(),
    {"x": "gone"},
    holds=(ForAll("x", And(()), Or(())), Exactly(0, "x", And(())), Not(HasState("x", "open"))),
    fails=((Exists("x", And(())), ("there is no thing",)), (HasState("x", "open"), ("there is no node 'gone'",))),
)

WORLDS: Final = (KITCHEN, ODD, EMPTY_WORLD)

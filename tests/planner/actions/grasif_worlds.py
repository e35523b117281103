"""Small GraSIF homes, fixed and random, for tests of its actions."""

from __future__ import annotations

import random
from typing import Final

from scenecypher.db.graph.scene import Node, Relation, SceneGraph

ROBOT: Final = "agent"
OBJECT: Final = ("pick_up",)
BOX: Final = ("pick_up", "put_inside", "put_on", "open", "close")


def node(id_: str, kind: str, *, states: str = "", affordances: str = "") -> Node:
    return Node(id_, kind, id_, id_.rpartition("-")[0] or id_, tuple(states.split()), tuple(affordances.split()))


def home() -> SceneGraph:
    """Return a kitchen with a fridge, a lamp and a table, and an office; an apple is in a closed box in the fridge."""
    nodes = [
        node("kitchen", "Place"),
        node("office", "Place"),
        node(ROBOT, "Agent"),
        node("fridge-1", "Asset", states="closed", affordances="open close put_inside put_on"),
        node("table-1", "Asset", affordances="put_on put_under"),
        node("lamp-1", "Asset", states="off", affordances="turn_on turn_off attach"),
        node("desk-1", "Asset", affordances="put_on"),
        node("box-1", "Object", states="closed", affordances=" ".join(BOX)),
        node("apple-1", "Object", affordances="pick_up"),
        node("cup-1", "Object", affordances="pick_up put_inside"),
        node("pen-1", "Object", affordances="pick_up"),
    ]
    relations = [
        *(Relation(x, "INSIDE", "kitchen") for x in ("fridge-1", "table-1", "lamp-1")),
        *(Relation(x, "INSIDE", "office") for x in ("desk-1", ROBOT)),
        Relation("box-1", "INSIDE", "fridge-1"),
        Relation("apple-1", "INSIDE", "box-1"),
        Relation("cup-1", "ON", "table-1"),
        Relation("pen-1", "ON", "desk-1"),
    ]
    return SceneGraph.of(nodes, relations)


def random_home(rng: random.Random) -> SceneGraph:
    """Return random rooms, assets with states, and objects on and in one another, up to three deep."""
    rooms = [f"room-{n}" for n in range(rng.randint(1, 3))]
    nodes = [node(room, "Place") for room in rooms] + [node(ROBOT, "Agent")]
    relations = [Relation(ROBOT, "INSIDE", rng.choice(rooms))]
    below: list[str] = []
    for n in range(rng.randint(2, 5)):
        asset = f"asset-{n}"
        nodes.append(_thing(asset, "Asset", rng))
        relations.append(Relation(asset, "INSIDE", rng.choice(rooms)))
        below.append(asset)
    for n in range(rng.randint(2, 7)):
        thing = f"thing-{n}"
        nodes.append(_thing(thing, "Object", rng))
        relations.append(Relation(thing, rng.choice(("ON", "INSIDE", "UNDER", "ATTACHED_TO")), rng.choice(below)))
        below.append(thing)
    return SceneGraph.of(nodes, relations)


def _thing(id_: str, kind: str, rng: random.Random) -> Node:
    words = [word for word in ("put_on", "put_inside", "put_under", "attach") if rng.random() < 0.6]
    words += ["pick_up"] if kind == "Object" and rng.random() < 0.9 else []
    states = []
    if rng.random() < 0.5:
        words += ["open", "close"]
        states.append(rng.choice(("open", "closed")))
    if rng.random() < 0.4:
        words += ["turn_on", "turn_off"]
        states.append(rng.choice(("on", "off")))
    return node(id_, kind, states=" ".join(states), affordances=" ".join(words))

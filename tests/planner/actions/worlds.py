"""Tiny homes as rows: for each action a feasible home, and one edit that breaks each requirement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from scenecypher.db.graph.scene import Node, Relation, SceneGraph

ROBOT = "character_1"
HAND_TYPES = ("HOLDS_RH", "HOLDS_LH")


def node(id_: str, kind: str, *, states: str = "", affordances: str = "") -> Node:
    return Node(id_, kind, id_, id_.rpartition("_")[0], tuple(states.split()), tuple(affordances.split()))


def mutual(one: str, other: str) -> tuple[Relation, Relation]:
    return Relation(one, "CLOSE", other), Relation(other, "CLOSE", one)


def home() -> SceneGraph:
    """Return a kitchen and a hall; the robot is in the kitchen, close to everything there but the egg."""
    nodes = [
        node("kitchen_10", "Place"),
        node("hall_11", "Place"),
        node(ROBOT, "Agent"),
        node("table_20", "Asset", affordances="surfaces"),
        node("fridge_21", "Asset", states="closed off", affordances="can_open containers has_switch"),
        node("cup_30", "Object", affordances="grabbable"),
        node("plate_31", "Object", affordances="grabbable"),
        node("egg_32", "Object", affordances="grabbable"),
        node("book_33", "Object", affordances="grabbable"),
    ]
    kitchen = ("table_20", "fridge_21", "cup_30", "plate_31", "egg_32", ROBOT)
    relations = [Relation(x, "INSIDE", "kitchen_10") for x in kitchen]
    relations += [Relation("book_33", "INSIDE", "hall_11"), Relation("egg_32", "INSIDE", "fridge_21")]
    relations += [Relation("cup_30", "ON", "table_20"), Relation("plate_31", "ON", "table_20")]
    for x in ("table_20", "fridge_21", "cup_30", "plate_31"):
        relations += mutual(ROBOT, x)
    relations += [*mutual("cup_30", "plate_31"), *mutual("cup_30", "table_20"), *mutual("egg_32", "fridge_21")]
    return SceneGraph.of(nodes, relations)


def edited(
    graph: SceneGraph,
    *,
    states: dict[str, str] | None = None,
    affordances: dict[str, str] | None = None,
    add: Iterable[Relation] = (),
    remove: Iterable[tuple[str, str, str]] = (),
) -> SceneGraph:
    """Return `graph` with lists replaced and relations added and removed; "" in `remove` matches any id."""
    nodes = dict(graph.nodes)
    for id_, words in (states or {}).items():
        nodes[id_] = replace(nodes[id_], states=tuple(words.split()))
    for id_, words in (affordances or {}).items():
        nodes[id_] = replace(nodes[id_], affordances=tuple(words.split()))
    patterns = tuple(remove)
    kept = {r for r in graph.relations if not any(_fits(r, pattern) for pattern in patterns)}
    return SceneGraph.of(nodes.values(), kept | set(add))


def _fits(relation: Relation, pattern: tuple[str, str, str]) -> bool:
    source, type_, target = pattern
    return relation.type == type_ and source in ("", relation.source) and target in ("", relation.target)


HOME = home()
CUP_HELD = edited(HOME, add=[Relation(ROBOT, "HOLDS_RH", "cup_30")], remove=[("cup_30", "ON", "")])
CUP_HELD_FRIDGE_OPEN = edited(CUP_HELD, states={"fridge_21": "open off"})
FRIDGE_ON = edited(HOME, states={"fridge_21": "closed on"})
FRIDGE_OPEN = edited(HOME, states={"fridge_21": "open off"})
BOTH_HANDS = (Relation(ROBOT, "HOLDS_RH", "plate_31"), Relation(ROBOT, "HOLDS_LH", "egg_32"))
FAR = (("", "CLOSE", ""),)
NOWHERE = ((ROBOT, "INSIDE", ""),)


@dataclass(frozen=True, slots=True)
class Broken:
    """An edit that breaks one requirement, and the refusal's expected text."""

    name: str
    graph: SceneGraph
    says: str


@dataclass(frozen=True, slots=True)
class Row:
    """A feasible action in `graph`, its expected effects, and edits that break each requirement alone."""

    action: str
    graph: SceneGraph
    gained: tuple[Relation, ...]
    broken: tuple[Broken, ...]
    states: tuple[tuple[str, str], ...] = ()


def far(graph: SceneGraph, x: str) -> Broken:
    return Broken("far", edited(graph, remove=FAR), f"{ROBOT} is not close to {x}: walk({x}) first")


def no_hand(graph: SceneGraph) -> Broken:
    says = f"{ROBOT} has no free hand, since it holds plate_31 and egg_32"
    return Broken("both hands full", edited(graph, add=BOTH_HANDS), says)


ROWS = (
    Row(
        "walk(book_33)",
        HOME,
        (Relation(ROBOT, "INSIDE", "hall_11"), Relation(ROBOT, "CLOSE", "book_33")),
        (
            Broken("sits", edited(HOME, states={ROBOT: "sitting"}), "stand_up() first"),
            Broken("lies", edited(HOME, states={ROBOT: "lying"}), "stand_up() first"),
            Broken("nowhere", edited(HOME, remove=NOWHERE), f"{ROBOT} is in no room"),
            Broken("no way", edited(HOME, remove=[("book_33", "INSIDE", "")]), "book_33 is in no room"),
        ),
    ),
    Row(
        "grab(cup_30)",
        HOME,
        (
            Relation(ROBOT, "HOLDS_RH", "cup_30"),
            Relation("cup_30", "INSIDE", "kitchen_10"),
            Relation("cup_30", "TAKEN_OFF", "table_20"),
        ),
        (
            Broken("not grabbable", edited(HOME, affordances={"cup_30": ""}), "cup_30 can not be grabbed"),
            Broken(
                "held",
                edited(CUP_HELD, add=[Relation("cup_30", "TAKEN_OFF", "table_20")]),
                "cup_30 was grabbed already, from table_20",
            ),
            far(HOME, "cup_30"),
            Broken(
                "shut in",
                edited(HOME, add=[Relation("cup_30", "INSIDE", "fridge_21")]),
                "cup_30 is inside fridge_21, which is closed: open(fridge_21) first",
            ),
            no_hand(HOME),
            Broken("nowhere", edited(HOME, remove=NOWHERE), f"{ROBOT} is in no room"),
        ),
    ),
    Row(
        "put_on(cup_30, table_20)",
        CUP_HELD,
        (Relation("cup_30", "ON", "table_20"),),
        (
            Broken("not held", HOME, f"{ROBOT} does not hold cup_30: grab(cup_30) first"),
            far(CUP_HELD, "table_20"),
        ),
    ),
    Row(
        "put_in(cup_30, fridge_21)",
        CUP_HELD_FRIDGE_OPEN,
        (Relation("cup_30", "INSIDE", "fridge_21"),),
        (
            Broken("not held", FRIDGE_OPEN, f"{ROBOT} does not hold cup_30: grab(cup_30) first"),
            far(CUP_HELD_FRIDGE_OPEN, "fridge_21"),
            Broken("closed", CUP_HELD, "fridge_21 is closed: open(fridge_21) first"),
        ),
    ),
    Row(
        "open(fridge_21)",
        HOME,
        (),
        (
            Broken("can't", edited(HOME, affordances={"fridge_21": ""}), "fridge_21 can not be opened"),
            far(HOME, "fridge_21"),
            no_hand(HOME),
            Broken("open", FRIDGE_OPEN, "fridge_21 is not closed: there is nothing to open"),
            Broken("on", FRIDGE_ON, "fridge_21 is switched on: switch_off(fridge_21) first"),
        ),
        (("fridge_21", "off open"),),
    ),
    Row(
        "close(fridge_21)",
        FRIDGE_OPEN,
        (),
        (
            Broken("can't", edited(FRIDGE_OPEN, affordances={"fridge_21": ""}), "fridge_21 can not be closed"),
            far(FRIDGE_OPEN, "fridge_21"),
            Broken("closed", HOME, "fridge_21 is not open: there is nothing to close"),
        ),
        (("fridge_21", "closed off"),),
    ),
    Row(
        "switch_on(fridge_21)",
        HOME,
        (),
        (
            Broken("no switch", edited(HOME, affordances={"fridge_21": ""}), "fridge_21 can not be switched on"),
            far(HOME, "fridge_21"),
            Broken("on", FRIDGE_ON, "fridge_21 is not off: there is nothing to switch on"),
            Broken(
                "unplugged",
                edited(HOME, states={"fridge_21": "off plugged_out"}),
                "fridge_21 is unplugged: plug_in(fridge_21) first",
            ),
        ),
        (("fridge_21", "closed on"),),
    ),
    Row(
        "switch_off(fridge_21)",
        FRIDGE_ON,
        (),
        (
            Broken("no switch", edited(FRIDGE_ON, affordances={"fridge_21": ""}), "fridge_21 can not be switched off"),
            far(FRIDGE_ON, "fridge_21"),
            Broken("off", HOME, "fridge_21 is not on: there is nothing to switch off"),
        ),
        (("fridge_21", "closed off"),),
    ),
)

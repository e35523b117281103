"""A flat as rows: the actions that `worlds` omits, each feasible once, and with each requirement broken."""

from __future__ import annotations

from typing import Final

from scenecypher.db.graph.scene import Relation, SceneGraph
from tests.planner.actions.worlds import FAR, NOWHERE, ROBOT, Broken, Row, edited, mutual, node

HOLDS: Final = ((ROBOT, "HOLDS_RH", ""), (ROBOT, "HOLDS_LH", ""))


def flat() -> SceneGraph:
    """Return a room with one thing for every action, all close to the robot except those in the hall."""
    near = [
        node("chair_20", "Asset", affordances="sittable movable"),
        node("bed_21", "Asset", affordances="lieable"),
        node("tv_22", "Asset", states="off plugged_in", affordances="lookable has_plug has_switch"),
        node("shelf_23", "Asset", states="dirty", affordances="surfaces"),
        node("box_24", "Object", states="open", affordances="can_open containers grabbable"),
        node("shirt_30", "Object", affordances="clothes grabbable"),
        node("book_31", "Object", affordances="readable grabbable"),
        node("milk_32", "Object", affordances="drinkable pourable grabbable"),
        node("glass_33", "Object", affordances="recipient grabbable"),
        node("knife_34", "Object", affordances="grabbable"),
        node("bread_35", "Object", affordances="eatable cuttable grabbable"),
        node("water_36", "Object", affordances="drinkable pourable grabbable"),
        node("face_37", "Asset", affordances="body_part"),
    ]
    far = [
        node("lamp_26", "Asset", affordances="has_switch lookable"),
        node("person_40", "Agent", affordances="person"),
    ]
    places = [node("room_10", "Place"), node("hall_11", "Place"), node(ROBOT, "Agent")]
    relations = [Relation(n.id, "INSIDE", "room_10") for n in [*near, places[-1]]]
    relations += [Relation(n.id, "INSIDE", "hall_11") for n in far]
    relations += [relation for n in near for relation in mutual(ROBOT, n.id)]
    relations += [Relation("book_31", "ON", "shelf_23"), Relation("chair_20", "FACING", "tv_22")]
    return SceneGraph.of([*places, *near, *far], relations)


FLAT: Final = flat()
FACING_TV: Final = Relation(ROBOT, "FACING", "tv_22")


def held(*things: str, graph: SceneGraph = FLAT) -> SceneGraph:
    """Return the graph with these things in the robot's hands, the right one first."""
    hands = zip(("HOLDS_RH", "HOLDS_LH"), things, strict=False)
    return edited(graph, add=[Relation(ROBOT, hand, thing) for hand, thing in hands])


def states(graph: SceneGraph, **words: str) -> SceneGraph:
    """Return the graph with these states of nodes; `robot` is the robot."""
    return edited(graph, states={ROBOT if id_ == "robot" else id_: text for id_, text in words.items()})


def far(graph: SceneGraph, x: str) -> Broken:
    return Broken("far", edited(graph, remove=FAR), f"{ROBOT} is not close to {x}: walk({x}) first")


def unfit(graph: SceneGraph, x: str, says: str, *, keeps: str = "") -> Broken:
    return Broken(f"only {keeps}", edited(graph, affordances={x: keeps}), f"{x} {says}")


def no_hand(graph: SceneGraph) -> Broken:
    full = edited(graph, remove=HOLDS)
    return Broken("both hands full", held("knife_34", "glass_33", graph=full), f"{ROBOT} has no free hand")


def not_held(graph: SceneGraph, x: str) -> Broken:
    return Broken("not held", edited(graph, remove=HOLDS), f"{ROBOT} does not hold {x}: grab({x}) first")


def shut_in(graph: SceneGraph, x: str) -> Broken:
    closed = states(edited(graph, add=[Relation(x, "INSIDE", "box_24")]), box_24="closed")
    return Broken("shut in", closed, f"{x} is inside box_24, which is closed: open(box_24) first")


def on_its_feet(graph: SceneGraph) -> tuple[Broken, ...]:
    says = f"{ROBOT} sits or lies: stand_up() first"
    return tuple(Broken(state, states(graph, robot=state), says) for state in ("sitting", "lying"))


def crowded(graph: SceneGraph, x: str) -> Broken:
    return Broken("taken", edited(graph, add=[Relation("book_31", "ON", x)]), f"too many things are on {x}")


def on_the_way(x: str) -> tuple[Broken, ...]:
    """Return the edits that keep the robot from walking to the lamp."""
    away = edited(FLAT, remove=FAR)
    return (
        *on_its_feet(away),
        Broken("nowhere", edited(away, remove=NOWHERE), f"{ROBOT} is in no room"),
        Broken("no way", edited(away, remove=[(x, "INSIDE", "")]), f"{x} is in no room"),
    )


def cleaning(action: str, graph: SceneGraph = FLAT, *broken: Broken) -> Row:
    return Row(f"{action}(shelf_23)", graph, (), (far(graph, "shelf_23"), *broken), (("shelf_23", "clean"),))


def at_rest(action: str) -> Row:
    return Row(action, states(FLAT, robot="lying"), (), (Broken("up", FLAT, f"{ROBOT} neither sits nor lies"),))


def looking(action: str) -> Row:
    says = f"{ROBOT} does not face tv_22: turn_to(tv_22) first"
    return Row(f"{action}(tv_22)", edited(FLAT, add=[FACING_TV]), (), (Broken("not faced", FLAT, says),))


def letting_go(action: str) -> Row:
    graph = held("book_31")
    nowhere = Broken("nowhere", edited(graph, remove=NOWHERE), f"{ROBOT} is in no room")
    away = edited(graph, remove=[("book_31", "INSIDE", "")])
    gained = (Relation("book_31", "INSIDE", "room_10"),)
    return Row(f"{action}(book_31)", away, gained, (not_held(graph, "book_31"), nowhere))


def plugging(action: str, before: str, after: str) -> Row:
    graph = states(FLAT, tv_22=f"off {before}")
    broken = (
        unfit(graph, "tv_22", "can not be plugged in or out"),
        far(graph, "tv_22"),
        no_hand(graph),
        Broken("done", states(FLAT, tv_22=f"off {after}"), f"tv_22 is not {before}"),
    )
    return Row(f"{action}(tv_22)", graph, (), broken, (("tv_22", f"off {after}"),))


def shifting(action: str, *, any_thing: bool) -> Row:
    unmovable = () if any_thing else (unfit(FLAT, "bed_21", "can not be moved"),)
    graph = edited(FLAT, affordances={"bed_21": "movable"})
    return Row(
        f"{action}(bed_21)",
        graph,
        (),
        (*unmovable, far(graph, "bed_21"), shut_in(graph, "bed_21"), no_hand(graph)),
    )


def watching() -> Row:
    graph = edited(FLAT, add=[FACING_TV])
    indirectly = states(edited(FLAT, add=[Relation(ROBOT, "FACING", "chair_20")]), robot="sitting")
    return Row(
        "watch(tv_22)",
        graph,
        (),
        (
            unfit(graph, "tv_22", "can not be watched"),
            Broken("elsewhere", edited(graph, remove=[("tv_22", "INSIDE", "")]), "tv_22 is not in the room where"),
            Broken("not faced", FLAT, f"{ROBOT} does not face tv_22: turn_to(tv_22) first"),
            Broken("sits beside", indirectly, f"{ROBOT} sits or lies, and does not face tv_22 itself"),
            shut_in(graph, "tv_22"),
        ),
    )


WORN: Final = edited(FLAT, add=[Relation("shirt_30", "ON", ROBOT)])
TAKEN: Final = edited(
    held("book_31"), add=[Relation("book_31", "TAKEN_OFF", "shelf_23")], remove=[("book_31", "ON", "")]
)
MILK: Final = held("milk_32")
KNIFE: Final = held("knife_34")

FLAT_ROWS: Final = (
    Row("run(lamp_26)", FLAT, (Relation(ROBOT, "INSIDE", "hall_11"),), on_the_way("lamp_26")),
    Row(
        "find(lamp_26)",
        FLAT,
        (Relation(ROBOT, "INSIDE", "hall_11"),),
        (
            Broken(
                "worn, far",
                edited(FLAT, remove=FAR, add=[Relation("lamp_26", "ON", ROBOT)]),
                f"{ROBOT} is not close to lamp_26",
            ),
            *on_the_way("lamp_26"),
        ),
    ),
    Row(
        "sit(chair_20)",
        FLAT,
        (Relation(ROBOT, "ON", "chair_20"), FACING_TV),
        (
            far(FLAT, "chair_20"),
            Broken("sits", states(FLAT, robot="sitting"), f"{ROBOT} sits already"),
            unfit(FLAT, "chair_20", "can not be sat on"),
            crowded(FLAT, "chair_20"),
        ),
        ((ROBOT, "sitting"),),
    ),
    Row(
        "lie(bed_21)",
        FLAT,
        (Relation(ROBOT, "ON", "bed_21"),),
        (
            far(FLAT, "bed_21"),
            Broken("lies", states(FLAT, robot="lying"), f"{ROBOT} lies already"),
            unfit(FLAT, "bed_21", "can not be lain on"),
            Broken(
                "taken",
                edited(FLAT, add=[Relation(x, "ON", "bed_21") for x in ("book_31", "shirt_30", "box_24")]),
                "too many things are on bed_21",
            ),
        ),
        ((ROBOT, "lying"),),
    ),
    Row(
        "stand_up()",
        states(FLAT, robot="sitting"),
        (),
        (Broken("stands", FLAT, f"{ROBOT} neither sits nor lies"),),
        ((ROBOT, ""),),
    ),
    at_rest("sleep()"),
    at_rest("wake_up()"),
    Row("turn_to(lamp_26)", FLAT, (Relation(ROBOT, "FACING", "lamp_26"),), ()),
    looking("look_at"),
    looking("point_at"),
    watching(),
    Row("greet(person_40)", FLAT, (), (unfit(FLAT, "person_40", "can not be greeted"),)),
    Row(
        "put_back(book_31)",
        TAKEN,
        (Relation("book_31", "ON", "shelf_23"),),
        (Broken("never taken", held("book_31"), "book_31 was not taken from anywhere"),),
    ),
    letting_go("drop"),
    letting_go("release"),
    Row(
        "pour(milk_32, glass_33)",
        MILK,
        (Relation("milk_32", "INSIDE", "glass_33"),),
        (
            unfit(MILK, "milk_32", "can not be poured"),
            unfit(MILK, "glass_33", "can not be poured into"),
            not_held(MILK, "milk_32"),
            far(MILK, "glass_33"),
        ),
    ),
    Row(
        "wear(shirt_30)",
        held("shirt_30"),
        (Relation("shirt_30", "ON", ROBOT),),
        (not_held(FLAT, "shirt_30"), unfit(held("shirt_30"), "shirt_30", "can not be worn")),
    ),
    Row(
        "put_off(shirt_30)",
        WORN,
        (),
        (
            Broken("not worn", FLAT, f"{ROBOT} does not wear shirt_30: wear(shirt_30) first"),
            unfit(WORN, "shirt_30", "can not be taken off"),
        ),
    ),
    Row(
        "read(book_31)",
        held("book_31"),
        (),
        (unfit(held("book_31"), "book_31", "can not be read"), not_held(FLAT, "book_31")),
    ),
    Row("drink(milk_32)", MILK, (), (unfit(MILK, "milk_32", "can not be drunk"), not_held(FLAT, "milk_32"))),
    Row("eat(bread_35)", FLAT, (), (far(FLAT, "bread_35"), unfit(FLAT, "bread_35", "can not be eaten"))),
    plugging("plug_in", "plugged_out", "plugged_in"),
    plugging("plug_out", "plugged_in", "plugged_out"),
    cleaning("wash"),
    cleaning("rinse"),
    cleaning("scrub"),
    cleaning("wipe", held("shirt_30"), Broken("empty hands", FLAT, f"{ROBOT} holds nothing to wipe with")),
    Row(
        "squeeze(shirt_30)",
        FLAT,
        (),
        (no_hand(FLAT), far(FLAT, "shirt_30"), unfit(FLAT, "shirt_30", "can not be squeezed")),
    ),
    Row("touch(tv_22)", FLAT, (), (far(FLAT, "tv_22"), shut_in(FLAT, "tv_22"))),
    Row("type(tv_22)", FLAT, (), (far(FLAT, "tv_22"), unfit(FLAT, "tv_22", "can not be typed on"))),
    Row(
        "cut(bread_35)",
        KNIFE,
        (),
        (
            no_hand(KNIFE),
            far(KNIFE, "bread_35"),
            unfit(KNIFE, "bread_35", "is no food", keeps="cuttable"),
            unfit(KNIFE, "bread_35", "can not be cut", keeps="eatable"),
            Broken("no knife", FLAT, f"{ROBOT} holds no knife"),
        ),
    ),
    shifting("push", any_thing=True),
    shifting("pull", any_thing=False),
    shifting("move", any_thing=False),
)

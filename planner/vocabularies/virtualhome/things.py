"""VirtualHome's actions on things: taking, using and putting them down, opening, switching, cleaning, moving them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.schema import REMEMBERED
from scenecypher.planner.actions import operator as op
from scenecypher.planner.vocabularies.virtualhome import terms as t

ALSO_OPENABLE: Final = ("desk", "window")
ALSO_MOVABLE: Final = ("button", "chair", "curtain")
ALSO_SQUEEZABLE: Final = (
    *("cleaning_solution", "tooth_paste", "shampoo", "food_peanut_butter", "dish_soap", "soap"),
    *("towel", "rag", "paper", "sponge", "food_lemon", "check"),
)
LET_GO: Final = op.Unrelate("x", t.HANDS, op.AGENT)
FORGET_ORIGIN: Final = op.Unrelate("x", REMEMBERED, directed=True)
OPEN_OR_OPENLESS: Final[c.Condition] = c.Or((c.Not(c.HasAffordance("y", "can_open")), c.HasState("y", "open")))
A_KNIFE: Final[c.Condition] = c.Exists("knife", c.And((c.HeldBy("knife", op.AGENT), t.any_class("knife", t.KNIVES))))
MOVABLE: Final = t.affords("x", "movable", classes=ALSO_MOVABLE, doing="moved")
HELD: Final = "what is held"


def lay_down(relation: str) -> tuple[op.Effect, ...]:
    """Return the effects of releasing `x` with the `relation` to `y`."""
    return (
        LET_GO,
        op.Relate(op.AGENT, "CLOSE", "y", mutual=True),
        op.Relate("x", "CLOSE", "y", mutual=True),
        op.Relate("x", relation, "y"),
        FORGET_ORIGIN,
    )


def put(name: str, relation: str, words: str, *extra: op.Requirement) -> op.Operator:
    """Return an operator that puts the held object on or into a node that the agent is close to."""
    parameters = op.Parameter("x", HELD), op.Parameter("y", "where it shall be")
    return op.Operator(name, parameters, (t.holds("x"), t.close_to("y"), *extra), lay_down(relation), words)


def change(name: str, x: str, *requires: op.Requirement, before: str, after: str, words: str) -> op.Operator:
    """Return an operator that brings a thing within reach from one state into another.

    The first requirement is that of what the thing affords; that of a free hand comes before, others after the state.
    """
    free = [it for it in requires if it is t.A_FREE_HAND]
    first, *others = (it for it in requires if it is not t.A_FREE_HAND)
    state = t.in_state("x", before, ended_by=name.replace("_", " "))
    needed = (first, t.close_to("x"), *free, state, *others)
    return t.on_thing(name, words, *needed, x=x, effects=(op.Become("x", after, instead_of=before),))


def clean(name: str, words: str, *requires: op.Requirement, choose: tuple[op.Choose, ...] = ()) -> op.Operator:
    """Return an operator that makes a thing clean."""
    effects = (op.Become("x", "clean", instead_of="dirty"),)
    return t.on_thing(name, words, t.close_to("x"), *requires, effects=effects, choose=choose)


def shift(name: str, words: str, *requires: op.Requirement) -> op.Operator:
    """Return the operator of pushing, pulling or moving, which has no effect in the engine."""
    return t.on_thing(name, words, *requires, t.close_to("x"), t.not_enclosed("x"), t.A_FREE_HAND)


GRAB: Final = t.on_thing(
    "grab",
    "take a thing into a free hand; it must be within reach and in nothing closed",
    t.affords("x", "grabbable", classes=("water", "child"), doing="grabbed"),
    op.Requirement(c.Not(op.is_bound("before")), "{x} was grabbed already, from {before}", "already"),
    t.close_to("x"),
    t.not_enclosed("x"),
    t.A_FREE_HAND,
    t.IN_A_ROOM,
    x="a thing that can be grabbed",
    effects=(
        op.Unrelate("x", ("ON", "INSIDE", "CLOSE", *t.HANDS)),
        op.Relate(op.AGENT, "CLOSE", "x", mutual=True),
        op.When(op.is_bound("right"), (op.Relate(op.AGENT, "HOLDS_LH", "x"),), (op.Relate(op.AGENT, "HOLDS_RH", "x"),)),
        op.Relate("x", "INSIDE", "here"),
        op.Relate(op.AGENT, "CLOSE", "origin", mutual=True),
        op.When(
            c.Related("x", "ON", "origin"),
            (op.Relate("x", "TAKEN_OFF", "origin"),),
            (
                op.When(
                    c.Related("x", "INSIDE", "origin"),
                    (op.Relate("x", "TAKEN_OUT_OF", "origin"),),
                    (op.Relate("x", "TAKEN_FROM", "origin"),),
                ),
            ),
        ),
    ),
    choose=(
        op.Choose("before", tuple(c.Related("x", type_, "before") for type_ in REMEMBERED)),
        op.Choose(
            "origin",
            tuple(c.And((c.Related("x", it, "origin"), t.not_room("origin"))) for it in ("ON", "INSIDE", "CLOSE")),
        ),
    ),
)
DROP: Final = t.on_thing(
    "drop",
    "let a thing that is held fall to the floor of the room",
    t.holds("x"),
    t.IN_A_ROOM,
    x=HELD,
    effects=(LET_GO, op.Relate("x", "INSIDE", "here"), FORGET_ORIGIN),
)

OPERATORS: Final = op.by_name(
    GRAB,
    put("put_on", "ON", "lay a thing that is held on another within reach"),
    put(
        "put_in",
        "INSIDE",
        "put a thing that is held into another within reach, which must be open if it can be opened",
        op.Requirement(OPEN_OR_OPENLESS, "{y} is closed", "affordance", op.Repair("open", ("y",))),
    ),
    t.on_thing(
        "put_back",
        "put a thing that is held back to where it was taken from; where that is far or closed, nothing happens",
        op.Requirement(
            op.is_bound("y"),
            "{x} was not taken from anywhere, so that it can't be put back",
            repair=op.Repair("grab", ("x",)),
        ),
        x=HELD,
        effects=tuple(
            op.When(
                c.And((c.Related("x", before, "y"), c.HeldBy("x", op.AGENT), t.is_close("y"), *also)),
                lay_down(relation),
            )
            for before, relation, also in (
                ("TAKEN_OFF", "ON", ()),
                ("TAKEN_OUT_OF", "INSIDE", (OPEN_OR_OPENLESS,)),
                ("TAKEN_FROM", "CLOSE", ()),
            )
        ),
        choose=(op.Choose("y", tuple(c.Related("x", type_, "y") for type_ in REMEMBERED)),),
    ),
    DROP,
    replace(DROP, name="release", words="let go of a thing that is held, here in the room"),
    op.Operator(
        "pour",
        (op.Parameter("x", "what is held and poured"), op.Parameter("y", "what it goes into")),
        (
            t.affords("x", "pourable", "drinkable", doing="poured"),
            t.affords("y", "recipient", classes=("hands_both", "sponge", "face"), doing="poured into"),
            t.holds("x"),
            t.close_to("y"),
        ),
        (op.Relate("x", "INSIDE", "y"), op.When(c.HasClass("x", "water"), (LET_GO,))),
        "pour a thing that is held into another within reach; it stays in the hand, unless it is water",
    ),
    t.on_thing(
        "wear",
        "put on clothes that are held",
        t.holds("x"),
        t.affords("x", "clothes", doing="worn"),
        x="clothes that are held",
        effects=(op.Relate("x", "ON", op.AGENT), LET_GO),
    ),
    t.on_thing(
        "put_off",
        "take off clothes that are worn",
        op.Requirement(
            c.Related("x", "ON", op.AGENT),
            "{agent} does not wear {x}",
            repair=op.Repair("wear", ("x",)),
            held_earlier=(c.Related("x", "ON", op.AGENT),),
        ),
        t.affords("x", "clothes", doing="taken off"),
        x="clothes that are worn",
        effects=(op.Unrelate("x", ("ON",), op.AGENT, directed=True),),
    ),
    t.on_thing("read", "read what is held", t.affords("x", "readable", doing="read"), t.holds("x"), x=HELD),
    t.on_thing(
        "drink",
        "drink what is held, or from it",
        t.affords("x", "drinkable", "recipient", doing="drunk"),
        t.holds("x"),
        x="a drink, or what it is in",
    ),
    t.on_thing(
        "eat",
        "eat food within reach, or what lies on a thing within reach",
        t.close_to("x"),
        op.Requirement(
            c.Or(
                (
                    c.HasAffordance("x", "eatable"),
                    c.Exists("food", c.And((c.Related("food", "ON", "x"), c.HasAffordance("food", "eatable")))),
                )
            ),
            "{x} can not be eaten, nor anything on it",
            "affordance",
        ),
        x="food, or what it lies on",
    ),
    change(
        "open",
        "a thing that can be opened",
        t.affords("x", "can_open", classes=ALSO_OPENABLE, doing="opened"),
        t.A_FREE_HAND,
        op.Requirement(c.Not(c.HasState("x", "on")), "{x} is switched on", "already", op.Repair("switch_off", ("x",))),
        before="closed",
        after="open",
        words="open a thing within reach; it takes a free hand, and the thing must be switched off",
    ),
    change(
        "close",
        "a thing that can be closed",
        t.affords("x", "can_open", classes=ALSO_OPENABLE, doing="closed"),
        before="open",
        after="closed",
        words="close a thing within reach",
    ),
    change(
        "switch_on",
        "a device",
        t.affords("x", "has_switch", doing="switched on"),
        op.Requirement(
            c.Not(c.HasState("x", "plugged_out")), "{x} is unplugged", "already", op.Repair("plug_in", ("x",))
        ),
        before="off",
        after="on",
        words="switch a device within reach on",
    ),
    change(
        "switch_off",
        "a device",
        t.affords("x", "has_switch", doing="switched off"),
        before="on",
        after="off",
        words="switch a device within reach off",
    ),
    change(
        "plug_in",
        "a device",
        t.affords("x", "has_plug", doing="plugged in or out"),
        t.A_FREE_HAND,
        before="plugged_out",
        after="plugged_in",
        words="plug a device within reach in, with a free hand",
    ),
    change(
        "plug_out",
        "a device",
        t.affords("x", "has_plug", doing="plugged in or out"),
        t.A_FREE_HAND,
        before="plugged_in",
        after="plugged_out",
        words="plug a device within reach out, even while it is on",
    ),
    clean("wash", "wash a thing within reach; it becomes clean"),
    clean("rinse", "rinse a thing within reach; it becomes clean"),
    clean("scrub", "scrub a thing within reach; it becomes clean"),
    clean(
        "wipe",
        "wipe a thing within reach with whatever is held; it becomes clean",
        op.Requirement(
            c.Or((op.is_bound("right"), op.is_bound("left"))),
            "{agent} holds nothing to wipe with: grab something first",
            held_earlier=(c.Exists("held", c.HeldBy("held", op.AGENT)),),
        ),
        choose=t.IN_HANDS,
    ),
    t.on_thing(
        "squeeze",
        "squeeze clothes or another soft thing within reach, with a free hand",
        t.A_FREE_HAND,
        t.close_to("x"),
        t.affords("x", "clothes", classes=ALSO_SQUEEZABLE, doing="squeezed"),
    ),
    t.on_thing("touch", "touch a thing within reach that is in nothing closed", t.close_to("x"), t.not_enclosed("x")),
    t.on_thing(
        "type",
        "type on a keyboard or another device within reach",
        t.close_to("x"),
        t.affords("x", "has_switch", classes=("keyboard",), doing="typed on"),
        x="a keyboard, or another thing with a switch",
    ),
    t.on_thing(
        "cut",
        "cut food within reach with a knife in one hand, the other hand being free",
        t.A_FREE_HAND,
        t.close_to("x"),
        op.Requirement(c.HasAffordance("x", "eatable"), "{x} is no food", "affordance"),
        t.affords("x", "cuttable", doing="cut"),
        op.Requirement(A_KNIFE, "{agent} holds no knife: grab one first"),
        x="food that can be cut",
    ),
    shift("push", "push whatever is within reach, with a free hand"),
    shift("pull", "pull a movable thing within reach, with a free hand", MOVABLE),
    shift("move", "move a movable thing within reach, with a free hand", MOVABLE),
)

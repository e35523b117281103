"""VirtualHome's actions on things: taking, using and putting them down, opening, switching, cleaning, moving them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.schema import REMEMBERED
from scenecypher.planner.actions.operator import (
    AGENT,
    Become,
    Choose,
    Effect,
    Operator,
    Parameter,
    Relate,
    Repair,
    Requirement,
    Unrelate,
    When,
    by_name,
    is_bound,
)
from scenecypher.planner.vocabularies.virtualhome.terms import (
    A_FREE_HAND,
    HANDS,
    IN_A_ROOM,
    IN_HANDS,
    KNIVES,
    affords,
    any_class,
    close_to,
    holds,
    in_state,
    is_close,
    not_enclosed,
    not_room,
    on_thing,
)

ALSO_OPENABLE: Final = ("desk", "window")
ALSO_MOVABLE: Final = ("button", "chair", "curtain")
ALSO_SQUEEZABLE: Final = (
    *("cleaning_solution", "tooth_paste", "shampoo", "food_peanut_butter", "dish_soap", "soap"),
    *("towel", "rag", "paper", "sponge", "food_lemon", "check"),
)
LET_GO: Final = Unrelate("x", HANDS, AGENT)
FORGET_ORIGIN: Final = Unrelate("x", REMEMBERED, directed=True)
OPEN_OR_OPENLESS: Final[c.Condition] = c.Or((c.Not(c.HasAffordance("y", "can_open")), c.HasState("y", "open")))
A_KNIFE: Final[c.Condition] = c.Exists("knife", c.And((c.HeldBy("knife", AGENT), any_class("knife", KNIVES))))
MOVABLE: Final = affords("x", "movable", classes=ALSO_MOVABLE, doing="moved")
HELD: Final = "what is held"


def lay_down(relation: str) -> tuple[Effect, ...]:
    """Return the effects of releasing `x` with the `relation` to `y`."""
    return (
        LET_GO,
        Relate(AGENT, "CLOSE", "y", mutual=True),
        Relate("x", "CLOSE", "y", mutual=True),
        Relate("x", relation, "y"),
        FORGET_ORIGIN,
    )


def put(name: str, relation: str, words: str, *extra: Requirement) -> Operator:
    """Return an operator that puts the held object on or into a node that the agent is close to."""
    parameters = Parameter("x", HELD), Parameter("y", "where it shall be")
    return Operator(name, parameters, (holds("x"), close_to("y"), *extra), lay_down(relation), words)


def change(name: str, x: str, *requires: Requirement, before: str, after: str, words: str) -> Operator:
    """Return an operator that brings a thing within reach from one state into another.

    The first requirement is that of what the thing affords; that of a free hand comes before, others after the state.
    """
    free = [it for it in requires if it is A_FREE_HAND]
    first, *others = (it for it in requires if it is not A_FREE_HAND)
    state = in_state("x", before, ended_by=name.replace("_", " "))
    needed = (first, close_to("x"), *free, state, *others)
    return on_thing(name, words, *needed, x=x, effects=(Become("x", after, instead_of=before),))


def clean(name: str, words: str, *requires: Requirement, choose: tuple[Choose, ...] = ()) -> Operator:
    """Return an operator that makes a thing clean."""
    effects = (Become("x", "clean", instead_of="dirty"),)
    return on_thing(name, words, close_to("x"), *requires, effects=effects, choose=choose)


def shift(name: str, words: str, *requires: Requirement) -> Operator:
    """Return the operator of pushing, pulling or moving, which has no effect in the engine."""
    return on_thing(name, words, *requires, close_to("x"), not_enclosed("x"), A_FREE_HAND)


GRAB: Final = on_thing(
    "grab",
    "take a thing into a free hand; it must be within reach and in nothing closed",
    affords("x", "grabbable", classes=("water", "child"), doing="grabbed"),
    Requirement(c.Not(is_bound("before")), "{x} was grabbed already, from {before}", "already"),
    close_to("x"),
    not_enclosed("x"),
    A_FREE_HAND,
    IN_A_ROOM,
    x="a thing that can be grabbed",
    effects=(
        Unrelate("x", ("ON", "INSIDE", "CLOSE", *HANDS)),
        Relate(AGENT, "CLOSE", "x", mutual=True),
        When(is_bound("right"), (Relate(AGENT, "HOLDS_LH", "x"),), (Relate(AGENT, "HOLDS_RH", "x"),)),
        Relate("x", "INSIDE", "here"),
        Relate(AGENT, "CLOSE", "origin", mutual=True),
        When(
            c.Related("x", "ON", "origin"),
            (Relate("x", "TAKEN_OFF", "origin"),),
            (
                When(
                    c.Related("x", "INSIDE", "origin"),
                    (Relate("x", "TAKEN_OUT_OF", "origin"),),
                    (Relate("x", "TAKEN_FROM", "origin"),),
                ),
            ),
        ),
    ),
    choose=(
        Choose("before", tuple(c.Related("x", type_, "before") for type_ in REMEMBERED)),
        Choose(
            "origin", tuple(c.And((c.Related("x", t, "origin"), not_room("origin"))) for t in ("ON", "INSIDE", "CLOSE"))
        ),
    ),
)
DROP: Final = on_thing(
    "drop",
    "let a thing that is held fall to the floor of the room",
    holds("x"),
    IN_A_ROOM,
    x=HELD,
    effects=(LET_GO, Relate("x", "INSIDE", "here"), FORGET_ORIGIN),
)

OPERATORS: Final = by_name(
    GRAB,
    put("put_on", "ON", "lay a thing that is held on another within reach"),
    put(
        "put_in",
        "INSIDE",
        "put a thing that is held into another within reach, which must be open if it can be opened",
        Requirement(OPEN_OR_OPENLESS, "{y} is closed", "affordance", Repair("open", ("y",))),
    ),
    on_thing(
        "put_back",
        "put a thing that is held back to where it was taken from; where that is far or closed, nothing happens",
        Requirement(
            is_bound("y"),
            "{x} was not taken from anywhere, so that it can't be put back",
            repair=Repair("grab", ("x",)),
        ),
        x=HELD,
        effects=tuple(
            When(c.And((c.Related("x", before, "y"), c.HeldBy("x", AGENT), is_close("y"), *also)), lay_down(relation))
            for before, relation, also in (
                ("TAKEN_OFF", "ON", ()),
                ("TAKEN_OUT_OF", "INSIDE", (OPEN_OR_OPENLESS,)),
                ("TAKEN_FROM", "CLOSE", ()),
            )
        ),
        choose=(Choose("y", tuple(c.Related("x", type_, "y") for type_ in REMEMBERED)),),
    ),
    DROP,
    replace(DROP, name="release", words="let go of a thing that is held, here in the room"),
    Operator(
        "pour",
        (Parameter("x", "what is held and poured"), Parameter("y", "what it goes into")),
        (
            affords("x", "pourable", "drinkable", doing="poured"),
            affords("y", "recipient", classes=("hands_both", "sponge", "face"), doing="poured into"),
            holds("x"),
            close_to("y"),
        ),
        (Relate("x", "INSIDE", "y"), When(c.HasClass("x", "water"), (LET_GO,))),
        "pour a thing that is held into another within reach; it stays in the hand, unless it is water",
    ),
    on_thing(
        "wear",
        "put on clothes that are held",
        holds("x"),
        affords("x", "clothes", doing="worn"),
        x="clothes that are held",
        effects=(Relate("x", "ON", AGENT), LET_GO),
    ),
    on_thing(
        "put_off",
        "take off clothes that are worn",
        Requirement(
            c.Related("x", "ON", AGENT),
            "{agent} does not wear {x}",
            repair=Repair("wear", ("x",)),
            held_earlier=(c.Related("x", "ON", AGENT),),
        ),
        affords("x", "clothes", doing="taken off"),
        x="clothes that are worn",
        effects=(Unrelate("x", ("ON",), AGENT, directed=True),),
    ),
    on_thing("read", "read what is held", affords("x", "readable", doing="read"), holds("x"), x=HELD),
    on_thing(
        "drink",
        "drink what is held, or from it",
        affords("x", "drinkable", "recipient", doing="drunk"),
        holds("x"),
        x="a drink, or what it is in",
    ),
    on_thing(
        "eat",
        "eat food within reach, or what lies on a thing within reach",
        close_to("x"),
        Requirement(
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
        affords("x", "can_open", classes=ALSO_OPENABLE, doing="opened"),
        A_FREE_HAND,
        Requirement(c.Not(c.HasState("x", "on")), "{x} is switched on", "already", Repair("switch_off", ("x",))),
        before="closed",
        after="open",
        words="open a thing within reach; it takes a free hand, and the thing must be switched off",
    ),
    change(
        "close",
        "a thing that can be closed",
        affords("x", "can_open", classes=ALSO_OPENABLE, doing="closed"),
        before="open",
        after="closed",
        words="close a thing within reach",
    ),
    change(
        "switch_on",
        "a device",
        affords("x", "has_switch", doing="switched on"),
        Requirement(c.Not(c.HasState("x", "plugged_out")), "{x} is unplugged", "already", Repair("plug_in", ("x",))),
        before="off",
        after="on",
        words="switch a device within reach on",
    ),
    change(
        "switch_off",
        "a device",
        affords("x", "has_switch", doing="switched off"),
        before="on",
        after="off",
        words="switch a device within reach off",
    ),
    change(
        "plug_in",
        "a device",
        affords("x", "has_plug", doing="plugged in or out"),
        A_FREE_HAND,
        before="plugged_out",
        after="plugged_in",
        words="plug a device within reach in, with a free hand",
    ),
    change(
        "plug_out",
        "a device",
        affords("x", "has_plug", doing="plugged in or out"),
        A_FREE_HAND,
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
        Requirement(
            c.Or((is_bound("right"), is_bound("left"))),
            "{agent} holds nothing to wipe with: grab something first",
            held_earlier=(c.Exists("held", c.HeldBy("held", AGENT)),),
        ),
        choose=IN_HANDS,
    ),
    on_thing(
        "squeeze",
        "squeeze clothes or another soft thing within reach, with a free hand",
        A_FREE_HAND,
        close_to("x"),
        affords("x", "clothes", classes=ALSO_SQUEEZABLE, doing="squeezed"),
    ),
    on_thing("touch", "touch a thing within reach that is in nothing closed", close_to("x"), not_enclosed("x")),
    on_thing(
        "type",
        "type on a keyboard or another device within reach",
        close_to("x"),
        affords("x", "has_switch", classes=("keyboard",), doing="typed on"),
        x="a keyboard, or another thing with a switch",
    ),
    on_thing(
        "cut",
        "cut food within reach with a knife in one hand, the other hand being free",
        A_FREE_HAND,
        close_to("x"),
        Requirement(c.HasAffordance("x", "eatable"), "{x} is no food", "affordance"),
        affords("x", "cuttable", doing="cut"),
        Requirement(A_KNIFE, "{agent} holds no knife: grab one first"),
        x="food that can be cut",
    ),
    shift("push", "push whatever is within reach, with a free hand"),
    shift("pull", "pull a movable thing within reach, with a free hand", MOVABLE),
    shift("move", "move a movable thing within reach, with a free hand", MOVABLE),
)

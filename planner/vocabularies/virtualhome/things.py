"""VirtualHome's actions on things within reach: opening, switching, plugging, cleaning, cutting and moving them."""

from __future__ import annotations

from typing import Final

from scenecypher.db.condition import And, Condition, Exists, HasAffordance, HasState, HeldBy, Not, Or
from scenecypher.planner.actions.operator import (
    AGENT,
    Become,
    Choose,
    Operator,
    Parameter,
    Repair,
    Requirement,
    is_bound,
)
from scenecypher.planner.vocabularies.virtualhome.terms import (
    A_FREE_HAND,
    IN_HANDS,
    KNIVES,
    affords,
    any_class,
    close_to,
    closed_container,
    in_state,
    not_enclosed,
)

THING: Final = Parameter("x", "a thing within reach")
DEVICE: Final = Parameter("x", "a device")
ALSO_OPENABLE: Final = ("desk", "window")
ALSO_MOVABLE: Final = ("button", "chair", "curtain")
ALSO_SQUEEZABLE: Final = (
    *("cleaning_solution", "tooth_paste", "shampoo", "food_peanut_butter", "dish_soap", "soap"),
    *("towel", "rag", "paper", "sponge", "food_lemon", "check"),
)

OPEN: Final = Operator(
    "open",
    (Parameter("x", "a thing that can be opened"),),
    (
        affords("x", "can_open", classes=ALSO_OPENABLE, doing="opened"),
        close_to("x"),
        A_FREE_HAND,
        in_state("x", "closed", ended_by="open"),
        Requirement(Not(HasState("x", "on")), "{x} is switched on", "already", Repair("switch_off", ("x",))),
    ),
    (Become("x", "open", instead_of="closed"),),
    "open a thing within reach; it takes a free hand, and the thing must be switched off",
    IN_HANDS,
)

CLOSE: Final = Operator(
    "close",
    (Parameter("x", "a thing that can be closed"),),
    (
        affords("x", "can_open", classes=ALSO_OPENABLE, doing="closed"),
        close_to("x"),
        in_state("x", "open", ended_by="close"),
    ),
    (Become("x", "closed", instead_of="open"),),
    "close a thing within reach",
)

SWITCH_ON: Final = Operator(
    "switch_on",
    (DEVICE,),
    (
        affords("x", "has_switch", doing="switched on"),
        close_to("x"),
        in_state("x", "off", ended_by="switch on"),
        Requirement(Not(HasState("x", "plugged_out")), "{x} is unplugged", "already", repair=Repair("plug_in", ("x",))),
    ),
    (Become("x", "on", instead_of="off"),),
    "switch a device within reach on",
)

SWITCH_OFF: Final = Operator(
    "switch_off",
    (DEVICE,),
    (
        affords("x", "has_switch", doing="switched off"),
        close_to("x"),
        in_state("x", "on", ended_by="switch off"),
    ),
    (Become("x", "off", instead_of="on"),),
    "switch a device within reach off",
)


def plug_operator(name: str, *, before: str, after: str, words: str) -> Operator:
    """Return an operator that plugs a device in or out."""
    return Operator(
        name,
        (DEVICE,),
        (
            affords("x", "has_plug", doing="plugged in or out"),
            close_to("x"),
            A_FREE_HAND,
            in_state("x", before, ended_by=name.replace("_", " ")),
        ),
        (Become("x", after, instead_of=before),),
        words,
        IN_HANDS,
    )


PLUG_IN: Final = plug_operator(
    "plug_in", before="plugged_out", after="plugged_in", words="plug a device within reach in, with a free hand"
)
PLUG_OUT: Final = plug_operator(
    "plug_out", before="plugged_in", after="plugged_out", words="plug a device within reach out, even while it is on"
)


def clean_operator(name: str, words: str, *requires: Requirement, choose: tuple[Choose, ...] = ()) -> Operator:
    """Return an operator that makes a thing clean."""
    effects = (Become("x", "clean", instead_of="dirty"),)
    return Operator(name, (THING,), (close_to("x"), *requires), effects, words, choose)


WASH: Final = clean_operator("wash", "wash a thing within reach; it becomes clean")
RINSE: Final = clean_operator("rinse", "rinse a thing within reach; it becomes clean")
SCRUB: Final = clean_operator("scrub", "scrub a thing within reach; it becomes clean")
WIPE: Final = clean_operator(
    "wipe",
    "wipe a thing within reach with whatever is held; it becomes clean",
    Requirement(
        Or((is_bound("right"), is_bound("left"))),
        "{agent} holds nothing to wipe with: grab something first",
        held_earlier=(Exists("held", HeldBy("held", AGENT)),),
    ),
    choose=IN_HANDS,
)

SQUEEZE: Final = Operator(
    "squeeze",
    (THING,),
    (A_FREE_HAND, close_to("x"), affords("x", "clothes", classes=ALSO_SQUEEZABLE, doing="squeezed")),
    (),
    "squeeze clothes or another soft thing within reach, with a free hand",
    IN_HANDS,
)

TOUCH: Final = Operator(
    "touch",
    (THING,),
    (close_to("x"), not_enclosed("x")),
    (),
    "touch a thing within reach that is in nothing closed",
    (closed_container("x"),),
)

TYPE: Final = Operator(
    "type",
    (Parameter("x", "a keyboard, or another thing with a switch"),),
    (close_to("x"), affords("x", "has_switch", classes=("keyboard",), doing="typed on")),
    (),
    "type on a keyboard or another device within reach",
)

A_KNIFE: Final[Condition] = Exists("knife", And((HeldBy("knife", AGENT), any_class("knife", KNIVES))))

CUT: Final = Operator(
    "cut",
    (Parameter("x", "food that can be cut"),),
    (
        A_FREE_HAND,
        close_to("x"),
        Requirement(HasAffordance("x", "eatable"), "{x} is no food", "affordance"),
        affords("x", "cuttable", doing="cut"),
        Requirement(A_KNIFE, "{agent} holds no knife: grab one first"),
    ),
    (),
    "cut food within reach with a knife in one hand, the other hand being free",
    IN_HANDS,
)


def shift_operator(name: str, words: str, *requires: Requirement) -> Operator:
    """Return the operator of pushing, pulling or moving, which has no effect in the engine."""
    return Operator(
        name,
        (THING,),
        (*requires, close_to("x"), not_enclosed("x"), A_FREE_HAND),
        (),
        words,
        (closed_container("x"), *IN_HANDS),
    )


MOVABLE: Final = affords("x", "movable", classes=ALSO_MOVABLE, doing="moved")
PUSH: Final = shift_operator("push", "push whatever is within reach, with a free hand")
PULL: Final = shift_operator("pull", "pull a movable thing within reach, with a free hand", MOVABLE)
MOVE: Final = shift_operator("move", "move a movable thing within reach, with a free hand", MOVABLE)

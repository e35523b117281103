"""VirtualHome's actions that take, carry and put down objects, and those that use a held object."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.condition import And, Condition, Exists, HasAffordance, HasClass, HasState, HeldBy, Not, Or, Related
from scenecypher.db.schema import REMEMBERED
from scenecypher.planner.actions.operator import (
    AGENT,
    Choose,
    Effect,
    Operator,
    Parameter,
    Relate,
    Repair,
    Requirement,
    Unrelate,
    When,
    is_bound,
)
from scenecypher.planner.vocabularies.virtualhome.terms import (
    A_FREE_HAND,
    HANDS,
    IN_A_ROOM,
    IN_HANDS,
    affords,
    close_to,
    closed_container,
    holds,
    is_close,
    not_enclosed,
    not_room,
    room_of,
)

HELD_THING: Final = Parameter("x", "what is held")
LET_GO: Final = Unrelate("x", HANDS, AGENT)
FORGET_ORIGIN: Final = Unrelate("x", REMEMBERED, directed=True)

OPEN_OR_OPENLESS: Final[Condition] = Or((Not(HasAffordance("y", "can_open")), HasState("y", "open")))


def lay_down(relation: str) -> tuple[Effect, ...]:
    """Return the effects of releasing `x` with the `relation` to `y`."""
    return (
        LET_GO,
        Relate(AGENT, "CLOSE", "y", mutual=True),
        Relate("x", "CLOSE", "y", mutual=True),
        Relate("x", relation, "y"),
        FORGET_ORIGIN,
    )


def put_operator(name: str, relation: str, words: str, *extra: Requirement) -> Operator:
    """Return an operator that puts the held object on or into a node that the agent is close to."""
    return Operator(
        name,
        (HELD_THING, Parameter("y", "where it shall be")),
        (holds("x"), close_to("y"), *extra),
        lay_down(relation),
        words,
    )


GRAB: Final = Operator(
    "grab",
    (Parameter("x", "a thing that can be grabbed"),),
    (
        affords("x", "grabbable", classes=("water", "child"), doing="grabbed"),
        Requirement(Not(is_bound("before")), "{x} was grabbed already, from {before}", "already"),
        close_to("x"),
        not_enclosed("x"),
        A_FREE_HAND,
        IN_A_ROOM,
    ),
    (
        Unrelate("x", ("ON", "INSIDE", "CLOSE", *HANDS)),
        Relate(AGENT, "CLOSE", "x", mutual=True),
        When(is_bound("right"), (Relate(AGENT, "HOLDS_LH", "x"),), (Relate(AGENT, "HOLDS_RH", "x"),)),
        Relate("x", "INSIDE", "here"),
        Relate(AGENT, "CLOSE", "origin", mutual=True),
        When(
            Related("x", "ON", "origin"),
            (Relate("x", "TAKEN_OFF", "origin"),),
            (
                When(
                    Related("x", "INSIDE", "origin"),
                    (Relate("x", "TAKEN_OUT_OF", "origin"),),
                    (Relate("x", "TAKEN_FROM", "origin"),),
                ),
            ),
        ),
    ),
    "take a thing into a free hand; it must be within reach and in nothing closed",
    (
        room_of(AGENT, "here"),
        closed_container("x"),
        *IN_HANDS,
        Choose("before", tuple(Related("x", type_, "before") for type_ in REMEMBERED)),
        Choose(
            "origin", tuple(And((Related("x", t, "origin"), not_room("origin"))) for t in ("ON", "INSIDE", "CLOSE"))
        ),
    ),
)

PUT_ON: Final = put_operator("put_on", "ON", "lay a thing that is held on another within reach")

PUT_IN: Final = put_operator(
    "put_in",
    "INSIDE",
    "put a thing that is held into another within reach, which must be open if it can be opened",
    Requirement(OPEN_OR_OPENLESS, "{y} is closed", "affordance", Repair("open", ("y",))),
)

PUT_BACK: Final = Operator(
    "put_back",
    (HELD_THING,),
    (
        Requirement(
            is_bound("y"),
            "{x} was not taken from anywhere, so that it can't be put back",
            repair=Repair("grab", ("x",)),
        ),
    ),
    tuple(
        When(And((Related("x", before, "y"), HeldBy("x", AGENT), is_close("y"), *also)), lay_down(relation))
        for before, relation, also in (
            ("TAKEN_OFF", "ON", ()),
            ("TAKEN_OUT_OF", "INSIDE", (OPEN_OR_OPENLESS,)),
            ("TAKEN_FROM", "CLOSE", ()),
        )
    ),
    "put a thing that is held back to where it was taken from; where that is far or closed, nothing happens",
    (Choose("y", tuple(Related("x", type_, "y") for type_ in REMEMBERED)),),
)

DROP: Final = Operator(
    "drop",
    (HELD_THING,),
    (holds("x"), IN_A_ROOM),
    (LET_GO, Relate("x", "INSIDE", "here"), FORGET_ORIGIN),
    "let a thing that is held fall to the floor of the room",
    (room_of(AGENT, "here"),),
)

RELEASE: Final = replace(DROP, name="release", words="let go of a thing that is held, here in the room")

POUR: Final = Operator(
    "pour",
    (Parameter("x", "what is held and poured"), Parameter("y", "what it goes into")),
    (
        affords("x", "pourable", "drinkable", doing="poured"),
        affords("y", "recipient", classes=("hands_both", "sponge", "face"), doing="poured into"),
        holds("x"),
        close_to("y"),
    ),
    (Relate("x", "INSIDE", "y"), When(HasClass("x", "water"), (LET_GO,))),
    "pour a thing that is held into another within reach; it stays in the hand, unless it is water",
)

WEAR: Final = Operator(
    "wear",
    (Parameter("x", "clothes that are held"),),
    (holds("x"), affords("x", "clothes", doing="worn")),
    (Relate("x", "ON", AGENT), LET_GO),
    "put on clothes that are held",
)

PUT_OFF: Final = Operator(
    "put_off",
    (Parameter("x", "clothes that are worn"),),
    (
        Requirement(
            Related("x", "ON", AGENT),
            "{agent} does not wear {x}",
            repair=Repair("wear", ("x",)),
            held_earlier=(Related("x", "ON", AGENT),),
        ),
        affords("x", "clothes", doing="taken off"),
    ),
    (Unrelate("x", ("ON",), AGENT, directed=True),),
    "take off clothes that are worn",
)

READ: Final = Operator(
    "read",
    (Parameter("x", "what is held"),),
    (affords("x", "readable", doing="read"), holds("x")),
    (),
    "read what is held",
)

DRINK: Final = Operator(
    "drink",
    (Parameter("x", "a drink, or what it is in"),),
    (affords("x", "drinkable", "recipient", doing="drunk"), holds("x")),
    (),
    "drink what is held, or from it",
)

EAT: Final = Operator(
    "eat",
    (Parameter("x", "food, or what it lies on"),),
    (
        close_to("x"),
        Requirement(
            Or(
                (
                    HasAffordance("x", "eatable"),
                    Exists("food", And((Related("food", "ON", "x"), HasAffordance("food", "eatable")))),
                )
            ),
            "{x} can not be eaten, nor anything on it",
            "affordance",
        ),
    ),
    (),
    "eat food within reach, or what lies on a thing within reach",
)

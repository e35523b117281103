"""VirtualHome's actions of the body: going, sitting, lying, standing, turning and looking."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.condition import And, Condition, HasAffordance, HasClass, HasState, HeldBy, Not, Or, Related, Same
from scenecypher.planner.actions.operator import (
    AGENT,
    Become,
    Cease,
    Effect,
    ForEach,
    Operator,
    Parameter,
    Relate,
    Requirement,
    Unrelate,
    When,
    is_bound,
)
from scenecypher.planner.vocabularies.virtualhome.terms import (
    AT_REST,
    BODY_PARTS,
    IN_A_ROOM,
    ON_ITS_FEET,
    SITS_OR_LIES,
    affords,
    any_class,
    close_to,
    closed_container,
    faces,
    is_close,
    not_enclosed,
    not_room,
    room_for,
    room_of,
    unless,
)

SEATS: Final = ((4, ("couch", "bed", "sofa")), (2, ("loveseat", "pianobench", "bench")))
BERTHS: Final = ((3, ("bed",)), (2, ("couch", "bathtub", "loveseat", "sofa")))
A_WAY_THERE: Final = Requirement(is_bound("room"), "{x} is in no room, so that there is no way to it", "affordance")


def come_close(held_room: str) -> tuple[Effect, ...]:
    """The agent comes to the room of `x` and close to `x`; what it holds comes to be inside `held_room`."""
    return (
        Unrelate(AGENT, ("INSIDE", "CLOSE", "FACING")),
        Relate(AGENT, "INSIDE", "room"),
        When(
            Not(Same("room", "x")),
            (
                Relate(AGENT, "CLOSE", "x", mutual=True),
                ForEach(
                    "box",
                    And((Related("x", "INSIDE", "box"), not_room("box"), Not(Same("box", AGENT)))),
                    (Relate(AGENT, "CLOSE", "box", mutual=True),),
                ),
                ForEach(
                    "part",
                    And((HasAffordance("part", "body_part"), any_class("part", BODY_PARTS))),
                    (Relate(AGENT, "CLOSE", "part", mutual=True),),
                ),
            ),
        ),
        ForEach(
            "held",
            HeldBy("held", AGENT),
            (
                Unrelate("held", ("INSIDE", "CLOSE", "FACING")),
                Relate(AGENT, "CLOSE", "held", mutual=True),
                Relate("held", "INSIDE", held_room),
            ),
        ),
        When(
            And((HasAffordance("x", "can_open"), Not(HeldBy("x", AGENT)))),
            (
                ForEach(
                    "content",
                    And((Related("content", "INSIDE", "x"), Not(Same("content", AGENT)))),
                    (Relate(AGENT, "CLOSE", "content", mutual=True),),
                ),
            ),
        ),
        ForEach("below", Related("x", "ON", "below"), (Relate(AGENT, "CLOSE", "below", mutual=True),)),
    )


COME_CLOSE: Final = come_close("here")
"""The engine leaves what is held in the room that the agent leaves: it follows with the next walk."""

WALK: Final = Operator(
    "walk",
    (Parameter("x", "a room or a thing"),),
    (ON_ITS_FEET, IN_A_ROOM, A_WAY_THERE),
    COME_CLOSE,
    "go to a room or up to a thing; what is held comes along",
    (room_of(AGENT, "here"), room_of("x", "room")),
)

RUN: Final = replace(WALK, name="run", words="go quickly to a room or up to a thing; what is held comes along")

AT_HAND: Final[Condition] = Or((Related("x", "ON", AGENT), HasAffordance("x", "body_part"), is_close("x")))
"""The condition under which no walk is needed: worn things, parts of the body, and what is close already."""


def find_effects(walk: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """`x` is at hand, or the agent walks there with the effects `walk`."""
    at_hand = (Unrelate(AGENT, ("FACING",), directed=True), Relate(AGENT, "CLOSE", "x", mutual=True))
    return (When(AT_HAND, at_hand, walk),)


FIND: Final = Operator(
    "find",
    (Parameter("x", "a room or a thing"),),
    (
        replace(close_to("x"), condition=Or((Not(AT_HAND), is_close("x")))),
        unless(AT_HAND, ON_ITS_FEET),
        unless(AT_HAND, IN_A_ROOM),
        unless(AT_HAND, A_WAY_THERE),
    ),
    find_effects(COME_CLOSE),
    "find a thing that is close by, or else go up to it",
    WALK.choose,
)

SIT: Final = Operator(
    "sit",
    (Parameter("x", "a seat"),),
    (
        close_to("x"),
        Requirement(Not(HasState(AGENT, "sitting")), "{agent} sits already", "already"),
        affords("x", "sittable", doing="sat on"),
        room_for("x", SEATS),
    ),
    (
        Relate(AGENT, "ON", "x"),
        ForEach("seen", Related("x", "FACING", "seen"), (Relate(AGENT, "FACING", "seen"),)),
        Become(AGENT, "sitting", instead_of="lying"),
    ),
    "sit down on a seat within reach that has room; the agent then faces what the seat faces",
)

LIE: Final = Operator(
    "lie",
    (Parameter("x", "a bed or the like"),),
    (
        close_to("x"),
        Requirement(Not(HasState(AGENT, "lying")), "{agent} lies already", "already"),
        affords("x", "lieable", doing="lain on"),
        room_for("x", BERTHS),
    ),
    (Relate(AGENT, "ON", "x"), Become(AGENT, "lying", instead_of="sitting")),
    "lie down on a thing within reach that has room",
)

STAND_UP: Final = Operator(
    "stand_up",
    (),
    (Requirement(SITS_OR_LIES, "{agent} neither sits nor lies", "already"),),
    (Cease(AGENT, "sitting"), Cease(AGENT, "lying")),
    "stand up from sitting or lying; the seat still counts as taken",
)

SLEEP: Final = Operator("sleep", (), (AT_REST,), (), "sleep, sitting or lying")
WAKE_UP: Final = Operator("wake_up", (), (AT_REST,), (), "wake up, sitting or lying")

TURN_TO: Final = Operator(
    "turn_to",
    (Parameter("x", "a thing, a room or a person"),),
    (),
    (Unrelate(AGENT, ("FACING",), directed=True), Relate(AGENT, "FACING", "x")),
    "turn to a thing, wherever it is",
)

LOOK_AT: Final = Operator("look_at", (Parameter("x", "a thing"),), (faces("x"),), (), "look at a thing that is faced")
POINT_AT: Final = Operator("point_at", (Parameter("x", "a thing"),), (faces("x"),), (), "point at what is faced")

WATCH: Final = Operator(
    "watch",
    (Parameter("x", "a thing to look at"),),
    (
        affords("x", "lookable", doing="watched"),
        Requirement(Same("here", "room"), "{x} is not in the room where {agent} is", "affordance"),
        faces("x"),
        replace(
            faces("x"),
            condition=Or((HasClass("x", "computer"), Not(SITS_OR_LIES), Related(AGENT, "FACING", "x"))),
            message="{agent} sits or lies, and does not face {x} itself",
        ),
        not_enclosed("x"),
    ),
    (),
    "watch a thing in the same room that is faced; whoever sits or lies must face it directly",
    (room_of(AGENT, "here"), room_of("x", "room"), closed_container("x")),
)

GREET: Final = Operator(
    "greet", (Parameter("x", "a person"),), (affords("x", "person", doing="greeted"),), (), "greet a person"
)

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
    by_name,
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
    on_thing,
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

WALK: Final = on_thing(
    "walk",
    "go to a room or up to a thing; what is held comes along",
    ON_ITS_FEET,
    IN_A_ROOM,
    A_WAY_THERE,
    x="a room or a thing",
    effects=COME_CLOSE,
    choose=(room_of("x", "room"),),
)

AT_HAND: Final[Condition] = Or((Related("x", "ON", AGENT), HasAffordance("x", "body_part"), is_close("x")))
"""The condition under which no walk is needed: worn things, parts of the body, and what is close already."""


def find_effects(walk: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """`x` is at hand, or the agent walks there with the effects `walk`."""
    at_hand = (Unrelate(AGENT, ("FACING",), directed=True), Relate(AGENT, "CLOSE", "x", mutual=True))
    return (When(AT_HAND, at_hand, walk),)


OPERATORS: Final = by_name(
    WALK,
    replace(WALK, name="run", words="go quickly to a room or up to a thing; what is held comes along"),
    on_thing(
        "find",
        "find a thing that is close by, or else go up to it",
        replace(close_to("x"), condition=Or((Not(AT_HAND), is_close("x")))),
        unless(AT_HAND, ON_ITS_FEET),
        unless(AT_HAND, IN_A_ROOM),
        unless(AT_HAND, A_WAY_THERE),
        x="a room or a thing",
        effects=find_effects(COME_CLOSE),
        choose=WALK.choose,
    ),
    on_thing(
        "sit",
        "sit down on a seat within reach that has room; the agent then faces what the seat faces",
        close_to("x"),
        Requirement(Not(HasState(AGENT, "sitting")), "{agent} sits already", "already"),
        affords("x", "sittable", doing="sat on"),
        room_for("x", SEATS),
        x="a seat",
        effects=(
            Relate(AGENT, "ON", "x"),
            ForEach("seen", Related("x", "FACING", "seen"), (Relate(AGENT, "FACING", "seen"),)),
            Become(AGENT, "sitting", instead_of="lying"),
        ),
    ),
    on_thing(
        "lie",
        "lie down on a thing within reach that has room",
        close_to("x"),
        Requirement(Not(HasState(AGENT, "lying")), "{agent} lies already", "already"),
        affords("x", "lieable", doing="lain on"),
        room_for("x", BERTHS),
        x="a bed or the like",
        effects=(Relate(AGENT, "ON", "x"), Become(AGENT, "lying", instead_of="sitting")),
    ),
    Operator(
        "stand_up",
        (),
        (Requirement(SITS_OR_LIES, "{agent} neither sits nor lies", "already"),),
        (Cease(AGENT, "sitting"), Cease(AGENT, "lying")),
        "stand up from sitting or lying; the seat still counts as taken",
    ),
    Operator("sleep", (), (AT_REST,), (), "sleep, sitting or lying"),
    Operator("wake_up", (), (AT_REST,), (), "wake up, sitting or lying"),
    on_thing(
        "turn_to",
        "turn to a thing, wherever it is",
        x="a thing, a room or a person",
        effects=(Unrelate(AGENT, ("FACING",), directed=True), Relate(AGENT, "FACING", "x")),
    ),
    on_thing("look_at", "look at a thing that is faced", faces("x"), x="a thing"),
    on_thing("point_at", "point at what is faced", faces("x"), x="a thing"),
    Operator(
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
    ),
    on_thing("greet", "greet a person", affords("x", "person", doing="greeted"), x="a person"),
)

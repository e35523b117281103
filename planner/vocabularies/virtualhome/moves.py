"""VirtualHome's actions of the body: going, sitting, lying, standing, turning and looking."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.condition import And, Condition, HasAffordance, HasClass, HasState, HeldBy, Not, Or, Related, Same
from scenecypher.planner.actions import operator as op
from scenecypher.planner.vocabularies.virtualhome import terms as t

SEATS: Final = ((4, ("couch", "bed", "sofa")), (2, ("loveseat", "pianobench", "bench")))
BERTHS: Final = ((3, ("bed",)), (2, ("couch", "bathtub", "loveseat", "sofa")))
A_WAY_THERE: Final = op.Requirement(
    op.is_bound("room"), "{x} is in no room, so that there is no way to it", "affordance"
)


def come_close(held_room: str) -> tuple[op.Effect, ...]:
    """The agent comes to the room of `x` and close to `x`; what it holds comes to be inside `held_room`."""
    return (
        op.Unrelate(op.AGENT, ("INSIDE", "CLOSE", "FACING")),
        op.Relate(op.AGENT, "INSIDE", "room"),
        op.When(
            Not(Same("room", "x")),
            (
                op.Relate(op.AGENT, "CLOSE", "x", mutual=True),
                op.ForEach(
                    "box",
                    And((Related("x", "INSIDE", "box"), t.not_room("box"), Not(Same("box", op.AGENT)))),
                    (op.Relate(op.AGENT, "CLOSE", "box", mutual=True),),
                ),
                op.ForEach(
                    "part",
                    And((HasAffordance("part", "body_part"), t.any_class("part", t.BODY_PARTS))),
                    (op.Relate(op.AGENT, "CLOSE", "part", mutual=True),),
                ),
            ),
        ),
        op.ForEach(
            "held",
            HeldBy("held", op.AGENT),
            (
                op.Unrelate("held", ("INSIDE", "CLOSE", "FACING")),
                op.Relate(op.AGENT, "CLOSE", "held", mutual=True),
                op.Relate("held", "INSIDE", held_room),
            ),
        ),
        op.When(
            And((HasAffordance("x", "can_open"), Not(HeldBy("x", op.AGENT)))),
            (
                op.ForEach(
                    "content",
                    And((Related("content", "INSIDE", "x"), Not(Same("content", op.AGENT)))),
                    (op.Relate(op.AGENT, "CLOSE", "content", mutual=True),),
                ),
            ),
        ),
        op.ForEach("below", Related("x", "ON", "below"), (op.Relate(op.AGENT, "CLOSE", "below", mutual=True),)),
    )


COME_CLOSE: Final = come_close("here")
"""The engine leaves what is held in the room that the agent leaves: it follows with the next walk."""

WALK: Final = t.on_thing(
    "walk",
    "go to a room or up to a thing; what is held comes along",
    t.ON_ITS_FEET,
    t.IN_A_ROOM,
    A_WAY_THERE,
    x="a room or a thing",
    effects=COME_CLOSE,
    choose=(t.room_of("x", "room"),),
)

AT_HAND: Final[Condition] = Or((Related("x", "ON", op.AGENT), HasAffordance("x", "body_part"), t.is_close("x")))
"""The condition under which no walk is needed: worn things, parts of the body, and what is close already."""


def find_effects(walk: tuple[op.Effect, ...]) -> tuple[op.Effect, ...]:
    """`x` is at hand, or the agent walks there with the effects `walk`."""
    at_hand = (op.Unrelate(op.AGENT, ("FACING",), directed=True), op.Relate(op.AGENT, "CLOSE", "x", mutual=True))
    return (op.When(AT_HAND, at_hand, walk),)


OPERATORS: Final = op.by_name(
    WALK,
    replace(WALK, name="run", words="go quickly to a room or up to a thing; what is held comes along"),
    t.on_thing(
        "find",
        "find a thing that is close by, or else go up to it",
        replace(t.close_to("x"), condition=Or((Not(AT_HAND), t.is_close("x")))),
        t.unless(AT_HAND, t.ON_ITS_FEET),
        t.unless(AT_HAND, t.IN_A_ROOM),
        t.unless(AT_HAND, A_WAY_THERE),
        x="a room or a thing",
        effects=find_effects(COME_CLOSE),
        choose=WALK.choose,
    ),
    t.on_thing(
        "sit",
        "sit down on a seat within reach that has room; the agent then faces what the seat faces",
        t.close_to("x"),
        op.Requirement(Not(HasState(op.AGENT, "sitting")), "{agent} sits already", "already"),
        t.affords("x", "sittable", doing="sat on"),
        t.room_for("x", SEATS),
        x="a seat",
        effects=(
            op.Relate(op.AGENT, "ON", "x"),
            op.ForEach("seen", Related("x", "FACING", "seen"), (op.Relate(op.AGENT, "FACING", "seen"),)),
            op.Become(op.AGENT, "sitting", instead_of="lying"),
        ),
    ),
    t.on_thing(
        "lie",
        "lie down on a thing within reach that has room",
        t.close_to("x"),
        op.Requirement(Not(HasState(op.AGENT, "lying")), "{agent} lies already", "already"),
        t.affords("x", "lieable", doing="lain on"),
        t.room_for("x", BERTHS),
        x="a bed or the like",
        effects=(op.Relate(op.AGENT, "ON", "x"), op.Become(op.AGENT, "lying", instead_of="sitting")),
    ),
    op.Operator(
        "stand_up",
        (),
        (op.Requirement(t.SITS_OR_LIES, "{agent} neither sits nor lies", "already"),),
        (op.Cease(op.AGENT, "sitting"), op.Cease(op.AGENT, "lying")),
        "stand up from sitting or lying; the seat still counts as taken",
    ),
    op.Operator("sleep", (), (t.AT_REST,), (), "sleep, sitting or lying"),
    op.Operator("wake_up", (), (t.AT_REST,), (), "wake up, sitting or lying"),
    t.on_thing(
        "turn_to",
        "turn to a thing, wherever it is",
        x="a thing, a room or a person",
        effects=(op.Unrelate(op.AGENT, ("FACING",), directed=True), op.Relate(op.AGENT, "FACING", "x")),
    ),
    t.on_thing("look_at", "look at a thing that is faced", t.faces("x"), x="a thing"),
    t.on_thing("point_at", "point at what is faced", t.faces("x"), x="a thing"),
    op.Operator(
        "watch",
        (op.Parameter("x", "a thing to look at"),),
        (
            t.affords("x", "lookable", doing="watched"),
            op.Requirement(Same("here", "room"), "{x} is not in the room where {agent} is", "affordance"),
            t.faces("x"),
            replace(
                t.faces("x"),
                condition=Or((HasClass("x", "computer"), Not(t.SITS_OR_LIES), Related(op.AGENT, "FACING", "x"))),
                message="{agent} sits or lies, and does not face {x} itself",
            ),
            t.not_enclosed("x"),
        ),
        (),
        "watch a thing in the same room that is faced; whoever sits or lies must face it directly",
        (t.room_of(op.AGENT, "here"), t.room_of("x", "room"), t.closed_container("x")),
    ),
    t.on_thing("greet", "greet a person", t.affords("x", "person", doing="greeted"), x="a person"),
)

"""VirtualHome's actions with the meaning that its `evolving_graph` engine gives them, oddities included.

Where the engine's own outcome follows Python's set order (which thing an object was taken from, where several qualify),
ours is the first by id. What the engine remembers besides the graph is that an object was grabbed; here it is held.
"""

from __future__ import annotations

from typing import Final

from db.condition import (
    And,
    AtLeast,
    Condition,
    Exists,
    HasAffordance,
    HasClass,
    HasKind,
    HasState,
    HeldBy,
    Not,
    Or,
    Related,
    Same,
    Within,
)
from planner.actions.operator import (
    AGENT,
    Become,
    Choose,
    ForEach,
    Operator,
    Parameter,
    Relate,
    Repair,
    Requirement,
    Unrelate,
    When,
    bound,
)

HANDS: Final = ("HOLDS_RH", "HOLDS_LH")
ORIGINS: Final = ("ON", "INSIDE", "CLOSE")
BODY_PARTS: Final = (
    *("arms_both", "arms_left", "arms_right", "eye_left", "eye_right", "eyes_both", "face", "feet_both", "feet_left"),
    *("feet_right", "hair", "hands_both", "hands_left", "hands_right", "legs_both", "legs_left", "legs_right"),
)
"""The classes that have the affordance: looked up by class, they cost nothing where there are none."""


def not_room(x: str) -> Condition:
    """`x` is no room."""
    return Not(HasKind(x, "Place"))


def room_of(x: str, room: str) -> Choose:
    """The room of `x`: itself, a room that it is in, or, where it is in one thing only, the room of that."""
    is_room = HasKind(room, "Place")
    in_several = AtLeast(2, "outer", Related(x, "INSIDE", "outer"))
    return Choose(
        room,
        (
            And((Same(room, x), is_room)),
            And((Related(x, "INSIDE", room), is_room)),
            And((Not(in_several), Within(x, room, ("INSIDE",)), is_room)),
        ),
    )


def close_to(x: str) -> Requirement:
    """The agent is CLOSE to `x`, or to something that is CLOSE to it or that it is ON."""
    near = And((Related(AGENT, "CLOSE", "near"), Or((Related("near", "CLOSE", x), Related(x, "ON", "near")))))
    return Requirement(
        Or((Related(AGENT, "CLOSE", x), Exists("near", near))),
        f"{{agent}} is not close to {{{x}}}",
        repair=Repair("walk", (x,)),
    )


def holds(x: str) -> Requirement:
    """The agent holds `x`."""
    return Requirement(
        HeldBy(x, AGENT),
        f"{{agent}} does not hold {{{x}}}",
        repair=Repair("grab", (x,)),
    )


IN_HANDS: Final = (
    Choose("right", (Related(AGENT, "HOLDS_RH", "right"),)),
    Choose("left", (Related(AGENT, "HOLDS_LH", "left"),)),
)
A_FREE_HAND: Final = Requirement(
    Not(And((bound("right"), bound("left")))),
    "{agent} has no free hand, since it holds {right} and {left}: put one of them down first",
    repair=Repair(
        "put_on",
        ("right", "surface"),
        (
            Choose(
                "surface",
                (
                    And(
                        (
                            Related(AGENT, "CLOSE", "surface"),
                            HasAffordance("surface", "surfaces"),
                            Not(Same("surface", "right")),
                        )
                    ),
                ),
            ),
        ),
    ),
)
IN_A_ROOM: Final = Requirement(bound("here"), "{agent} is in no room, so that nothing can be reached from there")


def afford(x: str, affordance: str, *classes: str, doing: str) -> Requirement:
    """`x` has the affordance, or is of one of the classes that the engine lets pass."""
    ways: tuple[Condition, ...] = (HasAffordance(x, affordance), *(HasClass(x, class_) for class_ in classes))
    return Requirement(Or(ways), f"{{{x}}} can not be {doing}", "affordance")


def in_state(x: str, state: str, *, undone_by: str) -> Requirement:
    """`x` is in `state`, which the action is to end."""
    message = f"{{{x}}} is not {state}: there is nothing to {undone_by}"
    return Requirement(HasState(x, state), message, "already")


def put(name: str, relation: str, words: str, *extra: Requirement) -> Operator:
    """Lay what is held ON, or put it INSIDE, what the agent is close to."""
    return Operator(
        name,
        (Parameter("x", "what is held"), Parameter("y", "where it shall be")),
        (holds("x"), close_to("y"), *extra),
        (
            Unrelate("x", HANDS, AGENT),
            Relate(AGENT, "CLOSE", "y", mutual=True),
            Relate("x", "CLOSE", "y", mutual=True),
            Relate("x", relation, "y"),
        ),
        words,
    )


WALK: Final = Operator(
    "walk",
    (Parameter("x", "a room or a thing"),),
    (
        Requirement(
            Not(Or((HasState(AGENT, "sitting"), HasState(AGENT, "lying")))),
            "{agent} sits or lies, and must stand up first",
        ),
        IN_A_ROOM,
        Requirement(bound("room"), "{x} is in no room, so that there is no way to it", "affordance"),
    ),
    (
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
                    And((HasAffordance("part", "body_part"), Or(tuple(HasClass("part", name) for name in BODY_PARTS)))),
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
                Relate("held", "INSIDE", "here"),
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
    ),
    "go to a room or up to a thing; what is held comes along",
    (room_of(AGENT, "here"), room_of("x", "room")),
)

GRAB: Final = Operator(
    "grab",
    (Parameter("x", "a thing that can be grabbed"),),
    (
        afford("x", "grabbable", "water", "child", doing="grabbed"),
        Requirement(Not(HeldBy("x", AGENT)), "{agent} holds {x} already", "already"),
        close_to("x"),
        Requirement(
            Not(bound("box")),
            "{x} is inside {box}, which is closed",
            repair=Repair("open", ("box",)),
        ),
        A_FREE_HAND,
        IN_A_ROOM,
    ),
    (
        Unrelate("x", ("ON", "INSIDE", "CLOSE", *HANDS)),
        Relate(AGENT, "CLOSE", "x", mutual=True),
        When(bound("right"), (Relate(AGENT, "HOLDS_LH", "x"),), (Relate(AGENT, "HOLDS_RH", "x"),)),
        Relate("x", "INSIDE", "here"),
        Relate(AGENT, "CLOSE", "origin", mutual=True),
    ),
    "take a thing into a free hand; it must be within reach and in nothing closed",
    (
        room_of(AGENT, "here"),
        Choose("box", (And((Related("x", "INSIDE", "box"), HasState("box", "closed"), not_room("box"))),)),
        *IN_HANDS,
        Choose(
            "origin", tuple(And((Related("x", t, "origin"), not_room("origin"))) for t in ("ON", "INSIDE", "CLOSE"))
        ),
    ),
)

OPEN: Final = Operator(
    "open",
    (Parameter("x", "a thing that can be opened"),),
    (
        afford("x", "can_open", "desk", "window", doing="opened"),
        close_to("x"),
        A_FREE_HAND,
        in_state("x", "closed", undone_by="open"),
        Requirement(
            Not(HasState("x", "on")),
            "{x} is switched on",
            "already",
            Repair("switch_off", ("x",)),
        ),
    ),
    (Become("x", "open", instead_of="closed"),),
    "open a thing within reach; it takes a free hand, and the thing must be switched off",
    IN_HANDS,
)

CLOSE: Final = Operator(
    "close",
    (Parameter("x", "a thing that can be closed"),),
    (
        afford("x", "can_open", "desk", "window", doing="closed"),
        close_to("x"),
        in_state("x", "open", undone_by="close"),
    ),
    (Become("x", "closed", instead_of="open"),),
    "close a thing within reach",
)

PUT_ON: Final = put("put_on", "ON", "lay a thing that is held on another within reach")

PUT_IN: Final = put(
    "put_in",
    "INSIDE",
    "put a thing that is held into another within reach, which must be open if it can be opened",
    Requirement(
        Or((Not(HasAffordance("y", "can_open")), HasState("y", "open"))),
        "{y} is closed",
        "affordance",
        Repair("open", ("y",)),
    ),
)

SWITCH_ON: Final = Operator(
    "switch_on",
    (Parameter("x", "a device"),),
    (
        afford("x", "has_switch", doing="switched on"),
        close_to("x"),
        in_state("x", "off", undone_by="switch on"),
        Requirement(Not(HasState("x", "plugged_out")), "{x} is unplugged, and must be plugged in first", "already"),
    ),
    (Become("x", "on", instead_of="off"),),
    "switch a device within reach on",
)

SWITCH_OFF: Final = Operator(
    "switch_off",
    (Parameter("x", "a device"),),
    (
        afford("x", "has_switch", doing="switched off"),
        close_to("x"),
        in_state("x", "on", undone_by="switch off"),
    ),
    (Become("x", "off", instead_of="on"),),
    "switch a device within reach off",
)

OPERATORS: Final = {
    operator.name: operator for operator in (WALK, GRAB, PUT_ON, PUT_IN, OPEN, CLOSE, SWITCH_ON, SWITCH_OFF)
}

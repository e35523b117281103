"""What VirtualHome's actions speak of: being close, facing, holding, rooms, hands; each as its engine means it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.condition import (
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
from scenecypher.planner.actions.operator import AGENT, Choose, Repair, Requirement, bound

HANDS: Final = ("HOLDS_RH", "HOLDS_LH")
BODY_PARTS: Final = (
    *("arms_both", "arms_left", "arms_right", "eye_left", "eye_right", "eyes_both", "face", "feet_both", "feet_left"),
    *("feet_right", "hair", "hands_both", "hands_left", "hands_right", "legs_both", "legs_left", "legs_right"),
)
"""The classes that have the affordance: looked up by class, they cost nothing where there are none."""
KNIVES: Final = (
    "chef_knife",
    "chefknife",
    "cutlery_knife",
    "cutleryknife",
    "knife",
    "knifeblock",
    "slice_carvingknife",
)
"""The engine cuts with whatever has "knife" in the name of its class; these are the dataset's classes that do."""

SITS_OR_LIES: Final = Or((HasState(AGENT, "sitting"), HasState(AGENT, "lying")))


def any_class(x: str, classes: tuple[str, ...]) -> Condition:
    """`x` is of one of `classes`."""
    return Or(tuple(HasClass(x, class_) for class_ in classes))


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


def is_close(x: str) -> Condition:
    """The agent is CLOSE to `x`, or to something that is CLOSE to it or that it is ON."""
    near = And((Related(AGENT, "CLOSE", "near"), Or((Related("near", "CLOSE", x), Related(x, "ON", "near")))))
    return Or((Related(AGENT, "CLOSE", x), Exists("near", near)))


def close_to(x: str) -> Requirement:
    """The agent is close to `x`."""
    return Requirement(
        is_close(x),
        f"{{agent}} is not close to {{{x}}}",
        repair=Repair("walk", (x,)),
        once=(Related(AGENT, "CLOSE", x),),
    )


def faces(x: str) -> Requirement:
    """The agent is FACING `x`, or something that is FACING it."""
    seen = And((Related(AGENT, "FACING", "seen"), Related("seen", "FACING", x)))
    return Requirement(
        Or((Related(AGENT, "FACING", x), Exists("seen", seen))),
        f"{{agent}} does not face {{{x}}}",
        repair=Repair("turn_to", (x,)),
        once=(Related(AGENT, "FACING", x),),
    )


def holds(x: str) -> Requirement:
    """The agent holds `x`."""
    return Requirement(
        HeldBy(x, AGENT),
        f"{{agent}} does not hold {{{x}}}",
        repair=Repair("grab", (x,)),
        once=(HeldBy(x, AGENT),),
    )


def closed_box(x: str) -> Choose:
    """The closed thing that `x` is in, as ``box``."""
    return Choose("box", (And((Related(x, "INSIDE", "box"), HasState("box", "closed"), not_room("box"))),))


def not_shut_in(x: str) -> Requirement:
    """`x` is in nothing closed: no ``box`` was found. The engine's list of what was missing names `x` open."""
    return Requirement(
        Not(bound("box")),
        f"{{{x}}} is inside {{box}}, which is closed",
        repair=Repair("open", ("box",)),
        once=(HasState(x, "open"),),
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
    once=(Not(Exists("held", HeldBy("held", AGENT))),),
)
IN_A_ROOM: Final = Requirement(bound("here"), "{agent} is in no room, so that nothing can be reached from there")
ON_ITS_FEET: Final = Requirement(
    Not(SITS_OR_LIES),
    "{agent} sits or lies",
    repair=Repair("stand_up", ()),
    once=(Not(HasState(AGENT, "sitting")), Not(HasState(AGENT, "lying"))),
)
AT_REST: Final = Requirement(
    SITS_OR_LIES,
    "{agent} neither sits nor lies: it must do so first",
    once=(HasState(AGENT, "lying"),),
)


def afford(x: str, *affordances: str, classes: tuple[str, ...] = (), doing: str) -> Requirement:
    """`x` has one of the affordances, or is of one of the classes that the engine lets pass."""
    ways: tuple[Condition, ...] = tuple(HasAffordance(x, affordance) for affordance in affordances)
    ways += tuple(HasClass(x, class_) for class_ in classes)
    return Requirement(Or(ways), f"{{{x}}} can not be {doing}", "affordance")


def in_state(x: str, state: str, *, undone_by: str) -> Requirement:
    """`x` is in `state`, which the action is to end."""
    message = f"{{{x}}} is not {state}: there is nothing to {undone_by}"
    return Requirement(HasState(x, state), message, "already")


def unless(condition: Condition, requirement: Requirement) -> Requirement:
    """`requirement`, but only where `condition` does not hold."""
    return replace(requirement, condition=Or((condition, requirement.condition)))


def room_for(x: str, seats: tuple[tuple[int, tuple[str, ...]], ...]) -> Requirement:
    """Fewer things are ON `x` than it has seats: one, or as many as `seats` gives its class."""
    more = (
        And((any_class(x, classes), Not(AtLeast(number, "other", Related("other", "ON", x)))))
        for number, classes in seats
    )
    free = Not(AtLeast(1, "other", Related("other", "ON", x)))
    return Requirement(Or((free, *more)), f"too many things are on {{{x}}}: take one away first")

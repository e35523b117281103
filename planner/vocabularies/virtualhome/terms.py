"""Conditions, requirements and choices of VirtualHome's actions, with its engine's meaning: close, facing, held."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Final

import scenecypher.db.condition as c
from scenecypher.planner.actions import operator as op

HANDS: Final = ("HOLDS_RH", "HOLDS_LH")
BODY_PARTS: Final = (
    *("arms_both", "arms_left", "arms_right", "eye_left", "eye_right", "eyes_both", "face", "feet_both", "feet_left"),
    *("feet_right", "hair", "hands_both", "hands_left", "hands_right", "legs_both", "legs_left", "legs_right"),
)
"""The classes with the affordance `body_part`: a lookup by class is free if there are none."""
KNIVES: Final = (
    *("chef_knife", "chefknife", "cutlery_knife", "cutleryknife", "knife", "knifeblock", "slice_carvingknife"),
)
"""The dataset's classes with "knife" in their name: with any of them the engine lets the agent cut."""

SITS_OR_LIES: Final = c.Or((c.HasState(op.AGENT, "sitting"), c.HasState(op.AGENT, "lying")))


def any_class(x: str, classes: tuple[str, ...]) -> c.Condition:
    """Return the condition that `x` has one of `classes`."""
    return c.Or(tuple(c.HasClass(x, class_) for class_ in classes))


def not_room(x: str) -> c.Condition:
    """Return the condition that `x` is no room."""
    return c.Not(c.HasKind(x, "Place"))


def room_of(x: str, room: str) -> op.Choose:
    """Choose the room of `x`: itself, a room that it is in, or the room of the only thing that it is in."""
    is_room = c.HasKind(room, "Place")
    in_several = c.AtLeast(2, "outer", c.Related(x, "INSIDE", "outer"))
    return op.Choose(
        room,
        (
            c.And((c.Same(room, x), is_room)),
            c.And((c.Related(x, "INSIDE", room), is_room)),
            c.And((c.Not(in_several), c.Within(x, room, ("INSIDE",)), is_room)),
        ),
    )


def is_close(x: str) -> c.Condition:
    """Return the condition that the agent is CLOSE to `x`, or to a node that is CLOSE to it or that it is ON."""
    near = c.And(
        (c.Related(op.AGENT, "CLOSE", "near"), c.Or((c.Related("near", "CLOSE", x), c.Related(x, "ON", "near"))))
    )
    return c.Or((c.Related(op.AGENT, "CLOSE", x), c.Exists("near", near)))


def close_to(x: str) -> op.Requirement:
    """Require that the agent is close to `x`."""
    return op.Requirement(
        is_close(x),
        f"{{agent}} is not close to {{{x}}}",
        repair=op.Repair("walk", (x,)),
        held_earlier=(c.Related(op.AGENT, "CLOSE", x),),
    )


def faces(x: str) -> op.Requirement:
    """Require that the agent is FACING `x`, or a node that is FACING it."""
    seen = c.And((c.Related(op.AGENT, "FACING", "seen"), c.Related("seen", "FACING", x)))
    return op.Requirement(
        c.Or((c.Related(op.AGENT, "FACING", x), c.Exists("seen", seen))),
        f"{{agent}} does not face {{{x}}}",
        repair=op.Repair("turn_to", (x,)),
        held_earlier=(c.Related(op.AGENT, "FACING", x),),
    )


def holds(x: str) -> op.Requirement:
    """Require that the agent holds `x`."""
    return op.Requirement(
        c.HeldBy(x, op.AGENT),
        f"{{agent}} does not hold {{{x}}}",
        repair=op.Repair("grab", (x,)),
        held_earlier=(c.HeldBy(x, op.AGENT),),
    )


def closed_container(x: str) -> op.Choose:
    """Choose the closed container of `x`, as ``box``."""
    return op.Choose("box", (c.And((c.Related(x, "INSIDE", "box"), c.HasState("box", "closed"), not_room("box"))),))


def not_enclosed(x: str) -> op.Requirement:
    """Require that `x` is in nothing closed (``box`` is unbound).

    The engine lists the missing condition as `x` open.
    """
    return op.Requirement(
        c.Not(op.is_bound("box")),
        f"{{{x}}} is inside {{box}}, which is closed",
        repair=op.Repair("open", ("box",)),
        held_earlier=(c.HasState(x, "open"),),
    )


IN_HANDS: Final = (
    op.Choose("right", (c.Related(op.AGENT, "HOLDS_RH", "right"),)),
    op.Choose("left", (c.Related(op.AGENT, "HOLDS_LH", "left"),)),
)
_NEAR_SURFACE: Final = (
    *(c.Related(op.AGENT, "CLOSE", "surface"), c.HasAffordance("surface", "surfaces")),
    c.Not(c.Same("surface", "right")),
)
A_FREE_HAND: Final = op.Requirement(
    c.Not(c.And((op.is_bound("right"), op.is_bound("left")))),
    "{agent} has no free hand, since it holds {right} and {left}: put one of them down first",
    repair=op.Repair("put_on", ("right", "surface"), (op.Choose("surface", (c.And(_NEAR_SURFACE),)),)),
    held_earlier=(c.Not(c.Exists("held", c.HeldBy("held", op.AGENT))),),
)
IN_A_ROOM: Final = op.Requirement(
    op.is_bound("here"), "{agent} is in no room, so that nothing can be reached from there"
)
ON_ITS_FEET: Final = op.Requirement(
    c.Not(SITS_OR_LIES),
    "{agent} sits or lies",
    repair=op.Repair("stand_up", ()),
    held_earlier=(c.Not(c.HasState(op.AGENT, "sitting")), c.Not(c.HasState(op.AGENT, "lying"))),
)
AT_REST: Final = op.Requirement(
    SITS_OR_LIES,
    "{agent} neither sits nor lies: it must do so first",
    held_earlier=(c.HasState(op.AGENT, "lying"),),
)


READ: Final = (
    (IN_A_ROOM, (room_of(op.AGENT, "here"),)),
    (not_enclosed("x"), (closed_container("x"),)),
    (A_FREE_HAND, IN_HANDS),
)
"""The choices that requirements read."""


def affords(x: str, *affordances: str, classes: tuple[str, ...] = (), doing: str) -> op.Requirement:
    """Require that `x` has one of the affordances, or one of the classes that the engine accepts instead."""
    conditions: tuple[c.Condition, ...] = tuple(c.HasAffordance(x, affordance) for affordance in affordances)
    conditions += tuple(c.HasClass(x, class_) for class_ in classes)
    return op.Requirement(c.Or(conditions), f"{{{x}}} can not be {doing}", "affordance")


def in_state(x: str, state: str, *, ended_by: str) -> op.Requirement:
    """Require that `x` is in `state`, which the action ends."""
    message = f"{{{x}}} is not {state}: there is nothing to {ended_by}"
    return op.Requirement(c.HasState(x, state), message, "already")


def on_thing(
    name: str,
    words: str,
    *requires: op.Requirement,
    x: str = "a thing within reach",
    effects: tuple[op.Effect, ...] = (),
    choose: tuple[op.Choose, ...] = (),
) -> op.Operator:
    """Return an operator on one thing, with the choices that its requirements read, and others."""
    read = [choices for it, choices in READ if it in requires]
    return op.on_thing(name, words, *requires, x=x, effects=effects, choose=(*chain(*read), *choose))


def unless(condition: c.Condition, requirement: op.Requirement) -> op.Requirement:
    """Return `requirement`, waived if `condition` holds."""
    return replace(requirement, condition=c.Or((condition, requirement.condition)))


def room_for(x: str, seats: tuple[tuple[int, tuple[str, ...]], ...]) -> op.Requirement:
    """Require fewer things ON `x` than it has seats: one, or the number that `seats` gives its class."""
    more = (
        c.And((any_class(x, classes), c.Not(c.AtLeast(number, "other", c.Related("other", "ON", x)))))
        for number, classes in seats
    )
    free = c.Not(c.AtLeast(1, "other", c.Related("other", "ON", x)))
    return op.Requirement(c.Or((free, *more)), f"too many things are on {{{x}}}: take one away first")

"""GraSIF's vocabulary (LookPlanGraph, appendix F): a robot with one hand among rooms, assets and objects.

A node is on, in, under or attached to at most one other, and its contents move along with it. Nodes inside something
closed can be neither seen nor touched.
"""

from __future__ import annotations

from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.vocabulary import Conventions
from scenecypher.importers.behavior import affordances_of
from scenecypher.planner.actions import operator as op
from scenecypher.planner.actions.text import Macro
from scenecypher.planner.vocabularies.household import (
    CONTAINMENT,
    IN_NO_OTHER_HAND,
    UNSEEN,
    go_to,
    in_room,
    is_in_or_on,
    not_enclosed,
)
from scenecypher.planner.vocabularies.vocabulary import Looking, Planning, Vocabulary, words_beside

HERE: Final = op.Choose("here", (c.Related(op.AGENT, "INSIDE", "here"),))
HELD: Final = op.Choose("held", (c.Related(op.AGENT, "HOLDS", "held"),))


def is_carried(x: str) -> c.Condition:
    """Return the condition that `x` is in the agent's hand, or in or on the held object."""
    return c.Or((c.Same(x, "held"), c.Within(x, "held", CONTAINMENT)))


def room_of(x: str) -> op.Choose:
    """Choose the room that `x` is in, over any number of containers."""
    return op.Choose("room", (c.And((c.Within(x, "room", CONTAINMENT), c.HasKind("room", "Place"))),))


def closed_container_of(x: str) -> op.Choose:
    """Choose a closed node that `x` is inside of, over any number of containers."""
    inside = c.Exists("content", c.And((c.Within(x, "content", CONTAINMENT), c.Related("content", "INSIDE", "lid"))))
    closed = c.And((c.HasState("lid", "closed"), c.Or((c.Related(x, "INSIDE", "lid"), inside))))
    return op.Choose("lid", (c.And((c.Within(x, "lid", CONTAINMENT), closed)),))


def within_reach(x: str) -> tuple[op.Requirement, ...]:
    """Require that the agent is in the room of `x`, or carries it, and can touch it; reads the choices of `reach`."""
    return in_room(x, c.Or((c.Same("here", "room"), is_carried(x)))), not_enclosed(x)


def reach(x: str) -> tuple[op.Choose, ...]:
    """Return the choices that `within_reach` reads."""
    return HERE, HELD, room_of(x), closed_container_of(x)


def affords(x: str, action: str, doing: str) -> op.Requirement:
    """Require that `x` affords the action."""
    return op.Requirement(c.HasAffordance(x, action), f"{{{x}}} can not be {doing}", "affordance")


_SURFACE_HERE: Final = c.And((c.Related("surface", "INSIDE", "here"), c.HasAffordance("surface", "put_on")))
A_FREE_HAND: Final = op.Requirement(
    c.Or((c.Not(op.is_bound("held")), c.Same("x", "held"))),
    "{agent} holds {held}, and has one hand",
    repair=op.Repair("put_on", ("surface",), (HERE, op.Choose("surface", (_SURFACE_HERE,)))),
)
SOMETHING_HELD: Final = op.Requirement(op.is_bound("held"), "{agent} holds nothing: pick something up first")


def put_operator(action: str, relation: str, doing: str, words: str, *extra: op.Requirement) -> op.Operator:
    """Return an operator that gives the held object the `relation` to the destination."""
    return op.on_thing(
        action,
        words,
        SOMETHING_HELD,
        affords("x", action, doing),
        op.Requirement(c.Not(is_carried("x")), "{x} is in the hand itself: choose what stands elsewhere", "affordance"),
        *within_reach("x"),
        *extra,
        x="where what is held shall be: an asset or an object",
        effects=(op.Unrelate(op.AGENT, ("HOLDS",), "held"), op.Relate("held", relation, "x")),
        choose=reach("x"),
    )


def switch_operator(action: str, state: str, instead_of: str, *, words: str) -> op.Operator:
    """Return an operator that changes the state of a node within reach."""
    return op.on_thing(
        action,
        words,
        affords("x", action, f"brought to be {state}"),
        op.Requirement(c.Not(c.HasState("x", state)), f"{{x}} is {state} already", "already"),
        *within_reach("x"),
        x="an asset or an object",
        effects=(op.Become("x", state, instead_of=instead_of),),
        choose=reach("x"),
    )


REARRANGE: Final = Macro(
    "rearrange",
    (
        op.Parameter("x", "the object, needs pick_up"),
        op.Parameter("y", "its destination, an asset or an object, needs put_on, put_inside, put_under or attach"),
    ),
    word="relation",
    expansions={
        "ontop": (("pick_up", "x"), ("put_on", "y")),
        "inside": (("pick_up", "x"), ("put_inside", "y")),
        "under": (("pick_up", "x"), ("put_under", "y")),
        "attached_to": (("pick_up", "x"), ("attach", "y")),
    },
    aliases={"ontop_of": "ontop", "on": "ontop", "inside_of": "inside", "in": "inside", "attached": "attached_to"},
    words="bring an object to where it shall be: go there, pick it up, bring it, put it",
)

OPERATORS: Final = op.by_name(
    go_to(HERE),
    op.on_thing(
        "pick_up",
        "take an object into the one hand, with all that is in or on it",
        affords("x", "pick_up", "picked up"),
        op.Requirement(c.Not(c.Same("x", "held")), "{agent} holds {x} already", "already"),
        IN_NO_OTHER_HAND,
        *within_reach("x"),
        A_FREE_HAND,
        x="an object that can be picked up",
        effects=(op.Unrelate("x", CONTAINMENT, "parent"), op.Relate(op.AGENT, "HOLDS", "x")),
        choose=(
            *reach("x"),
            op.Choose("parent", tuple(c.Related("x", type_, "parent") for type_ in CONTAINMENT)),
            op.Choose("other", (c.And((c.Related("other", "HOLDS", "x"), c.Not(c.Same("other", op.AGENT)))),)),
        ),
    ),
    put_operator("put_on", "ON", "something to put things on", "put what is held on an asset or object"),
    put_operator(
        "put_inside",
        "INSIDE",
        "something to put things into",
        "put what is held into an asset or object, which must not be closed",
        op.Requirement(c.Not(c.HasState("x", "closed")), "{x} is closed", repair=op.Repair("open", ("x",))),
    ),
    put_operator("put_under", "UNDER", "something to put things under", "put what is held under an asset or object"),
    put_operator("attach", "ATTACHED_TO", "something to fix things to", "fix what is held to an asset or object"),
    switch_operator("open", "open", "closed", words="open an asset or object, so that what is inside can be reached"),
    switch_operator("close", "closed", "open", words="close an asset or object"),
    switch_operator("turn_on", "on", "off", words="turn a device on"),
    switch_operator("turn_off", "off", "on", words="turn a device off"),
    op.on_thing(
        "discover_objects",
        "see what is on and inside an asset or object; it changes nothing in the world",
        op.Requirement(
            c.Not(c.HasKind("x", "Place")),
            "{x} is a room: discover the assets and objects in it, one by one",
            "affordance",
        ),
        *within_reach("x"),
        op.Requirement(
            c.Not(c.And((c.HasState("x", "closed"), c.HasAffordance("x", "open")))),
            "{x} is closed, so that nothing inside can be seen",
            repair=op.Repair("open", ("x",)),
        ),
        x="an asset or an object, no room",
        effects=(
            op.ForEach(
                "child",
                c.And((is_in_or_on("child", "x"), UNSEEN)),
                (op.Assign("child", "seen", value=True),),
            ),
        ),
        choose=reach("x"),
    ),
    op.on_thing("done", "say that the instruction is carried out, which ends the episode", x="any node"),
)
MACROS: Final = {REARRANGE.name: REARRANGE}


VOCABULARY: Final = Vocabulary(
    name="grasif",
    about="GraSIF's actions: a robot with one hand among rooms, assets and objects.",
    conventions=Conventions(
        containment=CONTAINMENT,
        one_parent=True,
        notes=(
            "Each thing is INSIDE, ON, UNDER or ATTACHED_TO one other thing or place, at most.",
            "The room of a thing ends its chain: (x)-[:INSIDE|ON|UNDER|ATTACHED_TO*1..5]->(:Place).",
        ),
        texts=__name__,
    ),
    operators=OPERATORS,
    macros=MACROS,
    looking=Looking(affordances_of=lambda class_: affordances_of(class_, "Object")),
    **words_beside(__name__),
    planning=Planning(keeps_one_parent=True),
)

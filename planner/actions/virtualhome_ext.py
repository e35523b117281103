"""VirtualHome's actions with two of the engine's gaps closed.

What is shut into a running appliance becomes heated or washed; what is held comes along into the next room.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.condition import And, Condition, HasAffordance, HasClass, HasState, HeldBy, Not, Or, Related, Within
from scenecypher.planner.actions import virtualhome, virtualhome_hands, virtualhome_moves, virtualhome_things
from scenecypher.planner.actions.operator import AGENT, Become, Effect, ForEach, Operator, When
from scenecypher.planner.actions.virtualhome_terms import is_close

HEATERS: Final = ("microwave", "toaster")
WASHERS: Final = ("dishwasher", "washing_machine")
OUTCOMES: Final = {"heated": HEATERS, "washed": WASHERS}
"""The state that an appliance of these classes gives to what is in it."""

CONTAINMENT: Final = ("INSIDE", "ON")

WALK_EFFECTS: Final = virtualhome_moves.come_close("room")
"""The agent comes close to `x`; what it holds comes to be inside the room that it walks to."""


def shut(x: str) -> Condition:
    """`x` is closed, or nothing that could be open."""
    return Or((HasState(x, "closed"), Not(HasAffordance(x, "can_open"))))


def of_class(x: str, classes: tuple[str, ...]) -> Condition:
    """`x` is of one of `classes`."""
    return Or(tuple(HasClass(x, class_) for class_ in classes))


def works_on_contents(x: str, affordance: str, so_far: Condition) -> tuple[Effect, ...]:
    """What is in the appliance `x` comes out treated, where `so_far` holds before the action that completes it.

    Only what has `affordance`, as every `x` of the action has, is looked into.
    """
    return tuple(
        When(And((HasAffordance(x, affordance), of_class(x, classes), so_far)), _contents(x, state))
        for state, classes in OUTCOMES.items()
    )


def works_on(x: str, appliance: str) -> tuple[Effect, ...]:
    """`x`, put into the running appliance, comes out treated, and so does what is in it.

    What can be opened must be open for that, and so begins its work only when it is closed.
    """
    running = And((HasState(appliance, "on"), Not(HasAffordance(appliance, "can_open"))))
    return tuple(
        effect
        for state, classes in OUTCOMES.items()
        for effect in (
            When(And((of_class(appliance, classes), running)), (Become(x, state),)),
            When(And((HasAffordance(x, "grabbable"), of_class(appliance, classes), running)), _contents(x, state)),
        )
    )


def put_back_in() -> tuple[Effect, ...]:
    """As `works_on`, where `put_back` puts `x` into the appliance that it was taken out of."""
    back = And((Related("x", "TAKEN_OUT_OF", "y"), HeldBy("x", AGENT), is_close("y")))
    return (When(back, works_on("x", "y")),)


def _contents(x: str, state: str) -> tuple[Effect, ...]:
    return (ForEach("content", Within("content", x, CONTAINMENT), (Become("content", state),)),)


def also(operator: Operator, effects: tuple[Effect, ...]) -> Operator:
    """`operator` with these effects besides its own."""
    return replace(operator, effects=(*operator.effects, *effects))


OPERATORS: Final = {
    **virtualhome.OPERATORS,
    "walk": replace(virtualhome_moves.WALK, effects=WALK_EFFECTS),
    "run": replace(virtualhome_moves.RUN, effects=WALK_EFFECTS),
    "find": replace(virtualhome_moves.FIND, effects=virtualhome_moves.find_effects(WALK_EFFECTS)),
    "close": also(virtualhome_things.CLOSE, works_on_contents("x", "can_open", HasState("x", "on"))),
    "switch_on": also(virtualhome_things.SWITCH_ON, works_on_contents("x", "has_switch", shut("x"))),
    "put_in": also(virtualhome_hands.PUT_IN, works_on("x", "y")),
    "put_back": also(virtualhome_hands.PUT_BACK, put_back_in()),
}

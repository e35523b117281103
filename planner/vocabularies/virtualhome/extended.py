"""VirtualHome's actions with two of the engine's gaps closed.

What is shut into a running appliance becomes heated or washed; what is held comes along into the next room.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.condition import And, Condition, Exists, HasAffordance, HasState, HeldBy, Not, Or, Related, Within
from scenecypher.planner.actions.operator import AGENT, Become, Effect, ForEach, Operator, When
from scenecypher.planner.vocabularies.virtualhome import hands, moves, operators, things
from scenecypher.planner.vocabularies.virtualhome.terms import any_class, is_close

HEATERS: Final = ("microwave", "toaster")
WASHERS: Final = ("dishwasher", "washing_machine")
OUTCOMES: Final = {"heated": HEATERS, "washed": WASHERS}
"""The state that appliances of these classes give to their contents."""

CONTAINMENT: Final = ("INSIDE", "ON")

WALK_EFFECTS: Final = moves.come_close("room")
"""The agent comes close to `x`; what it holds comes to be inside the room that it walks to."""


def is_closed(x: str) -> Condition:
    """Return the condition that `x` is closed or can't be opened."""
    return Or((HasState(x, "closed"), Not(HasAffordance(x, "can_open"))))


def treat_contents(x: str, affordance: str, precondition: Condition) -> tuple[Effect, ...]:
    """Return effects on the contents of the appliance `x`, if `precondition` holds before the completing action.

    Contents are read only if `x` has `affordance`, which every `x` of the action has.
    """
    return tuple(
        When(And((HasAffordance(x, affordance), any_class(x, classes), precondition)), _contents(x, state))
        for state, classes in OUTCOMES.items()
    )


def treat_inserted(x: str, appliance: str) -> tuple[Effect, ...]:
    """Return effects on `x`, put into the running appliance, and on its contents.

    An appliance that can be opened must be open for that, so it starts only when it is closed.
    """
    running = And((HasState(appliance, "on"), Not(HasAffordance(appliance, "can_open"))))
    return tuple(
        effect
        for state, classes in OUTCOMES.items()
        for effect in (
            When(And((any_class(appliance, classes), running)), (Become(x, state),)),
            When(And((HasAffordance(x, "grabbable"), any_class(appliance, classes), running)), _contents(x, state)),
        )
    )


def treat_put_back() -> tuple[Effect, ...]:
    """Return the effects of `treat_inserted` for `put_back` of `x` into the appliance that it was taken out of."""
    back = And((Related("x", "TAKEN_OUT_OF", "y"), HeldBy("x", AGENT), is_close("y")))
    return (When(back, treat_inserted("x", "y")),)


def _contents(x: str, state: str) -> tuple[Effect, ...]:
    """Return the effect on what is in `x`, and on what that holds; not on what lies on `x`."""
    deeper = Exists("holder", And((Related("holder", "INSIDE", x), Within("content", "holder", CONTAINMENT))))
    held = And((Within("content", x, CONTAINMENT), Or((Related("content", "INSIDE", x), deeper))))
    return (ForEach("content", held, (Become("content", state),)),)


def with_effects(operator: Operator, effects: tuple[Effect, ...]) -> Operator:
    """Return `operator` with additional effects."""
    return replace(operator, effects=(*operator.effects, *effects))


OPERATORS: Final = {
    **operators.OPERATORS,
    "walk": replace(moves.WALK, effects=WALK_EFFECTS),
    "run": replace(moves.RUN, effects=WALK_EFFECTS),
    "find": replace(moves.FIND, effects=moves.find_effects(WALK_EFFECTS)),
    "close": with_effects(things.CLOSE, treat_contents("x", "can_open", HasState("x", "on"))),
    "switch_on": with_effects(things.SWITCH_ON, treat_contents("x", "has_switch", is_closed("x"))),
    "put_in": with_effects(hands.PUT_IN, treat_inserted("x", "y")),
    "put_back": with_effects(hands.PUT_BACK, treat_put_back()),
}

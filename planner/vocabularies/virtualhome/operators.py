"""VirtualHome's actions with the semantics of its `evolving_graph` engine, oddities included, and two variants of them.

If the engine's result depends on Python's set order (the origin of a grabbed object if several qualify; the room if two
qualify), ours is the first by id. What the engine stores besides its graph is part of ours: a grabbed object has one of
the relations `scenecypher.db.schema.REMEMBERED` to its origin.

EXTENDED closes two of the engine's gaps: what is shut into a running appliance becomes heated or washed; what is held
comes along into the next room. Simplified operators plan on parts of a scene: redundant ones are dropped, some choices
and effects approximated. That is safe: every plan is validated with the original operators.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import filterfalse
from typing import Final

import scenecypher.db.condition as c
from scenecypher.planner.actions import operator as op
from scenecypher.planner.vocabularies.virtualhome import moves, things
from scenecypher.planner.vocabularies.virtualhome.terms import any_class, is_close
from scenecypher.planner.vocabularies.vocabulary import Operators

FIRST: Final = ("walk", "grab", "put_on", "put_in", "open", "close", "switch_on", "switch_off")
"""The most frequent actions come first, as models are shown them."""
_ALL: Final = {**moves.OPERATORS, **things.OPERATORS}
OPERATORS: Final = {name: _ALL[name] for name in dict.fromkeys((*FIRST, *_ALL))}

# --- extended

HEATERS: Final = ("microwave", "toaster")
WASHERS: Final = ("dishwasher", "washing_machine")
OUTCOMES: Final = {"heated": HEATERS, "washed": WASHERS}
"""The state that appliances of these classes give to their contents."""

CONTAINMENT: Final = ("INSIDE", "ON")

WALK_EFFECTS: Final = moves.come_close("room")
"""The agent comes close to `x`; what it holds comes to be inside the room that it walks to."""


def is_closed(x: str) -> c.Condition:
    """Return the condition that `x` is closed or can't be opened."""
    return c.Or((c.HasState(x, "closed"), c.Not(c.HasAffordance(x, "can_open"))))


def treat_contents(x: str, affordance: str, precondition: c.Condition) -> tuple[op.Effect, ...]:
    """Return effects on the contents of the appliance `x`, if `precondition` holds before the completing action.

    Contents are read only if `x` has `affordance`, which every `x` of the action has.
    """
    return tuple(
        op.When(c.And((c.HasAffordance(x, affordance), any_class(x, classes), precondition)), _contents(x, state))
        for state, classes in OUTCOMES.items()
    )


def treat_inserted(x: str, appliance: str) -> tuple[op.Effect, ...]:
    """Return effects on `x`, put into the running appliance, and on its contents.

    An appliance that can be opened must be open for that, so it starts only when it is closed.
    """
    running = c.And((c.HasState(appliance, "on"), c.Not(c.HasAffordance(appliance, "can_open"))))
    return tuple(
        effect
        for state, classes in OUTCOMES.items()
        for effect in (
            op.When(c.And((any_class(appliance, classes), running)), (op.Become(x, state),)),
            op.When(
                c.And((c.HasAffordance(x, "grabbable"), any_class(appliance, classes), running)), _contents(x, state)
            ),
        )
    )


def _contents(x: str, state: str) -> tuple[op.Effect, ...]:
    """Return the effect on what is in `x`, and on what that holds; not on what lies on `x`."""
    deeper = c.Exists("holder", c.And((c.Related("holder", "INSIDE", x), c.Within("content", "holder", CONTAINMENT))))
    held = c.And((c.Within("content", x, CONTAINMENT), c.Or((c.Related("content", "INSIDE", x), deeper))))
    return (op.ForEach("content", held, (op.Become("content", state),)),)


def with_effects(name: str, effects: tuple[op.Effect, ...]) -> op.Operator:
    """Return an operator with additional effects."""
    return replace(OPERATORS[name], effects=(*OPERATORS[name].effects, *effects))


PUT_BACK: Final = c.And((c.Related("x", "TAKEN_OUT_OF", "y"), c.HeldBy("x", op.AGENT), is_close("y")))
"""The condition under which `put_back` puts `x` into the appliance that it was taken out of."""

EXTENDED: Final = {
    **OPERATORS,
    "walk": replace(OPERATORS["walk"], effects=WALK_EFFECTS),
    "run": replace(OPERATORS["run"], effects=WALK_EFFECTS),
    "find": replace(OPERATORS["find"], effects=moves.find_effects(WALK_EFFECTS)),
    "close": with_effects("close", treat_contents("x", "can_open", c.HasState("x", "on"))),
    "switch_on": with_effects("switch_on", treat_contents("x", "has_switch", is_closed("x"))),
    "put_in": with_effects("put_in", treat_inserted("x", "y")),
    "put_back": with_effects("put_back", (op.When(PUT_BACK, treat_inserted("x", "y")),)),
}


# --- simplified

REDUNDANT: Final = frozenset(
    {"run", "find", "put_back", "drop", "release", "move", "push", "pull", "touch", "look_at", "point_at", "watch"}
)
"""VirtualHome's actions that are dropped, since others have the same effect."""


def simplify_operators(operators: Operators) -> Operators:
    """Return the operators that parts of a scene are planned on with at first."""
    kept = {name: _in_stated_rooms(operator) for name, operator in operators.items() if name not in REDUNDANT}
    effects = tuple(map(_held_in_a_room, kept["walk"].effects))
    return {**kept, "grab": _grab_without_origin(kept["grab"]), "walk": replace(kept["walk"], effects=effects)}


def _in_stated_rooms(operator: op.Operator) -> op.Operator:
    """Return an operator that chooses only rooms that a node is INSIDE itself, over nothing in between."""
    choices = (replace(it, among=tuple(filterfalse(_is_path, it.among))) for it in operator.choose)
    return replace(operator, choose=tuple(choices))


def _is_path(where: c.Condition) -> bool:
    return any(isinstance(part, c.Within) for part in c.conjuncts(where))


def _held_in_a_room(effect: op.Effect) -> op.Effect:
    """Return an effect by which what is held leaves the room alone: what it was CLOSE to, it left when grabbed."""
    match effect:
        case op.ForEach("held", _, (op.Unrelate("held"), *others)):
            return replace(effect, effects=(op.Unrelate("held", ("INSIDE",), directed=True), *others))
        case _:
            return effect


def _grab_without_origin(grab: op.Operator) -> op.Operator:
    """Return `grab` that only records that an object was taken, not from where: nothing puts it back.

    The origin is the first by id of the nodes close to the object, which changes with every step.
    """
    effects = tuple(effect for effect in grab.effects if not _mentions_origin(effect))
    choose = tuple(choice for choice in grab.choose if choice.var != "origin")
    return replace(grab, effects=(*effects, op.Relate("x", "TAKEN_FROM", "x")), choose=choose)


def _mentions_origin(effect: op.Effect) -> bool:
    return any("origin" in (it.source, it.target) for it in op.simple_effects([effect]) if isinstance(it, op.Relate))

"""Simplified operators for parts of a scene: redundant ones dropped, some choices and effects approximated.

Simplification is safe: every plan is validated with the original operators.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import filterfalse
from typing import Final

from scenecypher.db.condition import Condition, Within, conjuncts
from scenecypher.planner.actions.operator import Effect, ForEach, Operator, Relate, Unrelate, simple_effects
from scenecypher.planner.vocabularies.virtualhome.hands import GRAB
from scenecypher.planner.vocabularies.virtualhome.moves import WALK
from scenecypher.planner.vocabularies.vocabulary import Operators

REDUNDANT: Final = frozenset(
    {"run", "find", "put_back", "drop", "release", "move", "push", "pull", "touch", "look_at", "point_at", "watch"}
)
"""VirtualHome's actions that are dropped, since others have the same effect."""


def simplify_operators(operators: Operators) -> Operators:
    """Return the operators that parts of a scene are planned on with at first."""
    kept = {name: _in_stated_rooms(operator) for name, operator in operators.items() if name not in REDUNDANT}
    walk = kept[WALK.name]
    effects = tuple(map(_held_in_a_room, walk.effects))
    return {**kept, GRAB.name: _grab_without_origin(kept[GRAB.name]), WALK.name: replace(walk, effects=effects)}


def _in_stated_rooms(operator: Operator) -> Operator:
    """Return an operator that chooses only rooms that a node is INSIDE itself, over nothing in between."""
    choices = (replace(it, among=tuple(filterfalse(_is_path, it.among))) for it in operator.choose)
    return replace(operator, choose=tuple(choices))


def _is_path(where: Condition) -> bool:
    return any(isinstance(part, Within) for part in conjuncts(where))


def _held_in_a_room(effect: Effect) -> Effect:
    """Return an effect by which what is held leaves the room alone: what it was CLOSE to, it left when grabbed."""
    match effect:
        case ForEach("held", _, (Unrelate("held"), *others)):
            return replace(effect, effects=(Unrelate("held", ("INSIDE",), directed=True), *others))
        case _:
            return effect


def _grab_without_origin(grab: Operator) -> Operator:
    """Return `grab` that only records that an object was taken, not from where: nothing puts it back.

    The origin is the first by id of the nodes close to the object, which changes with every step.
    """
    effects = tuple(effect for effect in grab.effects if not _mentions_origin(effect))
    choose = tuple(choice for choice in grab.choose if choice.var != "origin")
    return replace(grab, effects=(*effects, Relate("x", "TAKEN_FROM", "x")), choose=choose)


def _mentions_origin(effect: Effect) -> bool:
    return any("origin" in (it.source, it.target) for it in simple_effects([effect]) if isinstance(it, Relate))

"""Simplified operators for the first searches: redundant ones dropped, some effects approximated.

Simplification is safe: every plan is validated with the original operators.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.planner.actions.operator import Effect, Operator, Relate, When
from scenecypher.planner.vocabularies.virtualhome.hands import GRAB
from scenecypher.planner.vocabularies.vocabulary import Operators

REDUNDANT: Final = frozenset(
    {"run", "find", "put_back", "drop", "release", "move", "push", "pull", "touch", "look_at", "point_at", "watch"}
)
"""VirtualHome's actions that are dropped, since others have the same effect."""


def simplify_operators(operators: Operators) -> Operators:
    """Return the operators of the first searches."""
    kept = {name: operator for name, operator in operators.items() if name not in REDUNDANT}
    return {**kept, GRAB.name: _grab_without_origin(operators[GRAB.name])}


def _grab_without_origin(grab: Operator) -> Operator:
    """Return `grab` that only records that an object was taken, not from where: nothing puts it back.

    The origin is the first by id of the nodes close to the object, which changes with every step.
    """
    effects = tuple(effect for effect in grab.effects if not _mentions_origin(effect))
    choose = tuple(choice for choice in grab.choose if choice.var != "origin")
    return replace(grab, effects=(*effects, Relate("x", "TAKEN_FROM", "x")), choose=choose)


def _mentions_origin(effect: Effect) -> bool:
    match effect:
        case Relate():
            return "origin" in (effect.source, effect.target)
        case When():
            return any(map(_mentions_origin, (*effect.effects, *effect.otherwise)))
        case _:
            return False

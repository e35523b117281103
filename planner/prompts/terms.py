"""The relations and states of scene graphs in words (LookPlanGraph, appendices F-3 and F-4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenecypher.planner.actions.operator import Become, Cease, Effect, nested_effects
from scenecypher.planner.prompts.layout import RELATION_WORDS
from scenecypher.planner.vocabularies.registry import vocabulary_named

RELATIONS: Final[Mapping[str, str]] = {
    "ON": "x is on y, which bears it",
    "INSIDE": "x is in y: a container or a room",
    "UNDER": "x is under y",
    "ATTACHED_TO": "x is fixed to y",
}
STATES: Final[Mapping[str, str]] = {
    "closed": "what is inside can be neither seen nor reached",
    "open": "what is inside can be seen and reached",
    "locked": "it opens only with its key",
    "on": "it is switched on",
    "off": "it is switched off",
}


DOOR_STATES: Final[Mapping[str, str]] = {
    "closed": "the door must be opened to go through it or see what is behind it",
    "open": "the door can be gone through",
    "locked": "the door opens only with its key",
}
"""States in grids, where doors alone have them."""


def relation_terms(vocabulary: str, *, types: bool) -> str:
    """Return a line for each relation: by its `types`, else by LookPlanGraph's words.

    A grid has none: it has cells.
    """
    chosen = vocabulary_named(vocabulary)
    used = () if chosen.looking.whole_rooms else chosen.conventions.containment
    names = {type_: type_ if types else RELATION_WORDS.get(type_, type_.lower()) for type_ in used}
    return "\n".join(f"x {names[type_]} y: {words}" for type_, words in RELATIONS.items() if type_ in used)


def state_terms(vocabulary: str) -> str:
    """Return a line for each state that the vocabulary's actions change and whose meaning is more than its name."""
    chosen = vocabulary_named(vocabulary)
    known = DOOR_STATES if chosen.looking.whole_rooms else STATES
    effects = nested_effects(effect for operator in chosen.operators.values() for effect in operator.effects)
    changed = {state for effect in effects for state in _states(effect)}
    return "\n".join(f"{state}: {words}" for state, words in known.items() if state in changed)


def _states(effect: Effect) -> tuple[str | None, ...]:
    """Return the states that an effect adds or removes."""
    match effect:
        case Become(_, state, instead_of):
            return state, instead_of
        case Cease(_, state):
            return (state,)
        case _:
            return ()

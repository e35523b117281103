"""Dead-effect elimination: drop effects that no requirement, goal or other effect depends on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from scenecypher.db.condition import Condition, HasState, HeldBy, Related, Within
from scenecypher.db.schema import HOLDING
from scenecypher.planner.actions.operator import (
    Become,
    Cease,
    Effect,
    ForEach,
    Operator,
    Relate,
    Unrelate,
    When,
)
from scenecypher.planner.actions.pddl_variables import atoms_of, effect_variables, required_choices, variables_of


def drop_dead_effects(operators: Mapping[str, Operator], goal: Condition) -> Mapping[str, Operator]:
    """Return the operators with only the effects on relations and states that are read.

    Operators without remaining effects are dropped.
    """
    read = set(_facts_read(goal))
    for operator in operators.values():
        required = {name for part in operator.requires for name in variables_of(part.condition)}
        for condition in (*(part.condition for part in operator.requires), *_choice_conditions(operator, required)):
            read |= set(_facts_read(condition))
    while True:
        kept = {
            name: replace(each, effects=tuple(_live_effects(each.effects, read))) for name, each in operators.items()
        }
        more = {word for each in kept.values() for word in _facts_read_by_effects(each)} - read
        if not more:
            return {name: operator for name, operator in kept.items() if operator.effects}
        read |= more


def _choice_conditions(operator: Operator, variables: Iterable[str]) -> Iterator[Condition]:
    """Yield the conditions that choose these variables and the ones they depend on."""
    wanted = required_choices(variables, operator.choose)
    yield from (part for choice in operator.choose if choice.var in wanted for part in choice.among)


def _facts_read(condition: Condition) -> Iterator[str]:
    """Yield the relation types and states that a condition reads."""
    for part in atoms_of(condition):
        match part:
            case Related():
                yield part.type
            case Within():
                yield from part.types
            case HeldBy():
                yield from HOLDING
            case HasState():
                yield part.state
            case _:
                continue


def _facts_read_by_effects(operator: Operator) -> Iterator[str]:
    conditions = [
        *_effect_conditions(operator.effects),
        *_choice_conditions(operator, effect_variables(operator.effects)),
    ]
    for condition in conditions:
        yield from _facts_read(condition)


def _effect_conditions(effects: tuple[Effect, ...]) -> Iterator[Condition]:
    for effect in effects:
        match effect:
            case ForEach():
                yield effect.where
                yield from _effect_conditions(effect.effects)
            case When():
                yield effect.condition
                yield from _effect_conditions((*effect.effects, *effect.otherwise))
            case _:
                continue


def _live_effects(effects: tuple[Effect, ...], read: set[str]) -> Iterator[Effect]:
    """Yield the live parts of the effects, nested ones included."""
    for effect in effects:
        kept = _live_part(effect, read)
        if kept is not None:
            yield kept


def _live_part(effect: Effect, read: set[str]) -> Effect | None:
    """Return the part of an effect that is read; None if nothing remains."""
    match effect:
        case ForEach():
            inner = tuple(_live_effects(effect.effects, read))
            return replace(effect, effects=inner) if inner else None
        case When():
            then, otherwise = tuple(_live_effects(effect.effects, read)), tuple(_live_effects(effect.otherwise, read))
            return replace(effect, effects=then, otherwise=otherwise) if then or otherwise else None
        case Unrelate():
            types = tuple(type_ for type_ in effect.types if type_ in read)
            return replace(effect, types=types) if types else None
        case _:
            return effect if _facts_written(effect) & read else None


def _facts_written(effect: Effect) -> set[str]:
    """Return the relation types and states that an unnested effect changes."""
    match effect:
        case Relate():
            return {effect.type}
        case Become():
            return {effect.state, effect.instead_of or effect.state}
        case Cease():
            return {effect.state}
        case _:
            return set()

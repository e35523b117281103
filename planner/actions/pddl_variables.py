"""Of which variables conditions and effects speak, and which of them have to be chosen for that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from scenecypher.db.condition import And, AtLeast, Atom, Condition, Exactly, Exists, ForAll, Not, Or, terms
from scenecypher.planner.actions.operator import (
    Assign,
    Become,
    Cease,
    Choose,
    Effect,
    ForEach,
    Forget,
    Relate,
    Unrelate,
    When,
)


def required_choices(variables: Iterable[str], choices: tuple[Choose, ...]) -> frozenset[str]:
    """The chosen ones among `variables`, with those that must be chosen before them."""
    wanted = {*variables}
    for choice in reversed(choices):
        if choice.var in wanted:
            wanted |= {name for part in choice.among for name in variables_of(part)}
    return frozenset(choice.var for choice in choices if choice.var in wanted)


def variables_of(condition: Condition) -> set[str]:
    """Every variable in it."""
    return {term for part in atoms_of(condition) for term in terms(part) if isinstance(term, str)}


def atoms_of(condition: Condition) -> Iterator[Atom]:
    """The smallest conditions that it consists of."""
    match condition:
        case And() | Or():
            for part in condition.parts:
                yield from atoms_of(part)
        case Not():
            yield from atoms_of(condition.part)
        case Exists() | AtLeast() | Exactly():
            yield from atoms_of(condition.where)
        case ForAll():
            yield from atoms_of(condition.where)
            yield from atoms_of(condition.then)
        case _:
            yield condition


def effect_variables(effects: tuple[Effect, ...]) -> set[str]:
    """Every variable in them."""
    found: set[str] = set()
    for effect in effects:
        match effect:
            case ForEach():
                found |= variables_of(effect.where) | effect_variables(effect.effects)
            case When():
                found |= variables_of(effect.condition)
                found |= effect_variables(effect.effects) | effect_variables(effect.otherwise)
            case Relate():
                found |= {effect.source, effect.target}
            case Unrelate():
                found |= {effect.x, effect.other or effect.x}
            case Become() | Cease():
                found.add(effect.x)
            case Assign() | Forget():
                continue
            case _:
                assert_never(effect)
    return found

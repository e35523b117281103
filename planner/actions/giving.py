"""States that actions give, the conditions under which they do, and the things that it takes, such as appliances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scenecypher.db.condition import Condition, HasClass, HasState, atoms_of
from scenecypher.planner.actions.operator import Become, Effect, ForEach, Operator, When


def given_states(
    effects: Iterable[Effect], under: tuple[Condition, ...] = ()
) -> Iterator[tuple[str, tuple[Condition, ...]]]:
    """Yield each state that effects give, with the conditions of the effect, which are added to `under`."""
    for effect in effects:
        match effect:
            case Become():
                yield effect.state, under
            case ForEach():
                yield from given_states(effect.effects, (*under, effect.where))
            case When():
                yield from given_states(effect.effects, (*under, effect.condition))
                yield from given_states(effect.otherwise, under)
            case _:
                continue


def giving_classes(goal: Condition, operators: Mapping[str, Operator]) -> frozenset[str]:
    """Return the classes of the things that give the states of a goal, such as dishwasher for washed."""
    states = {atom.state for atom in atoms_of(goal) if isinstance(atom, HasState)}
    conditions = (
        condition
        for operator in operators.values()
        for state, under in given_states(operator.effects)
        if state in states
        for condition in under
    )
    return frozenset(
        atom.class_ for condition in conditions for atom in atoms_of(condition) if isinstance(atom, HasClass)
    )

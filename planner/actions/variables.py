"""Variables of conditions, the choices that they depend on, and what no action changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scenecypher.db.condition import (
    And,
    Condition,
    HasAffordance,
    HasClass,
    HasKind,
    Not,
    Or,
    PropertyEquals,
    Same,
    atoms_of,
    fold,
    terms,
)
from scenecypher.planner.actions.operator import Choose

STATIC: Final = (HasClass, HasKind, HasAffordance, PropertyEquals, Same)
"""Atoms about what nodes are, which no action changes."""
CONNECTIVES: Final = (And, Or, Not)


def required_choices(variables: Iterable[str], choices: tuple[Choose, ...]) -> frozenset[str]:
    """Return the chosen variables among `variables`, and those that their choices depend on."""
    wanted = {*variables}
    for choice in reversed(choices):
        if choice.var in wanted:
            wanted |= {name for part in choice.among for name in variables_of(part)}
    return frozenset(choice.var for choice in choices if choice.var in wanted)


def variables_of(condition: Condition) -> set[str]:
    """Return every variable of the condition."""
    return {term for part in atoms_of(condition) for term in terms(part) if isinstance(term, str)}


def is_static(condition: Condition) -> bool:
    """Check if no action changes the value of a condition: it is about what nodes are."""
    return fold(condition, lambda it, parts: isinstance(it, STATIC) or (isinstance(it, CONNECTIVES) and all(parts)))

"""Variables and atoms of conditions, and the choices that they depend on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scenecypher.db.condition import (
    And,
    AtLeast,
    Atom,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasAffordance,
    HasClass,
    HasKind,
    Not,
    Or,
    PropertyEquals,
    Same,
    terms,
)
from scenecypher.planner.actions.operator import Choose


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


def atoms_of(condition: Condition) -> Iterator[Atom]:
    """Yield the atomic conditions of the condition."""
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


def is_static(condition: Condition) -> bool:
    """Check if no action changes the value of a condition: it is about what nodes are."""
    match condition:
        case And() | Or():
            return all(map(is_static, condition.parts))
        case Not():
            return is_static(condition.part)
        case HasClass() | HasKind() | HasAffordance() | PropertyEquals() | Same():
            return True
        case _:
            return False

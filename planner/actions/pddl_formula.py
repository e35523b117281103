"""Ground formulas in negation normal form: a Condition after its constant parts are evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final, TypeAlias, assert_never

GroundAtom: TypeAlias = tuple[str, ...]
"""A fact that may change: ``(relation type, source id, target id)``, or ``(state, id)``."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A ground atom or, if `holds` is false, its negation."""

    atom: GroundAtom
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Conjunction:
    """All of `parts`."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Threshold:
    """At least `least` of `parts`; a disjunction by default."""

    parts: tuple[Formula, ...]
    least: int = 1


Formula: TypeAlias = Literal | Conjunction | Threshold
Cube: TypeAlias = frozenset[Literal]
"""A conjunction of literals."""

TRUE: Final = Conjunction(())
FALSE: Final = Threshold(())


class FormulaTooLarge(Exception):
    """A formula has too many cubes."""


def all_of(parts: Iterable[Formula]) -> Formula:
    """Return the simplified conjunction."""
    found: dict[Formula, None] = {}
    for part in parts:
        if part == FALSE:
            return FALSE
        found |= dict.fromkeys(part.parts if isinstance(part, Conjunction) else (part,))
    if any(isinstance(part, Literal) and Literal(part.atom, not part.holds) in found for part in found):
        return FALSE
    return next(iter(found)) if len(found) == 1 else Conjunction(tuple(found))


def any_of(parts: Iterable[Formula]) -> Formula:
    """Return the simplified disjunction."""
    found: dict[Formula, None] = {}
    for part in parts:
        if part == TRUE:
            return TRUE
        found |= dict.fromkeys(part.parts if isinstance(part, Threshold) and part.least == 1 else (part,))
    if any(isinstance(part, Literal) and Literal(part.atom, not part.holds) in found for part in found):
        return TRUE
    return next(iter(found)) if len(found) == 1 else Threshold(tuple(found))


def at_least(number: int, parts: Iterable[Formula]) -> Formula:
    """Return the simplified "at least `number` of `parts`"; equal parts count separately."""
    unknown: list[Formula] = []
    for part in parts:
        if part == TRUE:
            number -= 1
        elif part != FALSE:
            unknown.append(part)
    if number <= 0:
        return TRUE
    if number > len(unknown):
        return FALSE
    if number == len(unknown):
        return all_of(unknown)
    return any_of(unknown) if number == 1 else Threshold(tuple(unknown), number)


def negated(formula: Formula) -> Formula:
    """Return the negation."""
    match formula:
        case Literal():
            return Literal(formula.atom, not formula.holds)
        case Conjunction():
            return any_of(map(negated, formula.parts))
        case Threshold():
            return at_least(len(formula.parts) - formula.least + 1, map(negated, formula.parts))
        case _:
            assert_never(formula)


def literals(formula: Formula) -> Iterator[Literal]:
    """Yield every literal of the formula."""
    if isinstance(formula, Literal):
        yield formula
    else:
        for part in formula.parts:
            yield from literals(part)


def cubes(formula: Formula, most: int) -> list[Cube]:
    """Return the formula's minimal cubes. Raises FormulaTooLarge if there are more than `most`."""
    found = dict.fromkeys(_cubes(formula, most))
    return [cube for cube in found if not any(other < cube for other in found)]


def _cubes(formula: Formula, most: int) -> list[Cube]:
    match formula:
        case Literal():
            return [frozenset({formula})]
        case Conjunction():
            return _joined([_cubes(part, most) for part in formula.parts], most)
        case Threshold():
            found: list[Cube] = []
            for chosen in combinations(formula.parts, formula.least) if formula.parts else ():
                found += _joined([_cubes(part, most) for part in chosen], most)
                _check(len(found), most)
            return found
        case _:
            assert_never(formula)


def _joined(parts: list[list[Cube]], most: int) -> list[Cube]:
    size = 1
    for part in parts:
        size *= len(part)
    _check(size, most)
    joined = (frozenset().union(*chosen) for chosen in product(*parts))
    return [cube for cube in joined if not any(Literal(each.atom, not each.holds) in cube for each in cube)]


def _check(size: int, most: int) -> None:
    if size > most:
        raise FormulaTooLarge

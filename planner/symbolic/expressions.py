"""PDDL expressions as nested tuples: simplifying constructors, and their variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

Expression: TypeAlias = tuple[Any, ...]
"""``("and", *parts)``, ``("or", *parts)``, ``("not", part)``, ``("exists", (variable,), part)``, or an atom."""
CONNECTIVES: Final = ("and", "or", "not", "exists")
TRUE: Final[Expression] = ("and",)
FALSE: Final[Expression] = ("or",)


def all_of(parts: Iterable[Expression]) -> Expression:
    """Return the simplified conjunction."""
    return _joined("and", parts)


def any_of(parts: Iterable[Expression]) -> Expression:
    """Return the simplified disjunction."""
    return _joined("or", parts)


def _joined(word: str, parts: Iterable[Expression]) -> Expression:
    decided = FALSE if word == "and" else TRUE
    found: dict[Expression, None] = {}
    for part in parts:
        if part == decided:
            return decided
        found |= dict.fromkeys(part[1:] if part[0] == word else (part,))
    if any(negated(part) in found for part in found):
        return decided
    return next(iter(found)) if len(found) == 1 else (word, *found)


def negated(part: Expression) -> Expression:
    """Return the negation."""
    if part in (TRUE, FALSE):
        return FALSE if part == TRUE else TRUE
    inner: Expression = part[1] if part[0] == "not" else ("not", part)
    return inner


def some(variable: str, part: Expression) -> Expression:
    """Return that the part is true of some object as the variable."""
    return ("exists", (variable,), part) if variable in free_variables(part) else part


def free_variables(part: Expression) -> tuple[str, ...]:
    """Return the variables that are not bound within, in the order in which they stand there."""
    return tuple(dict.fromkeys(_free(part)))


def _free(part: Expression) -> Iterator[str]:
    if part[0] == "exists":
        yield from (name for name in _free(part[2]) if name not in part[1])
        return
    for item in part[1:]:
        if isinstance(item, tuple):
            yield from _free(item)
        elif item.startswith("?"):
            yield item


def renamed(part: Expression, names: Mapping[str, str]) -> Expression:
    """Return the expression with other names of variables, bound ones included."""
    return tuple(renamed(item, names) if isinstance(item, tuple) else names.get(item, item) for item in part)


def canonical_names(part: Expression, first: Iterable[str] = ()) -> dict[str, str]:
    """Return names by which expressions that differ only in names of variables become equal; `first` come first."""
    return {name: f"?x{number}" for number, name in enumerate(dict.fromkeys((*first, *_variables(part))), 1)}


def _variables(part: Expression) -> Iterator[str]:
    for item in part:
        if isinstance(item, tuple):
            yield from _variables(item)
        elif item.startswith("?"):
            yield item


def atoms(part: Expression) -> Iterator[Expression]:
    """Yield the atoms of an expression."""
    if part[0] not in CONNECTIVES:
        yield part
        return
    for item in part[2:] if part[0] == "exists" else part[1:]:
        yield from atoms(item)

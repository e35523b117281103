"""The Condition algebra: a closed union of logical expressions over one scene graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, TypeAlias, TypeVar

from scenecypher.db.graph.change import TEXT_FIELDS
from scenecypher.db.graph.scene import kind_name, relation_type
from scenecypher.db.graph.value import (
    STATE_LENGTH,
    InvalidValue,
    Value,
    checked,
    label,
    property_name,
    shown,
    typed_key,
)

T = TypeVar("T")
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
NODES_LIMIT: Final = 1_000_000_000
"""The largest `n` of AtLeast and Exactly; no scene has as many nodes."""


@dataclass(frozen=True, slots=True)
class Id:
    """A constant: the node with this id."""

    id: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", label(self.id, "id"))


Term: TypeAlias = str | Id
"""A variable's name, such as "x" or "agent", or a constant node."""


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction of `parts`; true if there are none."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction of `parts`; false if there are none."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Negation of `part`; true if a node of an atom is absent."""

    part: Condition


@dataclass(frozen=True, slots=True)
class HasState:
    """Atom: `x` is in `state`."""

    x: Term
    state: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", label(self.state, "state", longest=STATE_LENGTH))


@dataclass(frozen=True, slots=True)
class HasClass:
    """Atom: `x` is of a class, spelt as in the source."""

    x: Term
    class_: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_", label(self.class_, "class"))


@dataclass(frozen=True, slots=True)
class HasKind:
    """Atom: `x` is of one of the registry's kinds."""

    x: Term
    kind: str

    def __post_init__(self) -> None:
        kind_name(self.kind)


@dataclass(frozen=True, slots=True)
class HasAffordance:
    """Atom: `x` has `affordance`."""

    x: Term
    affordance: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "affordance", label(self.affordance, "affordance", longest=STATE_LENGTH))


@dataclass(frozen=True, slots=True)
class Related:
    """Atom: `source` has a relation of `type` to `target`."""

    source: Term
    type: str
    target: Term

    def __post_init__(self) -> None:
        relation_type(self.type)


@dataclass(frozen=True, slots=True)
class HeldBy:
    """Atom: `agent` holds `x`, in either hand."""

    x: Term
    agent: Term


@dataclass(frozen=True, slots=True)
class Within:
    """Atom: a path of one or more relations of `types` leads from `x` to `y`, as from a cup on a tray to a cupboard."""

    x: Term
    y: Term
    types: tuple[str, ...] = ("INSIDE", "ON")

    def __post_init__(self) -> None:
        if not self.types:
            raise InvalidValue("a Within needs at least one relation type to follow")
        for type_ in self.types:
            relation_type(type_)


@dataclass(frozen=True, slots=True)
class Same:
    """Atom: `x` and `y` are the same node of the scene."""

    x: Term
    y: Term


@dataclass(frozen=True, slots=True)
class PropertyEquals:
    """Atom: a property, `name` or `class` of `x` has `value`, of the same type: 1, 1.0 and True differ."""

    x: Term
    key: str
    value: Value

    def __post_init__(self) -> None:
        comparable_key(self.key)
        object.__setattr__(self, "value", checked(self.value, self.key))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PropertyEquals) and self._typed() == other._typed()

    def __hash__(self) -> int:
        return hash(self._typed())

    def _typed(self) -> tuple[object, ...]:
        return (self.x, self.key, typed_key(self.value))


@dataclass(frozen=True, slots=True)
class Exists:
    """Quantifier: `where` is true of at least one node, bound to `var`."""

    var: str
    where: Condition

    def __post_init__(self) -> None:
        variable_name(self.var)


@dataclass(frozen=True, slots=True)
class ForAll:
    """Quantifier: `then` is true of every node, bound to `var`, of which `where` is; true if there is none."""

    var: str
    where: Condition
    then: Condition

    def __post_init__(self) -> None:
        variable_name(self.var)


@dataclass(frozen=True, slots=True)
class _Counting:
    n: int
    var: str
    where: Condition

    def __post_init__(self) -> None:
        if type(self.n) is not int or not 0 <= self.n <= NODES_LIMIT:
            raise InvalidValue(f"a number of nodes is a whole number from 0 to {NODES_LIMIT:,}, not {shown(self.n)}")
        variable_name(self.var)


class AtLeast(_Counting):
    """Quantifier: `where` is true of `n` or more nodes, each bound to `var`."""

    __slots__ = ()


class Exactly(_Counting):
    """Quantifier: `where` is true of exactly `n` nodes, each bound to `var`."""

    __slots__ = ()


Atom: TypeAlias = HasState | HasClass | HasKind | HasAffordance | Related | HeldBy | Within | Same | PropertyEquals
Quantifier: TypeAlias = Exists | ForAll | AtLeast | Exactly
Condition: TypeAlias = And | Or | Not | Atom | Quantifier

_ENDS: Final = frozenset({"x", "y", "source", "target", "agent"})
"""Fields of atoms that hold a term."""

ALWAYS: Final = And(())
NEVER: Final = Or(())


def children(condition: Condition) -> tuple[Condition, ...]:
    """Return the conditions that a condition is made of, in order; none for an atom."""
    match condition:
        case And() | Or():
            return condition.parts
        case Not():
            return (condition.part,)
        case ForAll():
            return (condition.where, condition.then)
        case Exists() | AtLeast() | Exactly():
            return (condition.where,)
        case _:
            return ()


def map_children(condition: Condition, change: Callable[[Condition], Condition]) -> Condition:
    """Return the condition with each of its children changed; an atom as it is."""
    match condition:
        case And() | Or():
            return replace(condition, parts=tuple(map(change, condition.parts)))
        case Not():
            return Not(change(condition.part))
        case ForAll():
            return replace(condition, where=change(condition.where), then=change(condition.then))
        case Exists() | AtLeast() | Exactly():
            return replace(condition, where=change(condition.where))
        case _:
            return condition


def fold(condition: Condition, combine: Callable[[Condition, tuple[T, ...]], T]) -> T:
    """Return the value of a condition that `combine` makes of it and the values of its children."""
    return combine(condition, tuple(fold(part, combine) for part in children(condition)))


def atoms_of(condition: Condition) -> Iterator[Atom]:
    """Yield the atoms of a condition, in order."""
    if isinstance(condition, Atom):
        yield condition
    for part in children(condition):
        yield from atoms_of(part)


def free_variables(condition: Condition) -> frozenset[str]:
    """Return the variables that a condition does not bind itself."""

    def combine(part: Condition, inner: tuple[frozenset[str], ...]) -> frozenset[str]:
        own = frozenset(it for it in terms(part) if isinstance(it, str)) if isinstance(part, Atom) else frozenset()
        bound = {part.var} if isinstance(part, Quantifier) else set()
        return own.union(*inner) - bound

    return fold(condition, combine)


def conjuncts(condition: Condition) -> Iterator[Condition]:
    """Yield the conjuncts, nested And flattened."""
    yield from _flattened(condition, And)


def disjuncts(condition: Condition) -> Iterator[Condition]:
    """Yield the disjuncts, nested Or flattened."""
    yield from _flattened(condition, Or)


def _flattened(condition: Condition, connective: type[And | Or]) -> Iterator[Condition]:
    if isinstance(condition, connective):
        for part in condition.parts:
            yield from _flattened(part, connective)
    else:
        yield condition


def all_of(parts: tuple[Condition, ...]) -> Condition:
    """Return the conjunction of parts; a single one is itself."""
    return parts[0] if len(parts) == 1 else And(parts)


def any_of(parts: tuple[Condition, ...]) -> Condition:
    """Return the disjunction of parts; a single one is itself."""
    return parts[0] if len(parts) == 1 else Or(parts)


def bind(condition: Condition, bindings: Mapping[str, Term]) -> Condition:
    """Return the condition with terms in place of free variables; a term must not be a variable bound inside."""
    if isinstance(condition, Atom):
        ends = {it.name: getattr(condition, it.name) for it in fields(condition) if it.name in _ENDS}
        new: Any = {name: bindings[end] for name, end in ends.items() if end in bindings}
        return replace(condition, **new)
    own = condition.var if isinstance(condition, Quantifier) else None
    free = {name: term for name, term in bindings.items() if name != own}
    return map_children(condition, lambda part: bind(part, free))


def renamed(condition: Condition, names: Mapping[str, str], *, prefix: str) -> Condition:
    """Return the condition with other free variables, and a `prefix` to those that it binds itself."""
    if isinstance(condition, Quantifier):
        own = f"{prefix}{condition.var}"[:64]
        condition, names = replace(condition, var=own), {**names, condition.var: own}
    elif isinstance(condition, Atom):
        return bind(condition, names)
    return map_children(condition, lambda part: renamed(part, names, prefix=prefix))


def terms(atom: Atom) -> tuple[Term, ...]:
    """Return the one or two terms of an atom, the subject first."""
    match atom:
        case Related():
            return (atom.source, atom.target)
        case HeldBy():
            return (atom.x, atom.agent)
        case Within() | Same():
            return (atom.x, atom.y)
        case HasState() | HasClass() | HasKind() | HasAffordance() | PropertyEquals():
            return (atom.x,)


def variable_name(name: str) -> str:
    """Return `name` if it is a valid variable name. Raises InvalidValue."""
    if not VARIABLE.fullmatch(name):
        msg = f"variable {shown(name)} must be a letter, then letters, digits or underscores, ASCII, at most 64"
        raise InvalidValue(msg)
    return name


def comparable_key(key: str) -> str:
    """Return `key` if PropertyEquals can compare it. Raises InvalidValue."""
    return key if key in TEXT_FIELDS else property_name(key)

"""SceneGraph: the nodes and relations of one scene, as an immutable value."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from reprlib import repr as short_repr
from types import MappingProxyType
from typing import Final, TypeAlias

from db.schema import KINDS, PROPERTY_NAME, RELATION_NAME, RESERVED_PROPERTIES
from scenecypher.errors import InputError

NAME_LENGTH: Final = 500
"""Characters of an id, name or class: an index entry holds about 8 kB."""
STATE_LENGTH: Final = 100
TEXT_LENGTH: Final = 100_000
LIST_LENGTH: Final = 10_000
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")


class InvalidValue(InputError):
    """A value that a scene graph can't hold; the importer adds file and place."""


@dataclass(frozen=True, slots=True)
class Point:
    """A position in metres (grids: cells); `z` is None in the plane."""

    x: float
    y: float
    z: float | None = None

    def __post_init__(self) -> None:
        for axis in (self.x, self.y) if self.z is None else (self.x, self.y, self.z):
            if not isinstance(axis, float) or not math.isfinite(axis):
                msg = f"a position needs finite decimal numbers, not {axis!r}"
                raise InvalidValue(msg)


Scalar: TypeAlias = str | bool | int | float | Point
Value: TypeAlias = Scalar | tuple[Scalar, ...]


def typed(value: Value | None) -> object:
    """A stand-in that is equal only for the same type and value: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    match value:
        case tuple():
            return ("list", *(typed(item) for item in value))
        case Point():
            return (Point, typed(value.x), typed(value.y), typed(value.z))
        case float():
            return (float, value, math.copysign(1.0, value))
        case _:
            return (type(value), value)


def same_value(one: Value | None, other: Value | None) -> bool:
    """Whether two values have the same type and are equal as the database compares: 0.0 and -0.0 are."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same_value, one, other))
    return type(one) is type(other) and one == other


class Properties(Mapping[str, Value]):
    """An immutable mapping of property names to values, type-strict in equality; None is never a value."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Value | None] | Iterable[tuple[str, Value | None]] = ()) -> None:
        given = items.items() if isinstance(items, Mapping) else items
        self._items: dict[str, Value] = {}
        for key, value in sorted(given, key=itemgetter(0)):
            if value is None:
                continue
            if not PROPERTY_NAME.fullmatch(key) or key in RESERVED_PROPERTIES:
                msg = f"{key!r} is no property name: use lower_snake_case, ASCII, and none of {_reserved()}"
                raise InvalidValue(msg)
            self._items[key] = checked(value, key)

    def __getitem__(self, key: str) -> Value:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Properties) and self._typed() == other._typed()

    def __hash__(self) -> int:
        return hash(self._typed())

    def __repr__(self) -> str:
        return f"Properties({self._items!r})"

    def _typed(self) -> tuple[tuple[str, object], ...]:
        return tuple((key, typed(value)) for key, value in self._items.items())

    def having(self, key: str, value: Value | None) -> Properties:
        """A copy with `key` set, or dropped where `value` is None."""
        return Properties({**self._items, key: value})


NO_PROPERTIES: Final = Properties()


@dataclass(frozen=True, slots=True)
class Node:
    """One node: place, asset, object, agent or door.

    Text is brought to Unicode NFC; states and affordances become sorted sets.
    Raises InvalidValue for anything that the database could not hold.
    """

    id: str
    kind: str
    name: str
    class_: str
    states: tuple[str, ...] = ()
    affordances: tuple[str, ...] = ()
    properties: Properties = field(default=NO_PROPERTIES)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            msg = f"kind {self.kind!r} is none of {', '.join(KINDS)}"
            raise InvalidValue(msg)
        for place in ("id", "name", "class_"):
            object.__setattr__(self, place, _name(getattr(self, place), place.rstrip("_")))
        for place in ("states", "affordances"):
            items = {_text(item, place, STATE_LENGTH) for item in getattr(self, place)}
            object.__setattr__(self, place, tuple(sorted(items)))


@dataclass(frozen=True, slots=True, order=True)
class Relation:
    """A directed relation, identified by its three parts: at most one each."""

    source: str
    type: str
    target: str

    def __post_init__(self) -> None:
        if not RELATION_NAME.fullmatch(self.type):
            msg = f"relation type {self.type!r} must be UPPER_SNAKE_CASE, ASCII, at most 64 characters"
            raise InvalidValue(msg)
        for place in ("source", "target"):
            object.__setattr__(self, place, _name(getattr(self, place), place))


@dataclass(frozen=True)
class SceneGraph:
    """The nodes (by id) and relations of one scene. Make one with `SceneGraph.of`."""

    nodes: Mapping[str, Node]
    relations: frozenset[Relation]

    @classmethod
    def of(cls, nodes: Iterable[Node] = (), relations: Iterable[Relation] = ()) -> SceneGraph:
        """Check and freeze. Raises InvalidValue for a repeated id or relation, or a relation to a missing node."""
        by_id: dict[str, Node] = {}
        for node in nodes:
            if node.id in by_id:
                msg = f"two nodes have the id {node.id!r}"
                raise InvalidValue(msg)
            by_id[node.id] = node
        seen: set[Relation] = set()
        for relation in relations:
            _check_relation(relation, by_id, seen)
            seen.add(relation)
        return cls(MappingProxyType(by_id), frozenset(seen))

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes.values()), self.relations))

    def __contains__(self, node_id: object) -> bool:
        return node_id in self.nodes

    @cached_property
    def outgoing(self) -> Mapping[str, tuple[Relation, ...]]:
        """Relations by source id, sorted."""
        return self._by_end("source")

    @cached_property
    def incoming(self) -> Mapping[str, tuple[Relation, ...]]:
        """Relations by target id, sorted."""
        return self._by_end("target")

    @cached_property
    def by_class(self) -> Mapping[str, tuple[str, ...]]:
        """Node ids by class, sorted."""
        return self._by_field("class_")

    @cached_property
    def by_kind(self) -> Mapping[str, tuple[str, ...]]:
        """Node ids by kind, sorted."""
        return self._by_field("kind")

    @cached_property
    def by_name(self) -> Mapping[str, tuple[str, ...]]:
        """Node ids by name, sorted."""
        return self._by_field("name")

    def targets(self, source: str, *types: str) -> tuple[str, ...]:
        """Ids that `source` has a relation of one of `types` (or any) to."""
        return tuple(r.target for r in self.outgoing.get(source, ()) if not types or r.type in types)

    def sources(self, target: str, *types: str) -> tuple[str, ...]:
        """Ids that have a relation of one of `types` (or any) to `target`."""
        return tuple(r.source for r in self.incoming.get(target, ()) if not types or r.type in types)

    def reached(self, source: str, *types: str) -> set[str]:
        """Ids to which one or more relations of `types` (or any) lead from `source`; itself where they lead back."""
        return _closure(source, lambda node_id: self.targets(node_id, *types))

    def reaching(self, target: str, *types: str) -> set[str]:
        """Ids from which one or more relations of `types` (or any) lead to `target`."""
        return _closure(target, lambda node_id: self.sources(node_id, *types))

    def _by_field(self, field_name: str) -> Mapping[str, tuple[str, ...]]:
        ids: dict[str, list[str]] = {}
        for node in self.nodes.values():
            ids.setdefault(getattr(node, field_name), []).append(node.id)
        return {value: tuple(sorted(group)) for value, group in ids.items()}

    def _by_end(self, end: str) -> Mapping[str, tuple[Relation, ...]]:
        groups: dict[str, list[Relation]] = {}
        for relation in sorted(self.relations):
            groups.setdefault(getattr(relation, end), []).append(relation)
        return {node_id: tuple(group) for node_id, group in groups.items()}


def _closure(start: str, step: Callable[[str], Iterable[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        fresh = set(step(waiting.pop())) - found
        found |= fresh
        waiting += fresh
    return found


EMPTY: Final = SceneGraph.of()


def checked(value: object, place: str) -> Value:
    """`value` as a property holds it: text in NFC, lists as tuples of one type. Raises InvalidValue naming `place`."""
    if isinstance(value, list | tuple):
        items = tuple(_scalar(item, f"{place}[{i}]") for i, item in enumerate(value))
        if len(items) > LIST_LENGTH:
            msg = f"{place}: a list of {len(items):,} items; at most {LIST_LENGTH:,} are allowed"
            raise InvalidValue(msg)
        if len({type(item) for item in items}) > 1:
            msg = f"{place}: a list must hold values of one type only"
            raise InvalidValue(msg)
        if len({item.z is None for item in items if isinstance(item, Point)}) > 1:
            msg = f"{place}: a list of positions must be all in the plane or all in space"
            raise InvalidValue(msg)
        return items
    return _scalar(value, place)


def _scalar(value: object, place: str) -> Scalar:
    match value:
        case bool() | Point():
            return value
        case int() if -(2**63) <= value < 2**63:
            return value
        case float() if math.isfinite(value):
            return value
        case str():
            return _text(value, place, TEXT_LENGTH)
        case int() | float():
            msg = f"{place}: {_short(value)} is outside what the database holds (64-bit integers, finite numbers)"
            raise InvalidValue(msg)
        case _:
            msg = f"{place}: {_short(value)} is no text, boolean, number, position or flat list"
            raise InvalidValue(msg)


def _name(value: object, place: str) -> str:
    text = _text(value, place, NAME_LENGTH)
    if not text:
        msg = f"{place} is empty; give it at least one character"
        raise InvalidValue(msg)
    if _CONTROL.search(text):
        msg = f"{place}: {_short(text)} holds a control character; remove it"
        raise InvalidValue(msg)
    return text


def _text(value: object, place: str, longest: int) -> str:
    if not isinstance(value, str):
        msg = f"{place}: {_short(value)} is no text"
        raise InvalidValue(msg)
    if len(value) > longest:
        msg = f"{place}: {len(value):,} characters; at most {longest:,} are allowed"
        raise InvalidValue(msg)
    if value.isascii():
        return value
    if _LONE_SURROGATE.search(value):
        msg = f"{place}: {_short(value)} holds half a surrogate pair, which is no character"
        raise InvalidValue(msg)
    text = unicodedata.normalize("NFC", value)
    return text if len(text) <= longest else _text(text, place, longest)


def _check_relation(relation: Relation, nodes: Mapping[str, Node], seen: set[Relation]) -> None:
    for end in (relation.source, relation.target):
        if end not in nodes:
            msg = f"relation {relation.source!r} {relation.type} {relation.target!r}: no node has the id {end!r}"
            raise InvalidValue(msg)
    if relation in seen:
        msg = f"relation {relation.source!r} {relation.type} {relation.target!r} is given twice"
        raise InvalidValue(msg)


def _short(value: object) -> str:
    return ascii(short_repr(value))[1:-1]


def _reserved() -> str:
    return ", ".join(sorted(RESERVED_PROPERTIES))

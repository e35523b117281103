"""Values of a scene graph: checked for the limits of the database, normalized, compared by type too."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from operator import itemgetter
from reprlib import repr as short_repr
from typing import Final, TypeAlias, TypeGuard, TypeVar, cast, overload

from scenecypher.db.schema import PROPERTY_NAME, RESERVED_PROPERTIES
from scenecypher.errors import InputError

NAME_LENGTH: Final = 500
"""Longest id, name or class, in characters: an index entry holds about 8 kB."""
STATE_LENGTH: Final = 100
TEXT_LENGTH: Final = 100_000
LIST_LENGTH: Final = 10_000
INTEGERS: Final = range(-(2**63), 2**63)
_NUMBERED: Final = re.compile(r"(.+?)[-_]?\d+")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""What shows nothing and breaks lines, or turns the text after it round."""


class InvalidValue(InputError):
    """A value that a scene graph can't hold; importers add file and place."""


@dataclass(frozen=True, slots=True)
class Point:
    """A position in metres (grids: cells); `z` is None in the plane."""

    x: float
    y: float
    z: float | None = None

    @property
    def axes(self) -> tuple[float, ...]:
        """The coordinates: two in the plane, else three."""
        return (self.x, self.y) if self.z is None else (self.x, self.y, self.z)

    def __post_init__(self) -> None:
        for name in ("x", "y") if self.z is None else ("x", "y", "z"):
            object.__setattr__(self, name, _coordinate(getattr(self, name)))


Scalar: TypeAlias = str | bool | int | float | Point
Value: TypeAlias = Scalar | tuple[Scalar, ...]
T = TypeVar("T")


def typed_key(value: Value | None) -> object:
    """Return a key that is equal only for the same type and value: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    match value:
        case tuple():
            return ("list", *(typed_key(item) for item in value))
        case Point():
            return (Point, typed_key(value.x), typed_key(value.y), typed_key(value.z))
        case float():
            return (float, value, math.copysign(1.0, value))
        case _:
            return (type(value), value)


def same_value(one: Value | None, other: Value | None) -> bool:
    """Check for the same type and equality as in the database: there 0.0 equals -0.0."""
    match one, other:
        case tuple(), tuple():
            return len(one) == len(other) and all(map(same_value, one, other))
        case Point(), Point():
            return typed_key(one) == typed_key(other)
        case _:
            return type(one) is type(other) and one == other


class Properties(Mapping[str, Value]):
    """An immutable, type-strict mapping of property names to values; None is never a value."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, object] | Iterable[tuple[str, object]] = ()) -> None:
        given = items.items() if isinstance(items, Mapping) else items
        present = [(property_name(key), value) for key, value in given if value is not None]
        self._items: dict[str, Value] = {key: checked(value, key) for key, value in sorted(present, key=itemgetter(0))}

    def __getitem__(self, key: str) -> Value:
        return self._items[key]

    @overload
    def get(self, key: str, /) -> Value | None: ...

    @overload
    def get(self, key: str, /, default: Value | T) -> Value | T: ...

    def get(self, key: str, /, default: object = None) -> object:
        """Return the value, or `default`; Mapping's own method is ten times slower."""
        return self._items.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Properties):
            return NotImplemented
        return self is other or (self._items == other._items and self._typed() == other._typed())

    def __hash__(self) -> int:
        return hash(self._typed())

    def __repr__(self) -> str:
        return f"Properties({self._items!r})"

    def _typed(self) -> tuple[tuple[str, object], ...]:
        return tuple((key, typed_key(value)) for key, value in self._items.items())

    def having(self, key: str, value: Value | None) -> Properties:
        """Return a copy with `key` set, or dropped if `value` is None."""
        return Properties({**self._items, key: value})


NO_PROPERTIES: Final = Properties()


def checked(value: object, place: str) -> Value:
    """Return `value` normalized: text in NFC, lists as tuples of one type. Raises InvalidValue naming `place`."""
    if not isinstance(value, list | tuple):
        return _scalar(value, place)
    if len(value) > LIST_LENGTH:
        raise InvalidValue(f"{place}: a list of {len(value):,} items; at most {LIST_LENGTH:,} are allowed")
    items = tuple(_scalar(item, f"{place}[{i}]") for i, item in enumerate(value))
    if len({type(item) for item in items}) > 1:
        msg = f"{place}: a list must hold values of one type only (1 and 1.0 are two types); make them alike"
        raise InvalidValue(msg)
    if len({item.z is None for item in items if isinstance(item, Point)}) > 1:
        raise InvalidValue(f"{place}: a list of positions must be all in the plane or all in space; make them alike")
    return items


def is_plain_label(value: object, *, longest: int = NAME_LENGTH) -> TypeGuard[str]:
    """Check quickly, by type and letters, if `value` is a normalized label, as most are.

    ASCII is its own NFC and has no surrogates; printable text has no control characters.
    """
    return type(value) is str and value.isascii() and value.isprintable() and 0 < len(value) <= longest


def are_plain_labels(values: Collection[object], *, longest: int = STATE_LENGTH) -> bool:
    """Check at once if all of `values` are normalized labels: a memory graph has hundreds."""
    if {*map(type, values)} != {str}:
        return False
    texts = cast("Collection[str]", values)
    lengths = [*map(len, texts)]
    together = "".join(texts)
    return together.isascii() and together.isprintable() and min(lengths) > 0 and max(lengths) <= longest


def label(value: object, place: str, *, longest: int = NAME_LENGTH) -> str:
    """Return an id, name, class, state or affordance in NFC. Raises InvalidValue naming `place`."""
    if is_plain_label(value, longest=longest):
        return value
    text = _text(value, place, longest)
    if not text:
        raise InvalidValue(f"{place} is empty; give it at least one character")
    if not text.isprintable() and _CONTROL.search(text):
        why = "holds a control character, line break or mark of direction; remove it"
        raise InvalidValue(f"{place}: {shown(text)} {why}")
    return text


def labels(values: object, place: str) -> tuple[str, ...]:
    """Return states or affordances as a sorted set. Raises InvalidValue naming `place`."""
    if not isinstance(values, list | tuple | set | frozenset):
        raise InvalidValue(f"{place}: {shown(values)} is no list of text")
    if len(values) > LIST_LENGTH:
        raise InvalidValue(f"{place}: a list of {len(values):,} items; at most {LIST_LENGTH:,} are allowed")
    if not values:
        return ()
    found = tuple(sorted({label(item, f"{place} item", longest=STATE_LENGTH) for item in values}))
    # Return the same object where possible: a million nodes share a few such sets.
    return values if type(values) is tuple and values == found and all(type(item) is str for item in values) else found


def class_of_name(name: str) -> str:
    """Return the class in a name: ``butter_cookie-2`` is a butter_cookie; without a number it is the name itself."""
    numbered = _NUMBERED.fullmatch(name)
    return numbered[1] if numbered else name


def property_name(key: object) -> str:
    """Return `key` if it is a valid property name. Raises InvalidValue."""
    if not isinstance(key, str) or not PROPERTY_NAME.fullmatch(key) or key in RESERVED_PROPERTIES:
        reserved = ", ".join(sorted(RESERVED_PROPERTIES))
        raise InvalidValue(
            f"{shown(key)} is no property name: use lower_snake_case, ASCII, at most 64 characters, none of {reserved}"
        )
    return key


def digest(text: str) -> str:
    """Return the SHA-256 (hex) of a text."""
    return sha256(text.encode()).hexdigest()


def shown(value: object) -> str:
    """Format `value` for an error message: short, printable and ASCII."""
    if isinstance(value, int) and value not in INTEGERS:
        return f"a whole number of {value.bit_length():,} bits"
    return short_repr(value).encode("ascii", "backslashreplace").decode()


def plain_text(value: Value | None) -> str:
    """Return a value for people: a position as its coordinates, ``nothing`` for none, all else as Python writes it."""
    if isinstance(value, Point):
        return f"({', '.join(map(str, value.axes))})"
    return "nothing" if value is None else repr(value)


def _coordinate(value: object) -> float:
    if isinstance(value, int) and not isinstance(value, bool) and value in INTEGERS:
        return float(value)
    if not isinstance(value, float) or not math.isfinite(value):
        raise InvalidValue(f"a position needs finite numbers, not {shown(value)}")
    return float(value)


def _scalar(value: object, place: str) -> Scalar:
    """Return a plain value: subclasses, such as a StrEnum or a numpy float, become their base."""
    match value:
        case bool() | Point():
            return value
        case int() if value in INTEGERS:
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case str():
            return _text(value, place, TEXT_LENGTH)
        case int() | float():
            msg = f"{place}: {shown(value)} is outside what the database holds (64-bit integers, finite numbers)"
            raise InvalidValue(msg)
        case _:
            msg = f"{place}: {shown(value)} is no text, boolean, number, position or flat list of one of these"
            raise InvalidValue(msg)


def _text(value: object, place: str, longest: int) -> str:
    if not isinstance(value, str):
        raise InvalidValue(f"{place}: {shown(value)} is no text")
    if len(value) > longest:
        raise InvalidValue(f"{place}: {len(value):,} characters; at most {longest:,} are allowed")
    if value.isascii():
        return str(value)
    if _LONE_SURROGATE.search(value):
        raise InvalidValue(f"{place}: {shown(value)} holds half a surrogate pair, which is no character")
    text = unicodedata.normalize("NFC", value)
    return text if len(text) <= longest else _text(text, place, longest)

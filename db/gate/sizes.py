"""Upper bounds of values, and how they grow as values are joined, listed, mapped and passed to functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from scenecypher.db.gate.words import words

ITEM_BYTES: Final = 16  # bytes of any value besides its text
MAX_KEY_LENGTH: Final = 64  # maximum characters of a property's name


@dataclass(frozen=True, slots=True)
class Size:
    """Upper bounds of one value, whatever it is.

    `text` is its length as text, `number` its magnitude, `items` its length as a list or map with elements of at most
    `each`. `bytes` counts it as a tree, shared parts as often as they occur, nodes and relations as references; `wire`
    counts those with their properties. `kind` is the label that surely binds a node: `Entity`, or of the past,
    `Past` or its kind; it is empty for all else, also for a value that may be one of both. `groups` are the variables
    by which a list was collected: rows in which they are equal share one list. It is None for other values. `distinct`
    is how many different values it may have in all rows.
    """

    text: float = 0.0
    number: float = 0.0
    items: float = 0.0
    bytes: float = ITEM_BYTES
    wire: float = ITEM_BYTES
    each: Size | None = None
    kind: str = ""
    groups: frozenset[str] | None = None
    distinct: float = math.inf

    @property
    def element(self) -> Size:
        """The bounds of an element, or of the value itself if it can't be a list."""
        return self.each or self

    @property
    def depth(self) -> int:
        """How deep lists nest in it."""
        return 1 + self.each.depth if self.each else 0

    @property
    def has_nodes(self) -> bool:
        """True if it may be or hold a node or a relation."""
        return self.wire > self.bytes


Variables: TypeAlias = dict[str, Size]
"""The bounds of the values of the variables in scope."""
NUMBER: Final = Size(text=100, number=math.inf)
"""A number, a truth value, a point or a time; as text it has at most a hundred characters."""


def power(base: float, exponent: float) -> float:
    """Return a power, infinite where a float would overflow."""
    try:
        return float(base**exponent)
    except OverflowError:
        return math.inf


def text_of(length: float) -> Size:
    """Return the bounds of a text of at most `length` bytes."""
    return Size(length, math.inf, 0.0, ITEM_BYTES + length, ITEM_BYTES + length)


def list_of(each: Size, items: float) -> Size:
    """Return the bounds of a list of at most `items` values."""
    return Size(0.0, 0.0, items, ITEM_BYTES + items * each.bytes, ITEM_BYTES + items * each.wire, each)


def either(*sizes: Size) -> Size:
    """Return the bounds of a value that is one of these."""
    return sizes[0] if len(sizes) == 1 else _merged(sizes, max)


def collected(sizes: Sequence[Size], *, key_bytes: int = 0) -> Size:
    """Return the bounds of the list of these values, or of the map of them if they have keys."""
    keys = key_bytes * len(sizes)
    every = _merged([*sizes, Size(bytes=ITEM_BYTES + keys, wire=ITEM_BYTES + keys)], sum)
    return replace(every, text=keys, number=0.0, items=len(sizes), each=either(*sizes))


def joined(sizes: Sequence[Size]) -> Size:
    """Return the bounds of what any operator makes of these values: a number, a text or a list.

    What is added to a list may be a list itself or, as a text or a map may, one element more.
    """
    if len(sizes) == 1:
        return sizes[0]
    is_list = any(size.each for size in sizes)
    elements = [size.each for size in sizes if size.each] + [size for size in sizes if size.text or not size.each]
    return replace(
        _merged(sizes, sum),
        number=math.prod(1 + size.number for size in sizes),
        items=sum(max(1.0, size.items) for size in sizes) if is_list else 0.0,
        each=either(*elements) if is_list else None,
    )


def _merged(sizes: Sequence[Size], add: Callable[[list[float]], float]) -> Size:
    listed = [size.each for size in sizes if size.each]
    kinds = {size.kind for size in sizes if size.has_nodes and not size.each}
    return Size(
        add([0.0, *(size.text for size in sizes)]),
        add([0.0, *(size.number for size in sizes)]),
        add([0.0, *(size.items for size in sizes)]),
        max(ITEM_BYTES, add([0.0, *(size.bytes for size in sizes)])),
        max(ITEM_BYTES, add([0.0, *(size.wire for size in sizes)])),
        either(*listed) if listed else None,
        kinds.pop() if len(kinds) == 1 else "",
    )


PARTS: Final = words(
    "trim ltrim rtrim btrim left right substring reverse tail abs ceil ceiling floor tointeger tointegerornull sign "
    "tofloat tofloatornull nullif coalesce tointegerlist tofloatlist tobooleanlist min max nodes relationships "
    "startnode endnode"
)
"""Functions whose value is no larger than their largest argument."""
FUNCTION_SIZES: Final[Mapping[str, Callable[[Size, Size], Size]]] = {
    **dict.fromkeys(words("head last"), lambda first, _: first.element),
    **dict.fromkeys(words("tolower toupper lower upper"), lambda first, _: text_of(3 * first.text)),
    **dict.fromkeys(words("tostring tostringornull"), lambda first, _: text_of(max(100, first.text))),
    **dict.fromkeys(
        words("size length char_length character_length"),
        lambda first, _: replace(NUMBER, number=max(first.items, first.text)),
    ),
    "normalize": lambda first, _: text_of(18 * first.text),
    "replace": lambda first, last: text_of((first.text + 1) * (last.text + 1)),
    "split": lambda first, _: replace(list_of(text_of(first.text), first.text + 1), bytes=17 * first.text + 33),
    "tostringlist": lambda first, _: list_of(text_of(max(100, first.element.text)), first.items),
    "valuetype": lambda _first, _last: text_of(1_000),
}
"""Bounds of other functions' values by their first and last arguments."""


def returned(function: str, sizes: Sequence[Size]) -> Size:
    """Return the bounds of a function's value; a function not listed gives a number."""
    if function in PARTS and sizes:
        return either(*sizes)
    return FUNCTION_SIZES[function](sizes[0], sizes[-1]) if function in FUNCTION_SIZES and sizes else NUMBER

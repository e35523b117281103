"""Upper bounds of values, and how they grow as values are joined, listed and mapped."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

ITEM_BYTES: Final = 16
"""Bytes of any value besides its text."""
MAX_KEY_LENGTH: Final = 64
"""Maximum characters of a property's name."""


@dataclass(frozen=True, slots=True)
class Size:
    """Upper bounds of one value, whatever it is.

    `text` is its length as text, `number` its magnitude, `items` its length as a list or map with elements of at most
    `each`. `bytes` counts it as a tree, shared parts as often as they occur, nodes and relations as references;
    `wire` counts those with their properties. `depth` is how deep lists nest in it; `is_entity` is true if
    it may be a node.
    """

    text: float = 0.0
    number: float = 0.0
    items: float = 0.0
    bytes: float = ITEM_BYTES
    wire: float = ITEM_BYTES
    depth: int = 0
    is_entity: bool = False
    each: Size | None = None

    @property
    def element(self) -> Size:
        """The bounds of an element, or of the value itself if it can't be a list."""
        return self.each or (Size() if self.depth else self)


BOOLEAN: Final = Size(text=5)
NUMBER: Final = Size(text=100, number=math.inf)
"""A number, a point or a time; as text it has at most a hundred characters."""


def text_of(length: float) -> Size:
    """Return the bounds of a text of at most `length` bytes."""
    return Size(text=length, number=math.inf, bytes=ITEM_BYTES + length, wire=ITEM_BYTES + length)


def list_of(each: Size, items: float) -> Size:
    """Return the bounds of a list of at most `items` values."""
    return Size(
        items=items,
        bytes=ITEM_BYTES + items * each.bytes,
        wire=ITEM_BYTES + items * each.wire,
        depth=each.depth + 1,
        each=each,
    )


def collected(sizes: Iterable[Size]) -> Size:
    """Return the bounds of the list of these values."""
    found = list(sizes)
    return replace(
        list_of(either(*found), len(found)),
        bytes=ITEM_BYTES + sum(size.bytes for size in found),
        wire=ITEM_BYTES + sum(size.wire for size in found),
    )


def map_of(sizes: Iterable[Size]) -> Size:
    """Return the bounds of a map with these values."""
    size = collected(sizes)
    return replace(size, bytes=size.bytes + MAX_KEY_LENGTH * size.items, wire=size.wire + MAX_KEY_LENGTH * size.items)


def either(*sizes: Size) -> Size:
    """Return the bounds of a value that is one of these."""
    if len(sizes) == 1:
        return sizes[0]
    listed = [size.each for size in sizes if size.each]
    return Size(
        text=max((size.text for size in sizes), default=0.0),
        number=max((size.number for size in sizes), default=0.0),
        items=max((size.items for size in sizes), default=0.0),
        bytes=max((size.bytes for size in sizes), default=ITEM_BYTES),
        wire=max((size.wire for size in sizes), default=ITEM_BYTES),
        depth=max((size.depth for size in sizes), default=0),
        is_entity=any(size.is_entity for size in sizes),
        each=either(*listed) if listed else None,
    )


def joined(sizes: Iterable[Size]) -> Size:
    """Return the bounds of the result of arithmetic or concatenation: a number, a text or a list."""
    found = list(sizes)
    depth = max(size.depth for size in found)
    elements = [one for size in found for one in ([size.each] if size.each else []) + ([] if size.items else [size])]
    return Size(
        text=sum(size.text for size in found),
        number=math.prod(1 + size.number for size in found),
        items=sum(max(1.0, size.items) for size in found) if depth else 0.0,
        bytes=sum(size.bytes for size in found),
        wire=sum(size.wire for size in found),
        depth=depth,
        each=either(*elements) if depth and elements else None,
    )

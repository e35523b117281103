"""Upper bounds of values, and how they grow as values are joined, listed and mapped."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

ITEM: Final = 16
"""Bytes that any value takes besides its text."""
KEY: Final = 64
"""Characters of a property's name at most."""


@dataclass(frozen=True, slots=True)
class Size:
    """Upper bounds of one value, whatever it is.

    `text` is its length as text, `number` its magnitude, `items` its length as a list or map with elements of at most
    `each`. `bytes` counts it as a tree, shared parts as often as they occur, nodes and relations as references;
    `wire` counts those with their properties. `depth` is how deep lists nest in it; `is_entity`: it may be a node.
    """

    text: float = 0.0
    number: float = 0.0
    items: float = 0.0
    bytes: float = ITEM
    wire: float = ITEM
    depth: int = 0
    is_entity: bool = False
    each: Size | None = None

    @property
    def element(self) -> Size:
        """The bounds of an element; of the value itself if it can be no list."""
        return self.each or (Size() if self.depth else self)


BOOLEAN: Final = Size(text=5)
NUMBER: Final = Size(text=100, number=math.inf)
"""A number, a point or a time; as text it has at most a hundred characters."""


def text_of(length: float) -> Size:
    """Return the bounds of a text of at most `length` bytes."""
    return Size(text=length, number=math.inf, bytes=ITEM + length, wire=ITEM + length)


def list_of(each: Size, items: float) -> Size:
    """Return the bounds of a list of at most `items` values."""
    return Size(
        items=items,
        bytes=ITEM + items * each.bytes,
        wire=ITEM + items * each.wire,
        depth=each.depth + 1,
        each=each,
    )


def collected(sizes: Iterable[Size]) -> Size:
    """Return the bounds of the list of just these values."""
    found = list(sizes)
    return replace(
        list_of(either(*found), len(found)),
        bytes=ITEM + sum(size.bytes for size in found),
        wire=ITEM + sum(size.wire for size in found),
    )


def map_of(sizes: Iterable[Size]) -> Size:
    """Return the bounds of a map with just these values."""
    size = collected(sizes)
    return replace(size, bytes=size.bytes + KEY * size.items, wire=size.wire + KEY * size.items)


def either(*sizes: Size) -> Size:
    """Return the bounds of a value that is one of these."""
    if len(sizes) == 1:
        return sizes[0]
    listed = [size.each for size in sizes if size.each]
    return Size(
        text=max((size.text for size in sizes), default=0.0),
        number=max((size.number for size in sizes), default=0.0),
        items=max((size.items for size in sizes), default=0.0),
        bytes=max((size.bytes for size in sizes), default=ITEM),
        wire=max((size.wire for size in sizes), default=ITEM),
        depth=max((size.depth for size in sizes), default=0),
        is_entity=any(size.is_entity for size in sizes),
        each=either(*listed) if listed else None,
    )


def joined(sizes: Iterable[Size]) -> Size:
    """Return the bounds of what arithmetic or joining makes of these: a number, a text or a list."""
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

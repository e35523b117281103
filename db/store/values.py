"""Values of the server as JSON: measured on arrival, with public properties only, no keys, no internal ids."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from neo4j.graph import Entity, Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

from scenecypher.db.schema import PAST, PAST_PROPERTIES, SCENE_KEY

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
AXES: Final = ("x", "y", "z")


def exceeds(values: Iterable[Any], most: int) -> bool:
    """Check whether values of the driver have more than `most` bytes as JSON, before they are converted.

    The count is a lower bound of the JSON text's length (a text counts its characters, anything else one byte), so a
    value just above `most` may pass. Counting stops at `most`, however large the values are.
    """
    size, open_ = 0, list(values)
    while open_ and size <= most:
        value = open_.pop()
        size += len(value) if isinstance(value, str) else 1
        match value:
            case list():
                open_ += value[: most - size + 1]
            case Entity() | Mapping():
                open_ += [part for item in _public(value) for part in item]
            case Path():
                open_ += [*value.nodes, *value.relationships]
    return size > most


def json_value(value: Any, public: frozenset[str] | None = None, hidden: str = SCENE_KEY) -> JsonValue:
    """Return one value of an answer as JSON.

    A node is the object of its properties, a relation the same with its `type`, a path the list of its nodes and
    relations in turn, a point an object of its coordinates, a date or a duration its ISO text; NaN and infinite
    numbers, which JSON lacks, are text. Of a map only the keys in `public` are taken, if it is given, and of nodes and
    maps not the key `hidden`.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case list():
            return [json_value(item, public, hidden) for item in value]
        case float() if math.isfinite(value):
            return value
    return _structure(value, public, hidden)


def _structure(value: Any, public: frozenset[str] | None, hidden: str) -> JsonValue:
    match value:
        case Entity() | Mapping():
            is_map = not isinstance(value, Entity) and public is not None
            items = [item for item in _public(value, hidden) if not is_map or item[0] in (public or ())]
            found = {key: json_value(item, public, hidden) for key, item in items}
            return {**found, "type": value.type} if isinstance(value, Relationship) else found
        case Path():
            pairs = zip(value.relationships, value.nodes[1:], strict=True)
            parts = [value.start_node, *(one for pair in pairs for one in pair)]
            return [json_value(one, hidden=hidden) for one in parts]
        case Point():
            return {"srid": value.srid, **dict(zip(AXES, value, strict=False))}
        case Date() | Time() | DateTime() | Duration():
            return value.iso_format()
    return str(value)


def _public(value: Any, hidden: str = SCENE_KEY) -> list[tuple[str, Any]]:
    """Return the items without the key `hidden`, whether it comes from a node, `properties(n)` or `n {.*}`.

    A node of the past has the properties of its kind, and no others.
    """
    if hidden == SCENE_KEY and isinstance(value, Node) and PAST in value.labels:
        public = {name for kind in value.labels for name in PAST_PROPERTIES.get(kind, ())}
        return [item for item in value.items() if item[0] in public]
    return [item for item in value.items() if item[0] != hidden]

"""Conversion of the server's values to JSON values: public properties only, no keys, no internal ids."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

from scenecypher.db.gate.words import SCENE_KEY

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

AXES: Final = ("x", "y", "z")


def json_value(value: Any) -> JsonValue:
    """Return one value of an answer as JSON.

    A node is the object of its properties, a relation the same with its `type`, a path the list of its nodes and
    relations in turn, a point an object of its coordinates, a date or a duration its ISO text; NaN and infinite
    numbers, which JSON lacks, are text.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case list():
            return [json_value(item) for item in value]
        case _:
            return _structure(value)


def _structure(value: Any) -> JsonValue:
    match value:
        case Relationship():
            return {**_public(value.items()), "type": value.type}
        case Node() | Mapping():
            return _public(value.items())
        case Path():
            return _path(value)
        case Point():
            return {"srid": value.srid, **dict(zip(AXES, value, strict=False))}
        case Date() | Time() | DateTime() | Duration():
            return value.iso_format()
        case _:
            return str(value)


def _public(items: Iterable[tuple[str, Any]]) -> dict[str, JsonValue]:
    """Remove the scene's key, whether it comes from a node, `properties(n)` or `n {.*}`."""
    return {key: json_value(value) for key, value in items if key != SCENE_KEY}


def _path(path: Path) -> list[JsonValue]:
    steps: list[JsonValue] = [json_value(path.start_node)]
    for relation, node in zip(path.relationships, path.nodes[1:], strict=True):
        steps += [json_value(relation), json_value(node)]
    return steps

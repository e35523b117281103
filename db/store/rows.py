"""Conversion of nodes and relations to and from the values of the Neo4j driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from neo4j import spatial

from scenecypher.db.graph.scene import NO_PROPERTIES, Node, Point, Properties, Relation, Scalar, Value
from scenecypher.db.schema import KINDS, RESERVED_PROPERTIES


def node_row(key: str, node: Node) -> dict[str, Any]:
    """Return a node as the parameter of a CREATE: ``{"kind": …, "values": {…}}``; `key` is its scene's."""
    values: dict[str, Any] = {
        "scene": key,
        "id": node.id,
        "name": node.name,
        "class": node.class_,
        "states": list(node.states),
        "affordances": list(node.affordances),
    }
    values.update((name, to_driver(value)) for name, value in node.properties.items())
    return {"kind": node.kind, "values": values}


def node_of(labels: Iterable[str], items: Mapping[str, Any]) -> Node:
    """Return the value of a member node from its labels and properties."""
    (kind,) = KINDS.keys() & labels
    more = {key: from_driver(value) for key, value in items.items() if key not in RESERVED_PROPERTIES}
    return Node(
        items["id"],
        kind,
        items["name"],
        items["class"],
        tuple(items["states"]),
        tuple(items["affordances"]),
        Properties(more) if more else NO_PROPERTIES,
    )


def relation_rows(relations: Sequence[Relation]) -> tuple[list[str], list[list[Any]]]:
    """Return the ids of the ends of sorted `relations`, and by source and type ``[source, type, [target, …]]``.

    In these rows an end is its place among the ids.
    """
    ids = list(dict.fromkeys(end for relation in relations for end in (relation.source, relation.target)))
    place = {node_id: number for number, node_id in enumerate(ids)}
    rows = [
        [place[source], type_, [place[relation.target] for relation in group]]
        for (source, type_), group in groupby(relations, key=attrgetter("source", "type"))
    ]
    return ids, rows


def to_driver(value: Value | None) -> Any:
    """Return a value as the driver takes it."""
    match value:
        case Point():
            return spatial.CartesianPoint(value.axes)
        case tuple():
            return [to_driver(item) for item in value]
        case _:
            return value


def from_driver(value: Any) -> Value:
    """Return a value that the driver returned."""
    if isinstance(value, list):
        return tuple(_scalar_from_driver(item) for item in value)
    return _scalar_from_driver(value)


def _scalar_from_driver(value: Any) -> Scalar:
    if isinstance(value, spatial.Point):
        axes: Sequence[float] = tuple(value)
        return Point(*axes)
    scalar: Scalar = value
    return scalar

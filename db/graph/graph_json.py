"""JSON documents of values, nodes and Deltas: canonical, lossless, and strict when read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, assert_never

from scenecypher.db.graph.delta import (
    AddNode,
    AddRelation,
    Change,
    ChangeList,
    Delta,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
)
from scenecypher.db.graph.scene import Node, Relation
from scenecypher.db.graph.value import InvalidValue, Point, Properties, Value, checked, digest, shown

_CANONICAL: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def delta_json(delta: Delta) -> str:
    """Return canonical JSON text: equal Deltas give equal bytes, and `delta_from_json` returns the same Delta."""
    return _CANONICAL.encode([_change_document(change) for change in delta.changes])


def canonical_json(document: object) -> str:
    """Return a JSON document as text: equal documents give equal bytes."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def delta_from_json(text: str) -> Delta:
    """Parse a text of `delta_json`. Raises InvalidValue for any other text."""
    try:
        return Delta(tuple(_change_of(*document) for document in json.loads(text)))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        msg = f"a Delta can't be read from {shown(text)} ({type(error).__name__}); is this history's database damaged?"
        raise InvalidValue(msg) from error


def delta_hash(text: str) -> str:
    """Return the SHA-256 (hex) of a Delta's canonical JSON text, which identifies a repeated action."""
    return digest(text)


def value_document(value: Value | None) -> Any:
    """Return a value as JSON: positions as ``{"point": [x, y, z]}``, lists as lists."""
    match value:
        case Point():
            return {"point": [*value.axes]}
        case tuple():
            return [value_document(item) for item in value]
        case _:
            return value


def value_from(document: Any, place: str) -> Value:
    """Parse a JSON document of `value_document`. Raises InvalidValue naming `place`."""
    if isinstance(document, list):
        return checked([_scalar_from(item, f"{place}[{i}]") for i, item in enumerate(document)], place)
    return checked(_scalar_from(document, place), place)


def _scalar_from(document: Any, place: str) -> Any:
    if not isinstance(document, dict):
        return document
    axes = document.get("point")
    if not isinstance(axes, list) or len(axes) not in {2, 3} or len(document) > 1:
        msg = f'{place}: a map can\'t be a value (a position is {{"point": [x, y, z]}}); use several properties'
        raise InvalidValue(msg)
    return Point(*axes)


def node_document(node: Node) -> dict[str, Any]:
    """Return a node as JSON, without empty fields."""
    document: dict[str, Any] = {"id": node.id, "kind": node.kind, "name": node.name, "class": node.class_}
    for key, items in (("states", node.states), ("affordances", node.affordances)):
        if items:
            document[key] = list(items)
    if node.properties:
        document["properties"] = {key: value_document(value) for key, value in node.properties.items()}
    return document


def node_from(document: Mapping[str, Any]) -> Node:
    """Parse a JSON document of `node_document`."""
    properties = document.get("properties", {})
    return Node(
        document["id"],
        document["kind"],
        document["name"],
        document["class"],
        document.get("states", ()),
        document.get("affordances", ()),
        Properties({key: value_from(value, key) for key, value in properties.items()}),
    )


def _change_document(change: Change) -> list[Any]:
    match change:
        case AddNode(node) | RemoveNode(node):
            return ["+node" if isinstance(change, AddNode) else "-node", node_document(node)]
        case AddRelation(r) | RemoveRelation(r):
            return ["+rel" if isinstance(change, AddRelation) else "-rel", r.source, r.type, r.target]
        case SetKind():
            return ["kind", change.id, change.before, change.after]
        case SetProperty():
            return ["set", change.id, change.key, value_document(change.before), value_document(change.after)]
        case ChangeList():
            return [change.field, change.id, list(change.added), list(change.removed)]
        case _:
            assert_never(change)


def _change_of(tag: str, *parts: Any) -> Change:
    match tag:
        case "+node" | "-node":
            return (AddNode if tag == "+node" else RemoveNode)(node_from(parts[0]))
        case "+rel" | "-rel":
            return (AddRelation if tag == "+rel" else RemoveRelation)(Relation(*parts))
        case "kind":
            return SetKind(*parts)
        case "set":
            node_id, key, before, after = parts
            return SetProperty(node_id, key, _optional(before, key), _optional(after, key))
        case "states" | "affordances":
            node_id, added, removed = parts
            return ChangeList(node_id, "states" if tag == "states" else "affordances", added, removed)
        case _:
            msg = f"a history event holds the unknown change {tag!r}; it was written by a newer version, upgrade"
            raise InvalidValue(msg)


def _optional(document: Any, key: str) -> Value | None:
    return None if document is None else value_from(document, key)

"""A scene graph as LookPlanGraph's JSON document (appendix C): rooms, assets, objects and the agent."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.planner.prompts.layout import TRAITS, SceneLayout, cell_of, is_confirmed

RELATION_NAMES = {"ontop": "ontop_of", "inside": "inside_of", "under": "under", "attached_to": "attached_to"}
"""Names of the relations in the document."""


def graph_json(graph: SceneGraph, vocabulary: str, *, inspected: Collection[str] = ()) -> str:
    """Return the document on one line, sorted by id: equal for equal graphs."""
    return json.dumps(graph_document(graph, vocabulary, inspected=inspected), ensure_ascii=False)


def graph_document(graph: SceneGraph, vocabulary: str, *, inspected: Collection[str] = ()) -> dict[str, Any]:
    """Return the document.

    It also marks `inspected` nodes and unseen objects and lists doors, which the paper's does not, and has no empty
    lists.
    """
    layout = SceneLayout(graph, vocabulary)
    nodes: dict[str, Any] = {
        "rooms": [{"name": place.id} for place in layout.of_kind("Place")],
        "asset": [_asset_document(layout, node, inspected) for node in layout.of_kind("Asset")],
        "objects": [
            _object_document(layout, node, inspected) for node in layout.of_kind("Object") if _has_room(layout, node)
        ],
    }
    doors = [
        _description(layout, door) | {"between": [*layout.places_joined(door.id)]} for door in layout.of_kind("Door")
    ]
    if doors:
        nodes["doors"] = doors
    if layout.agent is not None:
        held = ", ".join(layout.held) or "nothing"
        nodes["agent"] = {"name": layout.agent, "location": layout.here, "holding": held}
    return {"nodes": nodes}


def _asset_document(layout: SceneLayout, node: Node, inspected: Collection[str]) -> dict[str, Any]:
    return {"name": node.id, "room": layout.room_of(node.id)} | _attributes(layout, node, inspected)


def _object_document(layout: SceneLayout, node: Node, inspected: Collection[str]) -> dict[str, Any]:
    supports = layout.supports(node.id)
    held = node.id in layout.held
    where: list[tuple[str, str | None]] = [(RELATION_NAMES.get(word, word), id_) for word, id_ in supports]
    where = where or [("held_by", layout.agent) if held else ("inside_of", layout.room_of(node.id))]
    relation, related_to = where[0]
    document: dict[str, Any] = {"name": node.id, "relation": relation, "related_to": related_to}
    return document | _attributes(layout, node, inspected) | ({} if is_confirmed(node) else {"confirmed": False})


def _description(layout: SceneLayout, node: Node) -> dict[str, Any]:
    properties = [str(node.properties[name]) for name in TRAITS if name in node.properties]
    lists = {"states": [*node.states], "affordances": [*node.affordances], "properties": properties}
    document: dict[str, Any] = {"name": node.id, **{name: words for name, words in lists.items() if words}}
    found = cell_of(node, layout.vocabulary)
    return document if found is None else {**document, "cell": [*found]}


def _attributes(layout: SceneLayout, node: Node, inspected: Collection[str]) -> dict[str, Any]:
    rest = {key: value for key, value in _description(layout, node).items() if key != "name"}
    return rest | ({"inspected": True} if node.id in inspected else {})


def _has_room(layout: SceneLayout, node: Node) -> bool:
    return layout.room_of(node.id) is not None

"""Conversion between VirtualHome's graph and a scene graph, by the tables of its format; Unity's axes become ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError

from scenecypher.db.graph.axes import exchanged, exchanged_facts
from scenecypher.db.graph.problems import Problem, json_path
from scenecypher.db.graph.scene import EMPTY, InvalidValue, Node, Point, Properties, Relation, SceneGraph, Value
from scenecypher.db.graph.value import shown
from scenecypher.db.schema import REMEMBERED, Declared
from scenecypher.importers.virtualhome_format import (
    AFFORDANCES,
    KIND_OF_CATEGORY,
    RELATIONS,
    STATES,
    Graph,
    GraphEdge,
    GraphNode,
)

_SOURCE_STATES: Final = {ours: theirs for theirs, ours in STATES.items()}
_SOURCE_AFFORDANCES: Final = {ours: theirs for theirs, ours in AFFORDANCES.items()}
_SOURCE_RELATIONS: Final = {ours: theirs for theirs, ours in RELATIONS.items()}
_BOX: Final = ("center", "size_x", "size_y", "size_z")
_TRANSFORM: Final = ("position", "rotation", "scale")
_HELD: Final = frozenset({"category", "prefab", *_BOX, *_TRANSFORM})


def node_id(class_name: str, source_id: int) -> str:
    """Return id and name of a node: ``soap_1001``; the number after the last underscore is the source's own."""
    return f"{class_name}_{source_id}"


def kind_by_category(category: str | None, properties: list[str]) -> str:
    """Return the kind by category if it decides, else by whether a hand can take the object."""
    movable = "Object" if "GRABBABLE" in properties else "Asset"
    return KIND_OF_CATEGORY.get(category or "", movable)


def graph_from_source(graph: Graph) -> tuple[SceneGraph, list[Problem]]:
    """Return the scene graph, or its problems by path from the graph's own root.

    Relations must have been checked: each ends in a node and is given once.
    """
    ids = {node.id: node_id(node.class_name, node.id) for node in graph.nodes}
    nodes: list[Node] = []
    problems: list[Problem] = []
    for index, node in enumerate(graph.nodes):
        try:
            nodes.append(_node(node, ids[node.id]))
        except InvalidValue as error:
            problems.append((f".nodes[{index}]", str(error)))
    if problems:
        return EMPTY, problems
    return SceneGraph.of(nodes, (_relation(edge, ids) for edge in graph.edges)), []


def declared_by(graph: SceneGraph) -> Declared:
    """Return the relation types and properties of this graph beyond the registry's."""
    return Declared(
        tuple({relation.type for relation in graph.relations}),
        tuple({key for node in graph.nodes.values() for key in node.properties}),
    )


def document_of(graph: SceneGraph) -> dict[str, Any]:
    """Return the source's form of a graph, which has no place for the remembered origins of taken objects.

    Raises InvalidValue for the first item that it has no word for.
    """
    return {
        "nodes": [_source_node(node) for node in graph.nodes.values()],
        "edges": [
            {
                "from_id": source_id(relation.source),
                "relation_type": _word(_SOURCE_RELATIONS, relation.type, "relation type"),
                "to_id": source_id(relation.target),
            }
            for relation in graph.in_order()
            if relation.type not in REMEMBERED
        ],
    }


def source_id(id_: str) -> int:
    """Return the source's number of a node. Raises InvalidValue for a node that is not VirtualHome's."""
    _, _, number = id_.rpartition("_")
    if not number.removeprefix("-").isdecimal() or node_id("", int(number)) != f"_{number}":
        msg = f"id {shown(id_)} does not end in '_' and a number, as VirtualHome's must; rename the node"
        raise InvalidValue(msg)
    return int(number)


def _node(node: GraphNode, id_: str) -> Node:
    return Node(
        id_,
        kind_by_category(node.category, node.properties),
        id_,
        node.class_name,
        tuple(STATES[state] for state in node.states),
        tuple(AFFORDANCES[affordance] for affordance in node.properties),
        Properties(exchanged_facts(dict(_properties(node)))),
    )


def _relation(edge: GraphEdge, ids: Mapping[int, str]) -> Relation:
    return Relation(ids[edge["from_id"]], RELATIONS[edge["relation_type"]], ids[edge["to_id"]])


def _properties(node: GraphNode) -> Iterator[tuple[str, Value | None]]:
    yield "category", node.category
    yield "prefab", node.prefab_name
    if node.bounding_box:
        yield from zip(_BOX, (Point(*node.bounding_box.center), *node.bounding_box.size), strict=True)
    if node.obj_transform:
        pose = node.obj_transform
        yield from zip(_TRANSFORM, (Point(*pose.position), pose.rotation, pose.scale), strict=True)


def _source_node(node: Node) -> dict[str, Any]:
    node = exchanged(node)
    for key in node.properties.keys() - _HELD:
        msg = f"node {shown(node.id)}: VirtualHome has no property {key!r}; remove it before exporting"
        raise InvalidValue(msg)
    document = {
        "id": source_id(node.id),
        "class_name": node.class_,
        "category": node.properties.get("category"),
        "properties": [_word(_SOURCE_AFFORDANCES, word, "affordance") for word in node.affordances],
        "states": [_word(_SOURCE_STATES, word, "state") for word in node.states],
        "prefab_name": node.properties.get("prefab"),
        "bounding_box": _box(node.properties),
        **_transform(node.properties),
    }
    try:
        GraphNode.model_validate(document)
    except ValidationError as error:
        place = json_path(error.errors()[0]["loc"], root="")
        msg = f"node {shown(node.id)}: {place[1:]} would be no VirtualHome value; mend it before exporting"
        raise InvalidValue(msg) from error
    return document


def _box(properties: Properties) -> dict[str, Any] | None:
    if not any(key in properties for key in _BOX):
        return None
    center, *size = (_listed(properties.get(key)) for key in _BOX)
    return {"center": center, "size": size}


def _transform(properties: Properties) -> dict[str, Any]:
    if not any(key in properties for key in _TRANSFORM):
        return {}
    return {"obj_transform": {key: _listed(properties.get(key)) for key in _TRANSFORM}}


def _listed(value: Value | None) -> object:
    match value:
        case Point():
            return [value.x, value.y, value.z]
        case tuple():
            return list(value)
        case _:
            return value


def _word(table: Mapping[str, str], word: str, what: str) -> str:
    if word not in table:
        msg = f"VirtualHome has no {what} {shown(word)}; remove it before exporting"
        raise InvalidValue(msg)
    return table[word]

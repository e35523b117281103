"""Graphs in NetworkX's node-link JSON: import and export."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from scenecypher.db.graph.document import value_document, value_from
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, document_error, json_path, problems_of
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties
from scenecypher.db.graph.value import property_name, shown
from scenecypher.db.schema import KINDS as OUR_KINDS
from scenecypher.db.schema import RELATION_NAME, RELATION_TYPES, Declared
from scenecypher.db.vocabulary import DEFAULT, current_name, is_known, vocabulary_names
from scenecypher.importers.assembly import NodeDraft, RelationDraft, assemble
from scenecypher.importers.grasif import class_of_name
from scenecypher.importers.json_file import read_json
from scenecypher.importers.networkx_format import (
    DEFAULT_KIND,
    EDGE_ATTRIBUTES,
    KINDS,
    NODE_ATTRIBUTES,
    RELATIONS,
    SYMMETRIC,
    GraphAttributes,
    NodeLink,
)

NAME_PREFIX: Final = "networkx/"
_BETWEEN_WORDS: Final = re.compile(r"[\s-]+")


def read_scene(path: Path, *, name: str | None = None, declare: Declared | None = None) -> ImportedScene:
    """Return the scene of a file, named after it by default. Raises DocumentError with all its problems.

    The scene declares the types and properties in the file's graph attributes, and those of `declare`.
    """
    return from_document(read_json(path), file=str(path), name=name or NAME_PREFIX + path.stem, declare=declare)


def from_document(document: object, *, file: str, name: str, declare: Declared | None = None) -> ImportedScene:
    """Return the scene of a node-link document. Raises DocumentError with all its problems."""
    try:
        form = NodeLink.model_validate(document)
    except ValidationError as error:
        raise document_error(file, problems_of(error, document)) from error
    problems = [*_graph_problems(form.graph)]
    links = [*_links(form, _word_for_edges(document), problems)]
    declared = _declared(form.graph, declare or Declared())
    vocabulary = current_name(form.graph.vocabulary) if not problems else DEFAULT
    graph, more = assemble(_drafts(form.nodes), links, vocabulary=vocabulary, declared=declared)
    if problems or more:
        raise document_error(file, problems + more)
    return ImportedScene(name, graph, vocabulary, role=form.graph.role, declared=declared, source=file)


def to_document(scene: ImportedScene) -> dict[str, Any]:
    """Return the node-link document of a scene: `networkx.node_link_graph(document, edges="edges")` reads it."""
    attributes = {
        "vocabulary": scene.vocabulary,
        "role": scene.role,
        "relation_types": [*scene.declared.relation_types],
        "properties": [*scene.declared.properties],
    }
    return {
        "directed": True,
        "multigraph": True,
        "graph": attributes,
        "nodes": [_node_document(scene.graph.nodes[node_id]) for node_id in sorted(scene.graph.nodes)],
        "edges": [
            {"source": r.source, "target": r.target, "key": r.type, "relation": r.type}
            for r in sorted(scene.graph.relations)
        ],
    }


def _declared(graph: GraphAttributes, more: Declared) -> Declared:
    return Declared((*graph.relation_types, *more.relation_types), (*graph.properties, *more.properties))


def _graph_problems(graph: GraphAttributes) -> Iterator[Problem]:
    if not is_known(graph.vocabulary):
        yield "$.graph.vocabulary", f"{shown(graph.vocabulary)} is none of {', '.join(vocabulary_names())}"


def _word_for_edges(document: object) -> str:
    return "edges" if isinstance(document, dict) and "edges" in document else "links"


def _drafts(nodes: list[dict[str, Any]]) -> Iterator[NodeDraft]:
    for index, attributes in enumerate(nodes):
        yield NodeDraft(json_path(("nodes", index)), partial(_node, attributes))


def _node(attributes: dict[str, Any]) -> Node:
    chosen = {ours: _first(attributes, names) for ours, names in NODE_ATTRIBUTES.items()}
    read = {ours: attributes[name] for ours, name in chosen.items() if name is not None}
    others = {key: value for key, value in attributes.items() if key not in chosen.values() and value is not None}
    node_id = _id(read.get("id"), "id")
    name = read.get("name", node_id)
    properties: dict[str, object] = {property_name(key): value_from(value, key) for key, value in others.items()}
    if "center" in read:
        properties["center"] = _position(read["center"], chosen["center"] or "center")
    return Node(
        node_id,
        _kind(read.get("kind", DEFAULT_KIND)),
        name,
        read.get("class", class_of_name(name) if isinstance(name, str) else name),
        read.get("states", ()),
        read.get("affordances", ()),
        Properties(properties),
    )


def _first(attributes: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if attributes.get(name) is not None), None)


def _id(given: object, place: str) -> str:
    if given is None:
        msg = f"{place} is missing; add it"
        raise InvalidValue(msg)
    if isinstance(given, str):
        return given
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) < 2**63:
        return str(given)
    msg = f"{place} should be text or a 64-bit whole number, not {shown(given)}"
    raise InvalidValue(msg)


def _kind(word: object) -> str:
    known = word if word in OUR_KINDS else KINDS.get(word.casefold()) if isinstance(word, str) else None
    if not isinstance(known, str):
        msg = f"kind should be one of {', '.join((*OUR_KINDS, *KINDS))}, not {shown(word)}"
        raise InvalidValue(msg)
    return known


def _position(given: object, place: str) -> object:
    if isinstance(given, list) and len(given) in {2, 3}:
        return Point(*given)
    if isinstance(given, dict) and "point" in given:
        return value_from(given, place)
    msg = f"{place} should be a position, [x, y] or [x, y, z], not {shown(given)}"
    raise InvalidValue(msg)


def _links(form: NodeLink, word: str, problems: list[Problem]) -> Iterator[RelationDraft]:
    for index, edge in enumerate(form.edges):
        place = json_path((word, index))
        try:
            source, type_, target = _relation(edge)
            both = not form.directed and source != target and _is_symmetric(type_)
        except InvalidValue as error:
            problems.append((place, str(error)))
            continue
        yield RelationDraft(place, source, type_, target)
        if both:
            yield RelationDraft(place, target, type_, source)


def _relation(edge: dict[str, Any]) -> tuple[str, str, str]:
    chosen = _first(edge, EDGE_ATTRIBUTES)
    word = edge[chosen] if chosen else edge.get("key")
    if not isinstance(word, str):
        msg = f"has no relation type; add it as {EDGE_ATTRIBUTES[0]!r}"
        raise InvalidValue(msg)
    for key in edge.keys() - {chosen, "source", "target", "key"}:
        msg = f"a relation holds no attribute such as {shown(key)}; remove it"
        raise InvalidValue(msg)
    return _id(edge.get("source"), "source"), _type(word), _id(edge.get("target"), "target")


def _type(word: str) -> str:
    if RELATION_NAME.fullmatch(word):
        return word
    plain = _BETWEEN_WORDS.sub("_", word.strip().casefold())
    return RELATIONS.get(plain, plain.upper())


def _is_symmetric(type_: str) -> bool:
    """Return True for an undirected graph's edge. Raises InvalidValue if the type needs a direction."""
    if type_ in RELATION_TYPES and type_ not in SYMMETRIC:
        msg = f'an undirected graph can\'t say which end of {type_} is which; make it a DiGraph ("directed": true)'
        raise InvalidValue(msg)
    return True


def _node_document(node: Node) -> dict[str, Any]:
    document: dict[str, Any] = {"id": node.id, "kind": node.kind, "name": node.name, "class": node.class_}
    for key, value in node.properties.items():
        if key == "kind" or (key in NODE_ATTRIBUTES["center"][1:] and "center" not in node.properties):
            msg = f"node {shown(node.id)}: NetworkX's {key} would be read as something else; rename the property first"
            raise InvalidValue(msg)
        document[key] = value_document(value)
    center = node.properties.get("center")
    if isinstance(center, Point):
        document["center"] = value_document(center)["point"]
    elif center is not None:
        msg = f"node {shown(node.id)}: center is no position; rename the property first"
        raise InvalidValue(msg)
    return document | {"states": [*node.states], "affordances": [*node.affordances]}

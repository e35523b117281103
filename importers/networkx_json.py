"""Graphs in NetworkX's node-link JSON: import and export."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from scenecypher.db.graph.axes import UP, upright
from scenecypher.db.graph.graph_json import value_document, value_from
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, RelationDraft, document_error, json_path, problems_of
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties
from scenecypher.db.graph.value import checked, class_of_name, label, labels, property_name, shown
from scenecypher.db.schema import KINDS as OUR_KINDS
from scenecypher.db.schema import RELATION_NAME, RELATION_TYPES, Declared
from scenecypher.db.vocabulary import DEFAULT, current_name, is_known, vocabulary_names
from scenecypher.errors import did_you_mean
from scenecypher.importers.assembly import NodeDraft, assemble
from scenecypher.importers.json_file import JsonLine, read_document, stem_of, without_gaps
from scenecypher.importers.networkx_format import (
    DEFAULT_KIND,
    EDGE_ATTRIBUTES,
    EMBEDDINGS,
    ENDS,
    KINDS,
    NODE_ATTRIBUTES,
    OPEN_VOCABULARY,
    RELATIONS,
    SYMMETRIC,
    GraphAttributes,
    NodeLink,
)
from scenecypher.importers.open_vocabulary import first_of, keys_of, node_link_form, plain_form, word_for_edges
from scenecypher.importers.space import as_value, box, caption, numbers, position, size
from scenecypher.importers.tried import Tried
from scenecypher.importers.vectors_file import vectors_of_nodes

NAME_PREFIX: Final = "networkx/"
IN_LISTS: Final = {"id", "object1", *NODE_ATTRIBUTES["center"], *NODE_ATTRIBUTES["box"], "Position", "predicate"}
"""Attributes one of which shows that a list of maps is one of objects."""
NOTHING: Final[Mapping[str, object]] = {}
TRIPLE: Final = ("source", "relation", "target")
NO_LABELS: Final[tuple[str, ...]] = ()
_BETWEEN_WORDS: Final = re.compile(r"[\s-]+")


def is_one(document: Any) -> bool:
    """Check if a document is of node-link form, or a map of objects with positions or relations."""
    if isinstance(document, list):
        return any(isinstance(it, list) or it.keys() & IN_LISTS for it in document if isinstance(it, dict | list))
    found = node_link_form(document) if keys_of(document) is None else {"nodes": []}
    return isinstance(found.get("nodes"), list) and bool(found.keys() & {"edges", "links"} or keys_of(document))


def read_scene(
    path: Path,
    *,
    name: str | None = None,
    declare: Declared | None = None,
    line: JsonLine | None = None,
    strict: bool = False,
) -> ImportedScene:
    """Return the scene of a file, or of a line of it, named after it by default.

    The scene declares the types and properties in the file's graph attributes, and those of `declare`. Raises
    DocumentError with all its problems.
    """
    file = str(path) if line is None else f"{path}:{line.number}"
    name = name or NAME_PREFIX + stem_of(path)
    return from_document(read_document(path, line=line), file=file, name=name, declare=declare, strict=strict)


def from_document(
    document: object, *, file: str, name: str, declare: Declared | None = None, strict: bool = False
) -> ImportedScene:
    """Return the scene of a node-link document or an open-vocabulary map. Raises DocumentError.

    Unless `strict`, numbers that are not finite and what a relation can't hold are left out, with notes.
    """
    read = partial(_from_document, file=file, name=name, declare=declare, strict=strict)
    return without_gaps(read, document, strict=strict)


def _from_document(document: object, *, file: str, name: str, declare: Declared | None, strict: bool) -> ImportedScene:
    document = node_link_form(document)
    notes: list[str] = []
    if isinstance(document, dict) and (made := document.pop("made_ids", 0)):
        notes.append(f"ids of {made:,} nodes made of name or class and number, since the file has none")
    if isinstance(document, dict) and not strict:
        document = plain_form(document, notes)
    form, problems = _form(document)
    graph_is_readable = not any(place.startswith("$.graph") for place, _ in problems)
    problems += _graph_problems(form.graph)
    declared = _declared(form, declare or Declared())
    links = [*_links(form, word_for_edges(document), problems)]
    vocabulary = current_name(form.graph.vocabulary) if not problems else DEFAULT
    graph, more = assemble(
        _drafts(form.nodes, declared),
        links,
        vocabulary=vocabulary,
        declared=declared if graph_is_readable else None,
    )
    if problems or more:
        raise document_error(file, problems + more)
    scene = ImportedScene(
        name,
        graph,
        form.graph.vocabulary,
        role=form.graph.role,
        declared=declared,
        source=file,
        notes=tuple(notes),
    )
    return upright(_with_vectors(scene, form.nodes), form.graph.up)


def _form(document: object) -> tuple[NodeLink, list[Problem]]:
    """Return the form of a document, of malformed ones the readable parts, and the problems of the others."""
    try:
        return NodeLink.model_validate(document), []
    except ValidationError as error:
        problems = problems_of(error, document)
    given = document if isinstance(document, dict) else {}
    read = {"nodes": given.get("nodes"), "edges": given.get(word_for_edges(given))}
    parts = {key: value for key, value in read.items() if isinstance(value, list)}
    return NodeLink.model_validate({"nodes": [], "edges": [], "directed": True} | parts), problems


def to_document(scene: ImportedScene) -> dict[str, Any]:
    """Return the node-link document of a scene: `networkx.node_link_graph(document, edges="edges")` reads it."""
    attributes = {
        "vocabulary": scene.vocabulary,
        "role": scene.role,
        "up": UP,
        "relation_types": [*scene.declared.relation_types],
        "properties": [*scene.declared.properties],
    }
    return {
        "directed": True,
        "multigraph": True,
        "graph": attributes,
        "nodes": [_node_document(scene.graph.nodes[node_id]) for node_id in sorted(scene.graph.nodes)],
        "edges": [
            {"source": r.source, "target": r.target, "key": r.type, "relation": r.type} for r in scene.graph.in_order()
        ],
    }


def _declared(form: NodeLink, more: Declared) -> Declared:
    """Return what the file and the caller declare, and the words of open-vocabulary maps that occur."""
    keys = {key for node in form.nodes if isinstance(node, dict) for key in node}
    keys |= {"caption"} if keys & {*NODE_ATTRIBUTES["caption"]} else set()
    found = (key for key in OPEN_VOCABULARY if key in keys)
    graph = form.graph
    return Declared((*graph.relation_types, *more.relation_types), (*graph.properties, *more.properties, *found))


def _graph_problems(graph: GraphAttributes) -> Iterator[Problem]:
    if not is_known(graph.vocabulary):
        yield "$.graph.vocabulary", f"{shown(graph.vocabulary)} is none of {', '.join(vocabulary_names())}"


def _with_vectors(scene: ImportedScene, nodes: list[Any]) -> ImportedScene:
    """Return the scene with the vectors of its nodes, and a note on lists that are none. Raises DocumentError."""
    for key in sorted(EMBEDDINGS):
        given = [(str(it.get("id")), it[key]) for it in nodes if _is_embedding(key, it.get(key), scene.declared)]
        found = vectors_of_nodes(key, given, scene.graph.nodes, file=scene.source)
        left_out = len(given) - sum(it.count for it in found)
        notes = (f"{key} of {left_out:,} nodes left out: no vectors",) if left_out else ()
        scene = replace(scene, notes=(*scene.notes, *notes), vectors=(*scene.vectors, *found))
    return scene


def _is_embedding(key: str, value: object, declared: Declared) -> bool:
    return key in EMBEDDINGS and isinstance(value, list) and key not in declared.properties


def _drafts(nodes: list[Any], declared: Declared) -> Iterator[NodeDraft]:
    for index, attributes in enumerate(nodes):
        given = attributes.get("id") if isinstance(attributes, dict) else None
        node_id = str(given) if isinstance(given, str | int) else None
        yield NodeDraft(json_path(("nodes", index)), partial(_node, attributes, declared), node_id)


def _node(attributes: Any, declared: Declared) -> Node:
    """Return a node. Raises InvalidValue with all that is wrong with it."""
    if not isinstance(attributes, dict):
        raise InvalidValue(f"should be a map, not {shown(attributes)}")
    given = _with_position(attributes, declared)
    kept = {key: value for key, value in given.items() if not _is_embedding(key, value, declared)}
    chosen = {
        ours: first_of(kept, [it for it in names if it not in declared.properties or it == ours])
        for ours, names in NODE_ATTRIBUTES.items()
    }
    read = {ours: kept[name] for ours, name in chosen.items() if name is not None}
    others = {key: value for key, value in kept.items() if key not in chosen.values() and value is not None}
    tried = Tried()
    node_id = tried.value(lambda: label(_id(read.get("id"), "id"), "id"), "?")
    name = tried.value(lambda: label(read.get("name", node_id), "name"), node_id)
    properties = _space(read, chosen, tried)
    for key, value in others.items():
        properties |= tried.value(partial(_property, key, value), NOTHING)
    parts = (
        tried.value(lambda: _kind(read.get("kind", DEFAULT_KIND)), DEFAULT_KIND),
        name,
        tried.value(lambda: label(read.get("class", class_of_name(name)), "class"), name),
        tried.value(lambda: labels(read.get("states", ()), "states"), NO_LABELS),
        tried.value(lambda: labels(read.get("affordances", ()), "affordances"), NO_LABELS),
    )
    tried.refuse()
    return Node(node_id, *parts, Properties(properties))


def _with_position(attributes: Mapping[str, Any], declared: Declared) -> Mapping[str, Any]:
    """Return attributes with the numbers `x`, `y` and `z` as a position, unless they have one or the scene has these.

    A gap in one of them leaves all out.
    """
    given = {it: attributes[it] for it in "xyz" if it in attributes and it not in declared.properties}
    axes = dict(zip(given, numbers([*given.values()]), strict=True))
    are_numbers = all(it is None or (isinstance(it, int | float) and it is not True) for it in axes.values())
    has_position = first_of(attributes, NODE_ATTRIBUTES["center"]) is not None
    if not {"x", "y"} <= axes.keys() or not are_numbers or has_position:
        return attributes
    others = {key: value for key, value in attributes.items() if key not in axes}
    return others if None in axes.values() else others | {"position": axes}


def _property(key: str, value: object) -> Mapping[str, object]:
    return {property_name(key): checked(value_from(as_value(value), key), key)}


def _space(read: Mapping[str, Any], chosen: Mapping[str, str | None], tried: Tried) -> dict[str, object]:
    """Return center, size and caption."""
    found: dict[str, object] = {}
    for ours, reader in (("box", box), ("size", size), ("center", position), ("caption", caption)):
        if ours in read:
            found |= tried.value(partial(reader, read[ours], chosen[ours] or ours), NOTHING)
    return found


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
    known = (word if word in OUR_KINDS else KINDS.get(word.casefold())) if isinstance(word, str) else None
    if known is None:
        words = (*OUR_KINDS, *KINDS)
        hint = did_you_mean(word, words) if isinstance(word, str) else ""
        msg = f"kind should be one of {', '.join(words)}, not {shown(word)}{hint}"
        raise InvalidValue(msg)
    return known


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


def _relation(edge: Any) -> tuple[str, str, str]:
    """Return source, type and target of an edge. Raises InvalidValue with all that is wrong with it."""
    if isinstance(edge, list) and len(edge) == len(TRIPLE):
        edge = dict(zip(TRIPLE, edge, strict=True))
    if not isinstance(edge, dict):
        raise InvalidValue(f"should be a map, not {shown(edge)}")
    ends = {end: first_of(edge, names) or end for end, names in ENDS.items()}
    chosen = first_of(edge, EDGE_ATTRIBUTES)
    word = edge[chosen] if chosen else edge.get("key")
    tried = Tried()
    if not isinstance(word, str):
        tried.add(f"has no relation type; add it as {EDGE_ATTRIBUTES[0]!r}")
    others = sorted(edge.keys() - {chosen, *ends.values(), "key"})
    if others:
        tried.add(f"a relation holds no attribute such as {', '.join(map(shown, others))}; leave out --strict")
    source, target = (tried.value(partial(_id, edge.get(key), end), "") for end, key in ends.items())
    tried.refuse()
    return source, _type(str(word)), target


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

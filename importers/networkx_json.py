"""Graphs in NetworkX's node-link JSON: import and export."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from scenecypher.db.graph.axes import UP, upright
from scenecypher.db.graph.graph_json import value_document, value_from
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, RelationDraft, json_path, problems_of
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties
from scenecypher.db.graph.value import checked, class_of_name, label, labels, property_name, shown
from scenecypher.db.schema import KINDS as OUR_KINDS
from scenecypher.db.schema import RELATION_TYPES, Declared
from scenecypher.db.vocabulary import DEFAULT, current_name, is_known, vocabulary_names
from scenecypher.errors import did_you_mean
from scenecypher.importers.assembly import (
    NodeDraft,
    as_value,
    assemble,
    box,
    caption,
    made,
    numbers,
    position,
    refuse,
    size,
)
from scenecypher.importers.json_file import without_gaps
from scenecypher.importers.open_vocabulary import (
    DIRECTED,
    EDGE_ATTRIBUTES,
    ENDS,
    KINDS,
    NODE_ATTRIBUTES,
    RELATIONS,
    REVERSED,
    WORDS,
    NodeLink,
    first_of,
    is_place,
    keys_of,
    node_link_form,
    plain_form,
    word_for_edges,
)
from scenecypher.importers.vectors_file import with_vectors_of_nodes
from scenecypher.importers.word_tables import listed

NAME_PREFIX: Final = "networkx/"
IN_LISTS: Final = {*listed(WORDS["in_lists"]), *NODE_ATTRIBUTES["center"], *NODE_ATTRIBUTES["box"]}
EMBEDDINGS, SYMMETRIC = (frozenset(listed(WORDS[key])) for key in ("embeddings", "symmetric"))
TRIPLE: Final = ("source", "relation", "target")
_BETWEEN_WORDS: Final = re.compile(r"[\s-]+")
SPACE: Final[Mapping[str, Callable[[Any, str], Mapping[str, object]]]] = dict(
    zip(("box", "size", "center", "caption"), (box, size, position, caption), strict=True)
)


def is_one(document: Any) -> bool:
    """Check if a document is of node-link form, or a map of objects with positions or relations."""
    if isinstance(document, list):
        return any(isinstance(it, list) or it.keys() & IN_LISTS for it in document if isinstance(it, dict | list))
    found = node_link_form(document) if keys_of(document) is None else {"nodes": []}
    if "id_to_label" in document:  # Replica's
        return False
    return isinstance(found.get("nodes"), list) and bool(found.keys() & {"edges", "links"} or keys_of(document))


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
    if isinstance(document, dict) and (count := document.pop("made_ids", 0)):
        notes.append(f"ids of {count:,} nodes made of name or class and number, since the file has none")
    if isinstance(document, dict) and not strict:
        document = plain_form(document, notes)
    form, problems = _form(document)
    is_readable = not any(place.startswith("$.graph") for place, _ in problems)
    if not is_known(vocabulary := form.graph.vocabulary):
        problems.append(("$.graph.vocabulary", f"{shown(vocabulary)} is none of {', '.join(vocabulary_names())}"))
    declared = _declared(form, declare or Declared())
    edges = _EdgeReader(form, declared, strict=strict)
    links = [*edges.links(word_for_edges(document), problems)]
    notes += edges.notes()
    graph = assemble(
        (*_drafts(form.nodes, declared), *links),
        file=file,
        declared=declared if is_readable else None,
        vocabulary=current_name(vocabulary) if not problems else DEFAULT,
        problems=problems,
    )
    scene = ImportedScene(
        name, graph, form.graph.vocabulary, role=form.graph.role, declared=declared, source=file, notes=tuple(notes)
    )
    for key in sorted(EMBEDDINGS):
        given = [(str(it.get("id")), it[key]) for it in form.nodes if _is_embedding(key, it.get(key), declared)]
        scene = with_vectors_of_nodes(scene, key, given)
    return upright(scene, form.graph.up)


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
    found = (key for key in listed(WORDS["open_vocabulary"]) if key in keys)
    graph = form.graph
    return Declared((*graph.relation_types, *more.relation_types), (*graph.properties, *more.properties, *found))


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
    names = {
        ours: [it for it in names if it not in declared.properties or it == ours]
        for ours, names in NODE_ATTRIBUTES.items()
    }
    chosen = {ours: name for ours, given in names.items() if (name := first_of(kept, given)) is not None}
    others = {key: value for key, value in kept.items() if key not in chosen.values() and value is not None}
    problems: list[Problem] = [] if "id" in chosen else [("id", "id is missing; add it")]
    own = dict(made(((it, partial(OWN[it], kept[chosen[it]], it)) for it in OWN if it in chosen), problems))
    space = ((it, partial(SPACE[it], kept[chosen[it]], chosen[it])) for it in SPACE if it in chosen)
    more = ((key, partial(_property, key, value)) for key, value in others.items())
    properties = {key: it for _, found in made((*space, *more), problems) for key, it in found.items()}
    refuse(problems)
    name = own.get("name", own["id"])
    class_ = own.get("class") or label(class_of_name(name), "class")
    lists = (own.get("states", ()), own.get("affordances", ()))
    return Node(own["id"], own.get("kind", "Object"), name, class_, *lists, Properties(properties))


def _with_position(attributes: Mapping[str, Any], declared: Declared) -> Mapping[str, Any]:
    """Return attributes with the numbers `x`, `y` and `z` as a position, unless they have one or the scene has these.

    A gap in one of them leaves all out.
    """
    if isinstance(attributes.get("location"), dict | list) and "location" not in declared.properties:
        attributes = {"position" if key == "location" else key: it for key, it in attributes.items()}
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


def _id(given: object, place: str) -> str:
    if given is None:
        raise InvalidValue(f"{place} is missing; add it")
    if isinstance(given, str):
        return label(given, place)
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) < 2**63:
        return str(given)
    raise InvalidValue(f"{place} should be text or a 64-bit whole number, not {shown(given)}")


def _kind(word: object, _: str) -> str:
    known = (word if word in OUR_KINDS else KINDS.get(word.casefold())) if isinstance(word, str) else None
    if known is None:
        words = (*OUR_KINDS, *KINDS)
        hint = did_you_mean(word, words) if isinstance(word, str) else ""
        raise InvalidValue(f"kind should be one of {', '.join(words)}, not {shown(word)}{hint}")
    return known


OWN: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "id": _id,
    "kind": _kind,
    **dict.fromkeys(("name", "class"), label),
    **dict.fromkeys(("states", "affordances"), labels),
}


class _EdgeReader:
    """Reads edges; unless `strict`, reads types off kinds, and leaves out and counts what a relation can't hold."""

    def __init__(self, form: NodeLink, declared: Declared, *, strict: bool) -> None:
        ids = (it.get("id") for it in form.nodes if isinstance(it, dict) and not strict and is_place(it))
        self._form, self._strict = form, strict
        self._own = {*RELATION_TYPES, *declared.relation_types}
        self._places = {str(it) for it in ids if isinstance(it, str | int)}
        self._typed, self._left, self._turned = 0, Counter[str](), Counter[str]()
        self._inverse = set[tuple[str, str, str]]()

    def links(self, word: str, problems: list[Problem]) -> Iterator[RelationDraft]:
        """Yield the relations of all edges, once what both ends tell; add the problems of those that can't be read."""
        read = ((json_path((word, index)), partial(self._relation, it)) for index, it in enumerate(self._form.edges))
        seen = set[tuple[str, str, str]]()
        for place, found in made(read, problems):
            is_told = self._form.directed is False or not self._inverse.isdisjoint(found)
            yield from (RelationDraft(place, *it) for it in found if not is_told or it not in seen)
            seen.update(found)

    def notes(self) -> Iterator[str]:
        """Yield what was read off kinds or left out."""
        if self._typed:
            yield f"{self._typed:,} edges without a relation type read by kinds: what is joined to a room is in it"
        if self._turned:
            told = ", ".join(f"{word} ({count:,})" for word, count in sorted(self._turned.items()))
            yield f"edges read from their target to their source: {told}"
        if self._left:
            told = ", ".join(f"{key} ({count:,})" for key, count in sorted(self._left.items()))
            yield f"of edges left out, since a relation holds no attributes: {told}; --strict refuses such a file"

    def _relation(self, edge: Any) -> Sequence[tuple[str, str, str]]:
        """Return source, type and target of an edge, both ways without a direction. Raises InvalidValue with causes."""
        if isinstance(edge, list) and len(edge) in {2, 3}:
            edge = dict(zip(TRIPLE if len(edge) == 3 else TRIPLE[::2], edge, strict=True))
        if not isinstance(edge, dict):
            raise InvalidValue(f"should be a map, not {shown(edge)}")
        ends = {end: first_of(edge, names) or end for end, names in ENDS.items()}
        chosen = first_of(edge, EDGE_ATTRIBUTES) or ("key" if isinstance(edge.get("key"), str) else None)
        given = {end: edge.get(key) for end, key in ends.items()}
        word, given = (edge[chosen], given) if chosen else self._by_kinds(**given)
        problems: list[Problem] = []
        if not isinstance(word, str):
            problems.append(("", f"has no relation type; add it as {EDGE_ATTRIBUTES[0]!r}"))
        others = sorted(edge.keys() - {chosen, *ends.values(), "key", DIRECTED})
        if others and (self._strict or problems or None in given.values()):
            cause = f"a relation holds no attribute such as {', '.join(map(shown, others))}"
            problems.append(("", f"{cause}; leave out --strict" if self._strict else cause))
        found = dict(made(((end, partial(_id, it, end)) for end, it in given.items()), problems))
        refuse(problems)
        self._left.update(others)
        return self._both_ways(str(word), found["source"], found["target"], edge.get(DIRECTED, self._form.directed))

    def _both_ways(self, word: str, source: str, target: str, directed: object) -> Sequence[tuple[str, str, str]]:
        """Return the relation of a word of the file, in both directions where the edge has none."""
        plain = _BETWEEN_WORDS.sub("_", word.strip().casefold())
        own = next((it for it in (word, plain.upper()) if it in self._own), None)
        type_ = own or RELATIONS.get(plain, plain.upper())
        if own is None and plain in REVERSED:
            type_, source, target = REVERSED[plain], target, source
            self._turned[word] += 1
            self._inverse.add((source, type_, target))
        if directed is True or source == target:
            return ((source, type_, target),)
        if type_ == "INSIDE" and len(self._places & {source, target}) == 1:
            low, high = sorted((source, target), key=self._places.__contains__)
            return ((low, type_, high),)
        if type_ in RELATION_TYPES and type_ not in SYMMETRIC:
            cause = (
                f'an undirected graph can\'t say which end of {type_} is which; make it a DiGraph ("directed": true)'
            )
            raise InvalidValue(cause)
        return (source, type_, target), (target, type_, source)

    def _by_kinds(self, source: Any, target: Any) -> tuple[str | None, dict[str, Any]]:
        """Return the relation type of an edge to a place, and its ends from the lower to the higher."""
        ends = (source, target)
        places = [str(it) in self._places for it in ends]
        if not all(isinstance(it, str | int) for it in ends) or not any(places):
            return None, {"source": source, "target": target}
        self._typed += 1
        low, high = ends if places[1] else ends[::-1]
        return "CONNECTS" if all(places) else "INSIDE", {"source": low, "target": high}


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
        raise InvalidValue(f"node {shown(node.id)}: center is no position; rename the property first")
    return document | {"states": [*node.states], "affordances": [*node.affordances]}

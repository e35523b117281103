"""Other people's graphs and maps, such as ConceptGraphs', GraphML and GEXF, brought into NetworkX's node-link form.

Makers of graphs name attributes as they like, so each of ours has several common names (`data/words.toml`); the first
that a node or an edge has counts, and an export writes the first of all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Literal
from warnings import catch_warnings

from pydantic import AliasChoices, Field

from scenecypher.db.graph.axes import Up
from scenecypher.db.graph.field_types import Form, PropertyName, RelationType
from scenecypher.db.schema import KINDS as OUR_KINDS
from scenecypher.db.vocabulary import DEFAULT
from scenecypher.errors import DocumentError, InputError, did_you_mean
from scenecypher.importers.json_file import FILE_BYTES, ending_of, read_bytes
from scenecypher.importers.word_tables import by_word, listed, tables

WORDS: Final[Mapping[str, Any]] = tables("words")["graphs"]
NODE_ATTRIBUTES: Final = {ours: listed(names) for ours, names in WORDS["node_attributes"].items()}
ENDS: Final = {end: listed(names) for end, names in WORDS["ends"].items()}
EDGE_ATTRIBUTES: Final = listed(WORDS["edge_attributes"])
KINDS: Final = by_word(WORDS["kinds"])
RELATIONS, REVERSED = by_word(WORDS["relations"]), by_word(WORDS["reversed"])
PARENTS: Final = by_word(WORDS["parents"])
SUFFIXES: Final = (".graphml", ".gexf", ".gml")
LISTS: Final = ("states", "affordances")
"""Attributes that GraphML and GEXF give as text, with commas."""
DIRECTED: Final = "directed"
"""The attribute of an edge that has a direction in a graph without."""
LAYOUT: Final = frozenset({"viz", "start", "end"})
"""Attributes of a drawing, which is no fact of a scene."""
NODES, EDGES, IDS, NAMES, MAPS = (listed(WORDS[key]) for key in ("nodes", "edges", "ids", "names", "maps"))
BY_KIND, PLACES, ABOUT = (frozenset(listed(WORDS[key])) for key in ("by_kind", "places", "about"))
NESTED: Final = frozenset(it for key in ("center", "size", "box") for it in NODE_ATTRIBUTES[key]).union(
    listed(WORDS["embeddings"])
)
"""Attributes that may be lists of lists."""
OF_OBJECTS: Final = frozenset({"object_tag", "bbox_extent", *NODE_ATTRIBUTES["center"]})
FIELDS: Final = listed(WORDS["fields"])
_CALL: Final = re.compile(r"(\w+)\s*\(([^,()]+),([^,()]+)\)")
_WORD_END: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.-]+")
_ARROW: Final = re.compile(r"\s*(?:-+(?:\[:?(\w+)\])?-*>|→|\s)\s*")


class GraphAttributes(Form):
    """The attributes of a scene as a whole; it declares `relation_types` and `properties`."""

    name: str = Field("", description="not kept: a scene is called after its file")
    vocabulary: str = DEFAULT
    role: Literal["world", "belief"] = "world"
    up: Up | None = Field(None, description="the axis that points up: z, or y as in Unity")
    relation_types: list[RelationType] = Field(default_factory=list)
    properties: list[PropertyName] = Field(default_factory=list)


class NodeLink(Form):
    """A file, as `networkx.node_link_data` makes it; older versions say `links` for edges."""

    directed: bool = False
    multigraph: bool = False
    graph: GraphAttributes = GraphAttributes()
    nodes: list[Any]
    edges: list[Any] = Field(validation_alias=AliasChoices("edges", "links"))


def node_link(path: Path) -> dict[str, Any]:
    """Return a GraphML, GEXF or GML file as a node-link document. Raises DocumentError, InputError without NetworkX."""
    try:
        from networkx import node_link_data, read_gexf, read_gml, read_graphml
    except ImportError as error:
        msg = f"{path}: GraphML, GEXF and GML are read with NetworkX; install it: pip install networkx"
        raise InputError(msg) from error
    data = read_bytes(path, max_bytes=FILE_BYTES)
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise DocumentError(str(path), "$", "it declares entities of XML, which no graph needs; save it without them")
    try:
        with catch_warnings(action="ignore"):
            graph = {".gexf": read_gexf, ".gml": read_gml}.get(ending_of(path), read_graphml)(BytesIO(data))
    except Exception as error:  # NetworkX raises errors of many sorts
        raise DocumentError(str(path), "$", f"can't be read by NetworkX ({error}); save it again") from error
    document: dict[str, Any] = node_link_data(graph, edges="edges")
    for key in ("nodes", "edges"):
        document[key] = [{k: _split(k, v) for k, v in it.items() if k not in LAYOUT} for it in document[key]]
    return {key: document[key] for key in ("directed", "multigraph", "nodes", "edges")}


def _cytoscape_data(item: Any) -> Any:
    """Return the attributes of a node or edge of Cytoscape, of a node without the `value` that repeats its id."""
    data = item.get("data", item) if isinstance(item, dict) else item
    is_twice = isinstance(data, dict) and "value" in data and str(data["value"]) == data.get("id")
    return {key: it for key, it in data.items() if key != "value"} if is_twice else data


def _split(key: str, value: Any) -> Any:
    is_text = key in LISTS and isinstance(value, str)
    return [part for it in value.split(",") if (part := it.strip())] if is_text else value


def node_link_form(document: Any) -> Any:  # noqa: PLR0911 - a form each
    """Return a graph or map in node-link form; a document of any other form is returned unchanged.

    ConceptGraphs writes a list of objects, a map of them by name, or a list of pairs of objects with their relation;
    others write nodes as a map by id or as text, or `objects` and `relations`.
    """
    match document:
        case [{"object1": {}, "object2": {}}, *_]:
            return _of_pairs(document)
        case [[str(), str(), str()], *_] | [{"subject": _, "object": _}, *_]:
            return _of_edges(document)
        case [{}, *_]:
            return _with_ids({"directed": True, "nodes": document, "edges": []})
        case {"triples": [*triples]} | {"triplets": [*triples]} if keys_of(document) is None:
            return _of_edges(triples)
        case {"elements": {"nodes": [*nodes], "edges": [*edges]}}:
            parts = ([_cytoscape_data(it) for it in given] for given in (nodes, edges))
            directed = document.get("directed", True)
            return {"directed": directed, **dict(zip(("nodes", "edges"), parts, strict=True))}
        case {"nodes": [*nodes], "adjacency": [*ends]} if len(nodes) == len(ends) and _are_maps(nodes, *ends):
            pairs = [(node.get("id"), it) for node, others in zip(nodes, ends, strict=True) for it in others]
            facts = [{key: value for key, value in it.items() if key != "id"} for _, it in pairs]
            edges = [
                {**more, "source": id_, "target": it.get("id")} for (id_, it), more in zip(pairs, facts, strict=True)
            ]
            return {"directed": document.get("directed", True), "nodes": nodes, "edges": edges}
        case {} if document and all(isinstance(it, dict) and it.keys() & OF_OBJECTS for it in document.values()):
            return {"directed": True, "nodes": _listed(document), "edges": []}
    return _of_lists(document) if isinstance(document, dict) else document


def keys_of(document: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the keys of a map's nodes and edges, the second empty if there are none; None if it has no nodes."""
    lower = {key.lower(): key for key in document if isinstance(document[key], list | dict)}
    listed = (lower[it] for it in NODES if it in lower)
    nodes = next((key for key in listed if isinstance(document[key], list) or _is_by_id(document[key])), None)
    edges = next((lower[it] for it in EDGES if it in lower), "")
    if nodes is None or (not edges if nodes == "nodes" else {"rooms", "room", "assets"} & document.keys()):
        return None
    return nodes, edges


def _of_lists(document: dict[str, Any]) -> Any:
    """Return a document that has its nodes and edges under any of their keys, as lists or as maps."""
    keys = keys_of(document)
    if keys is None:
        return document
    nodes, edges = keys
    word = edges if edges == "links" else "edges"
    is_plain = nodes == "nodes" and word == edges
    lists = [document[it] for it in keys if it]
    if is_plain and not any(isinstance(it, dict) or any(isinstance(part, str) for part in it) for it in lists):
        return _with_ids(document)
    rest = {key: value for key, value in document.items() if key not in keys}
    given = {"nodes": _listed(document[nodes]), word: _listed(document[edges], key="") if edges else []}
    return _with_ids({**({} if is_plain else {"directed": True}), **rest, **given})


def _is_by_id(given: Any) -> bool:
    is_map = isinstance(given, dict) and all(isinstance(it, dict) for it in given.values())
    return is_map and bool(given) and BY_KIND.isdisjoint(given)


def _listed(given: Any, *, key: str = "id") -> list[Any]:
    """Return a map as a list, with its keys under `key`; nodes that are text by this id, and edges as triples."""
    if isinstance(given, dict):
        return [{key: name, **it} if key and isinstance(it, dict) else it for name, it in given.items()]
    return [_parts(it, key) if isinstance(it, str) else it for it in given]


def _parts(text: str, key: str) -> Any:
    if key:
        return {key: text}
    if call := _CALL.fullmatch(text.strip()):
        return [call[2].strip(), call[1], call[3].strip()]
    parts = [it for it in _ARROW.split(text.strip()) if it]
    return parts if len(parts) in {2, 3} else text


def _of_edges(edges: Sequence[Any]) -> dict[str, Any]:
    """Return a document of relations alone, whose ends are its nodes."""
    parts = [[*it.values()] if isinstance(it, dict) and len(it) == 3 else it for it in edges]
    ends = [it[at] for it in parts if isinstance(it, list) and len(it) == 3 for at in (0, 2)]
    ends += [it[key] for it in edges if isinstance(it, dict) for key in ("subject", "object") if key in it]
    nodes = [{"id": it} for it in dict.fromkeys(it for it in ends if isinstance(it, str | int))]
    return {"directed": True, "nodes": nodes, "edges": [*edges]}


def without_nested(node: Mapping[str, Any], left: Counter[str], keep: Collection[str] = frozenset()) -> dict[str, Any]:
    """Return a node without lists of lists or maps, such as polygons, but for those to `keep`; `left` counts them."""
    nested = [key for key, it in node.items() if key not in keep and isinstance(it, list) and _is_nested(it)]
    left.update(nested)
    return {key: it for key, it in node.items() if key not in nested}


def nested_left(left: Counter[str]) -> Iterator[str]:
    """Yield the note of lists that were left out, if any."""
    if left:
        told = ", ".join(f"{key} ({count:,})" for key, count in sorted(left.items()))
        yield f"left out, since a property holds no lists of lists or maps: {told}"


def _is_nested(given: Sequence[Any]) -> bool:
    return any(isinstance(it, list) or (isinstance(it, dict) and "point" not in it) for it in given)


def snake_case(key: str) -> str:
    """Return a key such as `modelId` or `last seen` as a name of a property, in lower_snake_case."""
    return _WORD_END.sub("_", key.strip()).lower() if key.isascii() else key


def texts(value: Any) -> list[str]:
    """Return the texts of a value: itself, those of a list, or of a map the keys of what is true and the texts."""
    if isinstance(value, dict):
        named = ((str(key).removeprefix("is_"), it) for key, it in value.items())
        return [it if isinstance(it, str) else key for key, it in named if it is True or isinstance(it, str)]
    return [it for it in (value if isinstance(value, list) else [value]) if isinstance(it, str)]


def _plain_nodes(nodes: Sequence[Any], notes: list[str]) -> tuple[list[Any], list[Any]]:
    """Return nodes with states as lists, classes as such and no maps of attributes, and the edges to what they name.

    A note tells what was taken for a class.
    """
    known = {it.get("id"): it for it in nodes if isinstance(it, dict) and isinstance(it.get("id"), str | int)}
    classes, left = Counter[str](), Counter[str]()
    edges: list[Any] = []
    plain = [
        _plain_node(without_nested(it, left, NESTED), known, edges, classes) if isinstance(it, dict) else it
        for it in nodes
    ]
    notes.extend(nested_left(left))
    if classes:
        told = ", ".join(f"{word} ({count:,})" for word, count in classes.most_common(5))
        notes.append(f"types that are no kinds taken for classes: {told}")
    return plain, edges


def _plain_node(
    node: dict[str, Any], known: Mapping[Any, dict[str, Any]], edges: list[Any], classes: Counter[str]
) -> dict[str, Any]:
    node = {plain if (plain := snake_case(key)) not in node else key: it for key, it in node.items()}
    maps = [node[key] for key in MAPS if isinstance(node.get(key), dict)]
    given = {key: it for key, it in node.items() if key not in MAPS or not isinstance(it, dict)}
    given = {key: it for inner in maps for key, it in inner.items()} | given
    states = given.pop("state") if isinstance(given.get("state"), str | list | dict) and "states" not in given else None
    if states is not None or isinstance(given.get("states"), str | dict):
        given["states"] = texts(given.get("states") if states is None else states)
    for key in [it for it in PARENTS if it in given]:
        parent = known.get(given[key]) if isinstance(given[key], str | int) else None
        if parent is not None and parent is not node and "id" in given:
            type_ = PARENTS[key] or ("INSIDE" if is_place(parent) else "ON")
            edges.append({"source": given["id"], "relation": type_, "target": given.pop(key), DIRECTED: True})
    word = given.get("type")
    if isinstance(word, str) and given.keys().isdisjoint({"kind", "class"}) and not _is_near_kind(word):
        classes[word] += 1
        given |= {"class": given.pop("type"), **({"kind": "Place"} if is_place({"type": word}) else {})}
    return given


def _are_maps(*lists: Any) -> bool:
    return all(isinstance(given, list) and all(isinstance(it, dict) for it in given) for given in lists)


def _with_ids(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document whose nodes all lack ids with those under another key, or made of name or class and a number.

    An edge may then give the place of a node in the list, from 0.
    """
    nodes = document["nodes"]
    if not nodes or not all(isinstance(it, dict) for it in nodes):
        return document
    if any("Name" in it or "Id" in it for it in nodes):  # Unity's keys
        nodes = [{key[:1].lower() + key[1:]: value for key, value in it.items()} for it in nodes]
        document = {**document, "nodes": nodes}
    if any("id" in it for it in nodes):
        return document
    if key := next((key for key in IDS if all(isinstance(it.get(key), str | int) for it in nodes)), ""):
        return {**document, "nodes": [{"id": it[key], **{k: v for k, v in it.items() if k != key}} for it in nodes]}
    names = [next((str(it[key]) for key in NAMES if isinstance(it.get(key), str | int)), "object") for it in nodes]
    counts, seen = Counter(names), Counter[str]()
    ids: list[str] = []
    for name in names:
        seen[name] += 1
        ids.append(name if counts[name] == 1 else f"{name}_{seen[name]}")
    word = "edges" if "edges" in document else "links"
    made = [{"id": id_, **it} for id_, it in zip(ids, nodes, strict=True)]
    return {**document, "nodes": made, word: [_by_place(edge, ids) for edge in document[word]], "made_ids": len(ids)}


def _by_place(edge: Any, ids: Sequence[str]) -> Any:
    """Return an edge with ids where it gives places in the list."""

    def named(end: Any) -> Any:
        return ids[end] if type(end) is int and 0 <= end < len(ids) else end

    if isinstance(edge, dict):
        return {key: named(value) if key not in {"weight", "id", "key"} else value for key, value in edge.items()}
    return [*map(named, edge)] if isinstance(edge, list) else edge


def _of_pairs(pairs: Sequence[Any]) -> dict[str, Any]:
    """Return the objects of all pairs, each once, and their relations; a part of another form stays as it is."""
    nodes: dict[Any, Any] = {}
    edges: dict[tuple[Any, ...], Any] = {}
    for pair in pairs:
        match pair:
            case {"object1": {"id": str() | int() as first}, "object2": {"id": str() | int() as second}}:
                nodes.setdefault(first, pair["object1"])
                nodes.setdefault(second, pair["object2"])
                ends = {"object1": first, "object2": second}
                if (found := WORDS["pairs"].get(str(pair.get("object_relation")))) is not None:
                    edge = (ends[found[0]], found[1], ends[found[2]])
                    edges[edge] = dict(zip(("source", "relation", "target"), edge, strict=True))
            case _:
                nodes[len(nodes), "unreadable"] = pair
    return {"directed": True, "nodes": [*nodes.values()], "edges": [*edges.values()]}


def plain_form(document: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return a document without facts about the file, and with plain nodes; note each sort of change once."""
    about = sorted(key for key, value in document.items() if _is_about_the_file(key, value))
    kept = {"directed": True, **{key: value for key, value in document.items() if key not in about}}
    graph = document.get("graph")
    if isinstance(graph, list) and all(isinstance(it, list) and [*map(type, it[:1])] == [str] for it in graph):
        kept["graph"] = {it[0]: it[-1] for it in graph}  # pairs, as old versions of NetworkX wrote them
    if about:
        notes.append(f"{', '.join(about)} of the file left out")
    word = word_for_edges(document)
    nodes, edges = document.get("nodes"), document.get(word)
    if isinstance(nodes, list) and isinstance(edges, list):
        kept["nodes"], more = _plain_nodes(nodes, notes)
        kept[word] = [*edges, *more]
    return kept


def is_place(node: Mapping[str, Any]) -> bool:
    """Check if a node is a place, by its kind or type."""
    word = node.get("kind", node.get("type"))
    return isinstance(word, str) and word.casefold().replace(" ", "_") in PLACES


def _is_near_kind(word: str) -> bool:
    """Check if a word is a kind, or a misspelt one."""
    return word in OUR_KINDS or word.casefold() in KINDS or bool(did_you_mean(word, (*OUR_KINDS, *KINDS)))


def _is_about_the_file(key: str, value: object) -> bool:
    """Check if a field is no part of the graph: one of ABOUT, or a plain value whose name is near to no field's."""
    is_plain = not isinstance(value, list | dict) and key not in FIELDS and not did_you_mean(key, FIELDS)
    return is_plain or (key in ABOUT and not isinstance(value, list))


def first_of(attributes: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of `names` that has a value."""
    return next((name for name in names if attributes.get(name) is not None), None)


def word_for_edges(document: object) -> str:
    """Return the key of a node-link document's edges."""
    return "edges" if isinstance(document, dict) and "edges" in document else "links"

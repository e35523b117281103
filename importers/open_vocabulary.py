"""Open-vocabulary maps such as ConceptGraphs', brought into NetworkX's node-link form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

RELATIONS: Final[Mapping[str, tuple[str, str, str]]] = {
    "a on b": ("object1", "on", "object2"),
    "b on a": ("object2", "on", "object1"),
    "a in b": ("object1", "in", "object2"),
    "b in a": ("object2", "in", "object1"),
}
"""ConceptGraphs' `object_relation`; with any other, two objects are not related."""


def node_link_form(document: Any) -> Any:
    """Return a map in node-link form; a document of any other form is returned unchanged.

    ConceptGraphs writes a list of objects, a map of them by name, or a list of pairs of objects with their relation;
    others write `objects` and `relations`.
    """
    match document:
        case [{"object1": {}, "object2": {}}, *_]:
            return _of_pairs(document)
        case [{}, *_]:
            return {"directed": True, "nodes": document, "edges": []}
        case {"objects": list() as objects} if "nodes" not in document:
            rest = {key: value for key, value in document.items() if key not in {"objects", "relations"}}
            return {"directed": True, **rest, "nodes": objects, "edges": document.get("relations", [])}
        case {} if document and all(_is_object(value) for value in document.values()):
            nodes = [{"id": key, **value} for key, value in document.items()]
            return {"directed": True, "nodes": nodes, "edges": []}
        case _:
            return document


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint({"object_tag", "bbox_center", "bbox_extent"})


def _of_pairs(pairs: Sequence[Any]) -> dict[str, Any]:
    """Return the objects of all pairs, each once, and their relations; a part of another form stays as it is."""
    nodes: dict[Any, Any] = {}
    edges: dict[tuple[Any, ...], Any] = {}
    for pair in pairs:
        match pair:
            case {"object1": {"id": str() | int() as first}, "object2": {"id": str() | int() as second}}:
                nodes.setdefault(first, pair["object1"])
                nodes.setdefault(second, pair["object2"])
                found = RELATIONS.get(str(pair.get("object_relation")))
                ends = {"object1": first, "object2": second}
                if found is not None:
                    source, relation, target = ends[found[0]], found[1], ends[found[2]]
                    edges[source, relation, target] = {"source": source, "relation": relation, "target": target}
            case _:
                nodes[len(nodes), "unreadable"] = pair
    return {"directed": True, "nodes": [*nodes.values()], "edges": [*edges.values()]}

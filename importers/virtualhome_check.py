"""Validation of a VirtualHome graph: every problem with its JSON path and its cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scenecypher.db.graph.problems import Problem, document_error, problems_of
from scenecypher.db.graph.value import shown
from scenecypher.importers.virtualhome_format import Graph


def checked_graph(raw: Any, root: str, path: Path) -> Graph:
    """Return the graph at `root` (such as ``$.init_graph``) of a file. Raises DocumentError with all problems."""
    try:
        graph = Graph.model_validate(raw)
    except ValidationError as error:
        raise document_error(
            str(path), [*problems_of(error, raw, root=root), *_reference_problems(raw, root)]
        ) from error
    if not _is_consistent(graph):
        raise document_error(str(path), list(_reference_problems(raw, root)))
    return graph


def _is_consistent(graph: Graph) -> bool:
    ids = {node.id for node in graph.nodes}
    ends = {edge["from_id"] for edge in graph.edges} | {edge["to_id"] for edge in graph.edges}
    relations = {(edge["from_id"], edge["relation_type"], edge["to_id"]) for edge in graph.edges}
    return len(ids) == len(graph.nodes) and len(relations) == len(graph.edges) and ends <= ids


def _reference_problems(raw: Any, root: str) -> Iterator[Problem]:
    """Yield the reference problems that can be found even if the graph has other problems."""
    if not isinstance(raw, dict):
        return
    nodes, edges = (raw[key] if isinstance(raw.get(key), list) else [] for key in ("nodes", "edges"))
    ids: list[Any] = [node.get("id") if isinstance(node, dict) else None for node in nodes]
    yield from _repeated_ids(ids, root)
    well_formed = [(index, edge) for index, edge in enumerate(edges) if _is_edge(edge)]
    yield from _repeated_edges(well_formed, root)
    if isinstance(raw.get("nodes"), list) and all(type(number) is int for number in ids):
        yield from _dangling_edges(well_formed, set(ids), root)


def _repeated_ids(ids: Sequence[Any], root: str) -> Iterator[Problem]:
    first: dict[int, int] = {}
    for index, number in enumerate(ids):
        if type(number) is int and first.setdefault(number, index) != index:
            cause = f"{shown(number)} is the id of nodes[{first[number]}] already; give each node an id of its own"
            yield f"{root}.nodes[{index}].id", cause


def _repeated_edges(edges: Sequence[tuple[int, Any]], root: str) -> Iterator[Problem]:
    first: dict[tuple[int, str, int], int] = {}
    for index, edge in edges:
        key = (edge["from_id"], edge["relation_type"], edge["to_id"])
        if first.setdefault(key, index) != index:
            yield f"{root}.edges[{index}]", f"the same relation as edges[{first[key]}]; remove one"


def _dangling_edges(edges: Sequence[tuple[int, Any]], ids: set[int], root: str) -> Iterator[Problem]:
    for index, edge in edges:
        for end in ("from_id", "to_id"):
            if edge[end] not in ids:
                cause = f"no node has the id {shown(edge[end])}; add the node or remove the relation"
                yield f"{root}.edges[{index}].{end}", cause


def _is_edge(edge: Any) -> bool:
    return (
        isinstance(edge, dict)
        and type(edge.get("from_id")) is int
        and type(edge.get("to_id")) is int
        and type(edge.get("relation_type")) is str
    )

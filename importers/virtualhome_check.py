"""Validation of a VirtualHome graph: every problem with its JSON path and its cause."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from scenecypher.db.graph.problems import (
    NodeFacts,
    Problem,
    RelationDraft,
    Wording,
    document_error,
    find_faults,
    problems_of,
)
from scenecypher.importers.virtualhome_format import Graph

ENDS: Final = ("from_id", "relation_type", "to_id")


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
    ids = ((index, node.get("id") if isinstance(node, dict) else None) for index, node in enumerate(nodes))
    known: list[tuple[int, Any]] = [(index, number) for index, number in ids if type(number) is int]
    links = [RelationDraft(index, *map(edge.get, ENDS)) for index, edge in enumerate(edges) if _is_edge(edge)]
    are_all = isinstance(raw.get("nodes"), list) and len(known) == len(nodes)
    yield from find_faults(
        [NodeFacts(index, number, ()) for index, number in known],
        links,
        None,
        broken=() if are_all else {end for link in links for end in (link.source, link.target)},
        words=Wording(
            lambda index, *_: f"{root}.nodes[{index}].id",
            lambda index, *part: f"{root}.edges[{index}]" + "".join(f".{ENDS[it]}" for it in part),
            missing="no node has the id",
        ),
    )


def _is_edge(edge: Any) -> bool:
    return isinstance(edge, dict) and [type(edge.get(key)) for key in ENDS] == [int, str, int]

"""GraphML and GEXF, read by NetworkX, in node-link form."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.bounded import read_bytes
from scenecypher.importers.json_file import FILE_BYTES, ending_of

SUFFIXES: Final = (".graphml", ".gexf")
LISTS: Final = ("states", "affordances")
"""Attributes that such files give as text, with commas."""
LAYOUT: Final = frozenset({"viz", "start", "end"})
"""Attributes of a drawing, which is no fact of a scene."""


def node_link(path: Path) -> dict[str, Any]:
    """Return a file's graph as a node-link document. Raises DocumentError, InputError without NetworkX."""
    try:
        from networkx import node_link_data, parse_graphml, read_gexf
    except ImportError as error:
        msg = f"{path}: GraphML and GEXF are read with NetworkX; install it: pip install networkx"
        raise InputError(msg) from error
    from io import BytesIO

    data = read_bytes(path, max_bytes=FILE_BYTES)
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise DocumentError(str(path), "$", "it declares entities of XML, which no graph needs; save it without them")
    try:
        graph = read_gexf(BytesIO(data)) if ending_of(path) == ".gexf" else parse_graphml(data)
    except Exception as error:  # NetworkX raises errors of many sorts
        raise DocumentError(str(path), "$", f"can't be read by NetworkX ({error}); save it again") from error
    document: dict[str, Any] = node_link_data(graph, edges="edges")
    nodes = [{key: _listed(key, value) for key, value in it.items() if key not in LAYOUT} for it in document["nodes"]]
    edges = [{key: value for key, value in it.items() if key not in LAYOUT} for it in document["edges"]]
    return {"directed": document["directed"], "multigraph": document["multigraph"], "nodes": nodes, "edges": edges}


def _listed(key: str, value: Any) -> Any:
    is_text = key in LISTS and isinstance(value, str)
    return [part for it in value.split(",") if (part := it.strip())] if is_text else value

"""The form of NetworkX's files: node-link JSON, and GraphML and GEXF, which NetworkX reads.

NetworkX leaves attributes to the makers of graphs, so each of ours has several common names; the first that a node or
an edge has counts, and an export writes the first of all. Every other attribute of a node is a property under its own
name. A word outside the tables (`data/words.toml`) is refused, not dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import AliasChoices, Field

from scenecypher.db.graph.axes import Up
from scenecypher.db.graph.field_types import Form, PropertyName, RelationType
from scenecypher.db.vocabulary import DEFAULT
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.json_file import FILE_BYTES, ending_of, read_bytes
from scenecypher.importers.word_tables import by_word, listed, tables

WORDS: Final[Mapping[str, Any]] = tables("words")["graphs"]
NODE_ATTRIBUTES: Final = {ours: listed(names) for ours, names in WORDS["node_attributes"].items()}
ENDS: Final = {end: listed(names) for end, names in WORDS["ends"].items()}
EDGE_ATTRIBUTES: Final = listed(WORDS["edge_attributes"])
KINDS: Final = by_word(WORDS["kinds"])
RELATIONS: Final = by_word(WORDS["relations"])
PARENTS: Final = by_word(WORDS["parents"])
SUFFIXES: Final = (".graphml", ".gexf")
LISTS: Final = ("states", "affordances")
"""Attributes that GraphML and GEXF give as text, with commas."""
LAYOUT: Final = frozenset({"viz", "start", "end"})
"""Attributes of a drawing, which is no fact of a scene."""


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
    """Return a GraphML or GEXF file as a node-link document. Raises DocumentError, InputError without NetworkX."""
    try:
        from networkx import node_link_data, parse_graphml, read_gexf
    except ImportError as error:
        msg = f"{path}: GraphML and GEXF are read with NetworkX; install it: pip install networkx"
        raise InputError(msg) from error
    data = read_bytes(path, max_bytes=FILE_BYTES)
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise DocumentError(str(path), "$", "it declares entities of XML, which no graph needs; save it without them")
    try:
        graph = read_gexf(BytesIO(data)) if ending_of(path) == ".gexf" else parse_graphml(data)
    except Exception as error:  # NetworkX raises errors of many sorts
        raise DocumentError(str(path), "$", f"can't be read by NetworkX ({error}); save it again") from error
    document: dict[str, Any] = node_link_data(graph, edges="edges")
    for key in ("nodes", "edges"):
        document[key] = [{k: _listed(k, v) for k, v in it.items() if k not in LAYOUT} for it in document[key]]
    return {key: document[key] for key in ("directed", "multigraph", "nodes", "edges")}


def _listed(key: str, value: Any) -> Any:
    is_text = key in LISTS and isinstance(value, str)
    return [part for it in value.split(",") if (part := it.strip())] if is_text else value

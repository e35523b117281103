"""NetworkX's node-link JSON: the form of its files, and the one table between its words and ours.

NetworkX leaves attributes to the makers of graphs, so each of ours has several common names; the first that a node or
an edge has counts, and an export writes the first of all. Every other attribute of a node is a property under its own
name. A word outside the tables is refused, not dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import AliasChoices, Field

from scenecypher.db.graph.axes import Up
from scenecypher.db.graph.field_types import Form, PropertyName, RelationType
from scenecypher.db.vocabulary import DEFAULT

NODE_ATTRIBUTES: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id",),
    "kind": ("kind", "type"),
    "name": ("name", "label", "object_tag"),
    "class": ("class", "class_name"),
    "states": ("states",),
    "affordances": ("affordances",),
    "center": ("center", "position", "pos", "bbox_center", "centroid", "pose"),
    "size": ("bbox_extent", "extent", "dimensions"),
    "box": ("bbox", "bounding_box"),
    "caption": ("caption", "object_caption"),
}
"""Names of node attributes by ours.

Whole numbers are valid ids too: 7 becomes "7". A node's default kind is Object, its default name is its id, and its
default class is its name without the number at its end. A position is [x, y] or [x, y, z], a size likewise; numbers
`x`, `y` and `z` of the node itself are a position, too. A box has a `center` with an `extent`, `size` or `dimensions`,
or the corners `min` and `max`; or it is a list of two corners.
"""

OPEN_VOCABULARY: Final = ("caption", "possible_tags", "bbox_volume", "num_detections")
"""Properties of open-vocabulary maps such as ConceptGraphs'; a scene whose file has them declares them."""

EMBEDDINGS: Final = frozenset(
    {
        *("embedding", "embeddings", "clip_embedding", "image_embedding", "text_embedding", "visual_embedding"),
        *("clip_ft", "text_ft", "clip_feature", "clip_features", "feature", "features", "semantic_feature"),
    }
)
"""Attributes that are vectors of the nodes where they are lists of numbers, unless the scene declares them."""

ENDS: Final[Mapping[str, tuple[str, ...]]] = {
    "source": ("source", "from", "subject", "from_id", "source_id", "subject_id", "src", "start", "head", "u"),
    "target": ("target", "to", "object", "to_id", "target_id", "object_id", "dst", "end", "tail", "v"),
}
"""Names of the ends of an edge, which may also be a list of source, relation type and target."""

EDGE_ATTRIBUTES: Final[tuple[str, ...]] = (
    "relation",
    "type",
    "relation_type",
    "label",
    "predicate",
    "relationship",
    "rel",
)
"""Names of the relation type; in a multigraph it may be the key. Relations have no further attributes."""

ABOUT: Final = frozenset({"metadata", "meta", "info", "name", "description", "version", "frame_id", "stamp", "header"})
"""Facts about a file, which are left out and told, unless they are lists."""

FIELDS: Final = ("directed", "multigraph", "graph", "nodes", "edges", "links")
"""Fields of a file; another one with a plain value is a fact about it too, unless its name is near to one of these."""

DEFAULT_KIND: Final = "Object"

KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("place", "room", "region"), "Place"),
    **dict.fromkeys(("asset", "furniture", "appliance"), "Asset"),
    **dict.fromkeys(("object", "item"), "Object"),
    **dict.fromkeys(("agent", "robot"), "Agent"),
    "door": "Door",
}
"""Words for kinds, case-insensitive; an export writes ours."""

RELATIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("in", "inside", "inside_of"), "INSIDE"),
    **dict.fromkeys(("on", "ontop", "ontop_of", "on_top_of"), "ON"),
    **dict.fromkeys(("connected", "connected_to"), "CONNECTS"),
    "attached": "ATTACHED_TO",
    "near": "CLOSE",
    "holding": "HOLDS",
}
"""Words for relations, case-insensitive, with blanks and hyphens as underscores.

A type in capitals is kept, and every other word is put into capitals; an export writes ours.
"""

SYMMETRIC: Final = ("CLOSE", "CONNECTS")
"""The types that an undirected graph can hold besides declared ones; each is stored both ways."""


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

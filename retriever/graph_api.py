"""The papers' fixed graph API: five calls on the nodes of one scene."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from scenecypher.db.gate import JsonValue
from scenecypher.db.graph.scene import IN_ORDER, Node, Relation, SceneGraph
from scenecypher.db.graph.value import Point, Value
from scenecypher.db.store.bounds import values_of
from scenecypher.db.store.reference import resolve_reference
from scenecypher.errors import QueryRefused, ReplyRejected, did_you_mean
from scenecypher.retriever.retrieval import SceneReader

T = TypeVar("T")

MAX_ROWS: Final = 50_000
"""The most nodes or links that one call gives."""


@dataclass(frozen=True, slots=True)
class GraphApi:
    """Fixed read calls on one scene. A node is given by id, else by a name or class that only it has.

    Answers are plain JSON values, sorted and complete. Each call raises UnknownReference with the nearest names,
    QueryRefused for more rows than MAX_ROWS, SceneReplaced and ServiceError.
    """

    reader: SceneReader

    def get_nodes(self) -> list[JsonValue]:
        """Return the ids of all nodes (SG-RwR, G.1)."""
        return [*bounded(sorted(self.graph().nodes))]

    def get_links(self) -> list[JsonValue]:
        """Return all links as ``[source, type, target]`` (SG-RwR, G.1)."""
        return [link_row(it) for it in bounded([*self.graph().in_order()])]

    def get_attrs(self, node_id: str) -> dict[str, JsonValue]:
        """Return a node's attributes and kind (SG-RwR, G.1; SG2's ReAct-limit)."""
        graph = self.graph()
        return attributes(graph.nodes[resolve_reference(graph, node_id)])

    def get_neighbors(self, node_id: str) -> list[JsonValue]:
        """Return the ids of the nodes linked to this one in either direction (as `get_attrs`)."""
        graph = self.graph()
        return [*_neighbors(graph, resolve_reference(graph, node_id))]

    def expand(self, node_id: str) -> dict[str, JsonValue]:
        """Return a node's attributes, its links, and its neighbors' attributes, both calls in one (SG2's ReAct)."""
        graph = self.graph()
        node = resolve_reference(graph, node_id)
        links = sorted({*graph.outgoing.get(node, ()), *graph.incoming.get(node, ())}, key=IN_ORDER)
        return {
            "node": attributes(graph.nodes[node]),
            "links": [link_row(it) for it in links],
            "neighbors": [attributes(graph.nodes[it]) for it in _neighbors(graph, node)],
        }

    def graph(self) -> SceneGraph:
        """Return the scene as it is now."""
        return self.reader.now().graph


def _neighbors(graph: SceneGraph, node: str) -> list[str]:
    return sorted({*graph.targets(node), *graph.sources(node)})


def bounded(rows: Sequence[T]) -> Sequence[T]:
    """Return the rows. Raises QueryRefused if they are more than MAX_ROWS."""
    if len(rows) > MAX_ROWS:
        raise QueryRefused(
            "size", f"there are more than {MAX_ROWS:,} rows", hint="ask about single nodes, or in Cypher"
        )
    return rows


def link_row(link: Relation) -> list[JsonValue]:
    """Return a link as ``[source, type, target]``."""
    return [link.source, link.type, link.target]


def attributes(node: Node) -> dict[str, JsonValue]:
    """Return a node's kind, then its properties by name: no empty lists, and points as lists of coordinates."""
    values = values_of(node)
    return {"kind": node.kind, **{name: _compact(values[name]) for name in sorted(values) if values[name] != ()}}


def _compact(value: Value) -> JsonValue:
    """Return a point as a list of its coordinates, of which whole ones are written without a fraction."""
    if isinstance(value, tuple):
        return [_compact(one) for one in value]
    if not isinstance(value, Point):
        return value
    return [int(at) if at.is_integer() else at for at in value.axes]


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call as described to a model: its result, its function, and True if it takes a node."""

    description: str
    run: Callable[[GraphApi, str], JsonValue]
    takes_node: bool = True

    def schema(self, name: str) -> dict[str, Any]:
        """Return the call as a tool of the chat-completions protocol."""
        node = {"node_id": {"type": "string", "description": "the id of a node"}} if self.takes_node else {}
        parameters = {"type": "object", "properties": node, "required": list(node), "additionalProperties": False}
        return {
            "type": "function",
            "function": {"name": name, "description": self.description, "parameters": parameters},
        }


CALLS: Final[Mapping[str, ApiCall]] = {
    "get_nodes": ApiCall("the ids of all nodes", lambda api, _: api.get_nodes(), takes_node=False),
    "get_links": ApiCall("all links as [source, type, target]", lambda api, _: api.get_links(), takes_node=False),
    "get_attrs": ApiCall("all attributes of a node", lambda api, node: api.get_attrs(node)),
    "get_neighbors": ApiCall("the ids of a node's neighbors", lambda api, node: api.get_neighbors(node)),
    "expand": ApiCall(
        "a node's attributes, its links, and its neighbors' attributes", lambda api, node: api.expand(node)
    ),
}

CALL_SETS: Final[Mapping[str, tuple[str, ...]]] = {
    "react-sg2": ("expand",),
    "react-limit": ("get_neighbors", "get_attrs"),
    "react-rwr": ("get_nodes", "get_links", "get_attrs", "get_neighbors"),
}
"""The calls of the papers' methods: SG2's ReAct and ReAct-limit, and SG-RwR's ReAct."""


def run_call(api: GraphApi, name: str, arguments: Mapping[str, object]) -> JsonValue:
    """Return the result of a model's call. Raises ReplyRejected for an unknown call or wrong arguments."""
    if name not in CALLS:
        raise ReplyRejected(f"there is no call {name[:60]!r}{did_you_mean(name, tuple(CALLS))}; use {', '.join(CALLS)}")
    wanted = ("node_id",) if CALLS[name].takes_node else ()
    node = arguments.get("node_id", "")
    if set(arguments) != set(wanted) or not isinstance(node, str | int) or isinstance(node, bool):
        takes = 'one argument, {"node_id": "…"}' if wanted else "no arguments"
        raise ReplyRejected(f"{name} takes {takes}; call it so")
    return CALLS[name].run(api, str(node))


def graph_text(reader: SceneReader) -> tuple[str, int]:
    """Return every node with its attributes and every link, sorted and read at one version, and that version.

    Equal scenes give equal text. Raises QueryRefused for a scene of more than `graph_api.MAX_ROWS` links, and as the
    reader does.
    """
    now = reader.now()
    nodes = bounded(sorted(now.graph.nodes))
    links = bounded([*now.graph.in_order()])
    lines = ["NODES", *(_line(attributes(now.graph.nodes[it])) for it in nodes)]
    return "\n".join([*lines, "LINKS", *(_line(link_row(it)) for it in links)]), now.info.version


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)

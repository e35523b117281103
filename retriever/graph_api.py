"""The papers' fixed graph API: five calls on the nodes of one scene, each a query of ours through the gate."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from scenecypher.db.gate import JsonValue
from scenecypher.db.store.enumerations import literal
from scenecypher.errors import ReplyRejected, UnknownReference, did_you_mean
from scenecypher.retriever.paging import all_rows
from scenecypher.retriever.reader import SceneReader

NODES: Final[LiteralString] = "MATCH (n:Entity) RETURN n.id AS id ORDER BY id"
LINKS: Final[LiteralString] = (
    "MATCH (a:Entity)-[r]->(b:Entity) RETURN a.id AS source, type(r) AS type, b.id AS target "
    "ORDER BY source, type, target"
)
ATTRS: Final[LiteralString] = "MATCH (n:Entity {id: $id}) RETURN n, labels(n) AS labels"
NEIGHBORS: Final[LiteralString] = (
    "MATCH (n:Entity {id: $id}) OPTIONAL MATCH (n)--(m:Entity) RETURN DISTINCT m.id AS id ORDER BY id"
)
EXPAND: Final[LiteralString] = (
    "MATCH (n:Entity {id: $id}) OPTIONAL MATCH (n)-[r]-(m:Entity) "
    "RETURN n, labels(n) AS own, m, labels(m) AS labels, type(r) AS type, startNode(r).id AS source, "
    "endNode(r).id AS target ORDER BY source, type, target"
)
BY_NAME_OR_CLASS: Final[LiteralString] = (
    "MATCH (n:Entity) WHERE n.name = $id OR n.class = $id "
    "RETURN n.id AS id, CASE WHEN n.name = $id THEN 0 ELSE 1 END AS rank ORDER BY rank, id"
)
"""Queries with `$id`, which `with_string` replaces by a Cypher string; the gate makes it a parameter again."""
CANDIDATES: Final = 10


@dataclass(frozen=True, slots=True)
class GraphApi:
    """Fixed read calls on one scene. A node is given by id, else by a name or class that only it has.

    Answers are plain JSON values, sorted and complete. Each call raises UnknownReference with the nearest names,
    QueryRefused for more rows than it gives, SceneReplaced and ServiceError, also for a read that takes too long.
    """

    reader: SceneReader

    def get_nodes(self) -> list[JsonValue]:
        """Return the ids of all nodes (SG-RwR, G.1)."""
        return [row[0] for row in all_rows(self.reader, NODES)]

    def get_links(self) -> list[JsonValue]:
        """Return all links as ``[source, type, target]`` (SG-RwR, G.1)."""
        return [*all_rows(self.reader, LINKS)]

    def get_attrs(self, node_id: str) -> dict[str, JsonValue]:
        """Return a node's attributes and kind (SG-RwR, G.1; SG2's ReAct-limit)."""
        ((node, labels),) = self._of(node_id, ATTRS)
        return attributes(node, labels)

    def get_neighbors(self, node_id: str) -> list[JsonValue]:
        """Return the ids of the nodes linked to this one in either direction (as `get_attrs`)."""
        return [row[0] for row in self._of(node_id, NEIGHBORS) if row[0] is not None]

    def expand(self, node_id: str) -> dict[str, JsonValue]:
        """Return a node's attributes, its links, and its neighbors' attributes, both calls in one (SG2's ReAct)."""
        rows = self._of(node_id, EXPAND)
        node, own = rows[0][:2]
        joined = [row[2:] for row in rows if row[2] is not None]
        neighbors = {neighbor["id"]: attributes(neighbor, labels) for neighbor, labels, *_ in joined}
        return {
            "node": attributes(node, own),
            "links": [[source, type_, target] for *_, type_, source, target in joined],
            "neighbors": [neighbors[id_] for id_ in sorted(neighbors)],
        }

    def id_of(self, text: str) -> str:
        """Return the id of the one node that `text` means. Raises UnknownReference with candidates or nearest names."""
        if self.reader.run_own(with_string(ATTRS, text)).rows:
            return unicodedata.normalize("NFC", text)
        rows = all_rows(self.reader, with_string(BY_NAME_OR_CLASS, text))
        found = [id_ for id_, rank in rows if rank == rows[0][1]]
        if len(found) == 1:
            return str(found[0])
        raise self._unknown(text, found)

    def _of(self, node_id: str, query: LiteralString) -> Sequence[Sequence[Any]]:
        """Return the rows, at least one, of a query about one node."""
        return all_rows(self.reader, with_string(query, node_id)) or all_rows(
            self.reader, with_string(query, self.id_of(node_id))
        )

    def _unknown(self, text: str, found: Sequence[str]) -> UnknownReference:
        shown = text[:100]
        if found:
            listed = ", ".join(found[:CANDIDATES]) + (", …" if len(found) > CANDIDATES else "")
            return UnknownReference(f"{shown!r} can mean several nodes: {listed}; use the id of one of them")
        known = self.reader.enumerator.of(self.reader.scene)
        words = (*known.ids, *known.names, *known.known()["class"])
        return UnknownReference(f"there is no node {shown!r}{did_you_mean(text, words)}; use the id of a node")


def attributes(node: Mapping[str, JsonValue], labels: Sequence[str]) -> dict[str, JsonValue]:
    """Return a node's kind, then its properties by name: no empty lists, and points as lists of coordinates."""
    kind = next((label for label in sorted(labels) if label != "Entity"), "Entity")
    return {"kind": kind, **{name: _compact(node[name]) for name in sorted(node) if node[name] != []}}


def _compact(value: JsonValue) -> JsonValue:
    """Return a point as a list of its coordinates, of which whole ones are written without a fraction."""
    if isinstance(value, list):
        return [_compact(one) for one in value]
    if not isinstance(value, dict) or "srid" not in value:
        return value
    axes = (value[axis] for axis in "xyz" if axis in value)
    return [int(at) if isinstance(at, float) and at.is_integer() else at for at in axes]


def with_string(query: LiteralString, value: str) -> str:
    """Return a query of ours with `value` in it as a Cypher string."""
    return query.replace("$id", literal(unicodedata.normalize("NFC", value)))


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

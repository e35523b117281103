"""Loading a whole scene at one version; nodes and relations as values of the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, LiteralString

from neo4j import ManagedTransaction, spatial

from scenecypher.db.graph.scene import NO_PROPERTIES, Node, Point, Properties, Relation, Scalar, SceneGraph, Value
from scenecypher.db.schema import KINDS, RESERVED_PROPERTIES
from scenecypher.db.store.bounds import Bounds, read_bounds
from scenecypher.db.store.catalog import SceneInfo, find_replaced, find_scene, info_of
from scenecypher.db.store.connection import Database
from scenecypher.db.store.consistent_read import consistent_transaction
from scenecypher.errors import SceneReplaced


def node_row(key: str, node: Node) -> dict[str, Any]:
    """Return a node as the parameter of a CREATE: ``{"kind": …, "values": {…}}``; `key` is its scene's."""
    values: dict[str, Any] = {
        "scene": key,
        "id": node.id,
        "name": node.name,
        "class": node.class_,
        "states": list(node.states),
        "affordances": list(node.affordances),
    }
    values.update((name, to_driver(value)) for name, value in node.properties.items())
    return {"kind": node.kind, "values": values}


def node_of(labels: Iterable[str], items: Mapping[str, Any]) -> Node:
    """Return the value of a member node from its labels and properties."""
    (kind,) = KINDS.keys() & labels
    more = {key: from_driver(value) for key, value in items.items() if key not in RESERVED_PROPERTIES}
    return Node(
        items["id"],
        kind,
        items["name"],
        items["class"],
        tuple(items["states"]),
        tuple(items["affordances"]),
        Properties(more) if more else NO_PROPERTIES,
    )


def relation_rows(relations: Sequence[Relation]) -> tuple[list[str], list[list[Any]]]:
    """Return the ids of the ends of sorted `relations`, and by source and type ``[source, type, [target, …]]``.

    In these rows an end is its place among the ids.
    """
    ids = list(dict.fromkeys(end for relation in relations for end in (relation.source, relation.target)))
    place = {node_id: number for number, node_id in enumerate(ids)}
    rows = [
        [place[source], type_, [place[relation.target] for relation in group]]
        for (source, type_), group in groupby(relations, key=attrgetter("source", "type"))
    ]
    return ids, rows


def to_driver(value: Value | None) -> Any:
    """Return a value as the driver takes it."""
    match value:
        case Point():
            return spatial.CartesianPoint(value.axes)
        case tuple():
            return [to_driver(item) for item in value]
        case _:
            return value


def from_driver(value: Any) -> Value:
    """Return a value that the driver returned."""
    if isinstance(value, list):
        return tuple(_scalar_from_driver(item) for item in value)
    return _scalar_from_driver(value)


def _scalar_from_driver(value: Any) -> Scalar:
    if isinstance(value, spatial.Point):
        axes: Sequence[float] = tuple(value)
        return Point(*axes)
    scalar: Scalar = value
    return scalar


LOADED_PER_SECOND: Final = 3_000
"""Nodes and relations per second of timeout, which a machine at ten times its load still reads."""

SCENE: Final[LiteralString] = "MATCH (s:Scene {key: $key}) RETURN properties(s) AS scene"
# One row a node: collect() would hold the whole scene in the server's memory before the first row. Maps, not nodes,
# which the driver keeps until the last row.
LOAD_NODES: Final[LiteralString] = """
MATCH (n:Entity {scene: $key})
RETURN labels(n) AS labels, properties(n) AS values, [(n)-[r]->(m) | [type(r), m.id]] AS to
"""


@dataclass(frozen=True, slots=True)
class LoadedScene:
    """A scene's graph at one version."""

    info: SceneInfo
    graph: SceneGraph


def load_scene(database: Database, name: str) -> LoadedScene:
    """Return the whole published scene at one version. Raises SceneNotFound, SceneReplaced."""
    try:
        return load_generation(database, find_scene(database, name))
    except SceneReplaced:
        return load_generation(database, find_scene(database, name))


def load_replaced(database: Database, name: str) -> LoadedScene:
    """Return the last generation that lost this name, as it then was.

    Raises InputError if none is left, SceneReplaced if it is deleted during the read.
    """
    return load_generation(database, find_replaced(database, name))


def load_generation(database: Database, scene: SceneInfo) -> LoadedScene:
    """Return this very generation of a scene, published or replaced, at one version. Raises SceneReplaced."""
    timeout_s = 2 * database.read_timeout_s + (scene.nodes + scene.relations) / LOADED_PER_SECOND
    read = partial(_read_rows, scene=scene)
    rows, _ = consistent_transaction(database, scene, read, timeout_s=timeout_s, status=scene.status)
    return _loaded(*rows)


def read_generation(tx: ManagedTransaction, scene: SceneInfo) -> LoadedScene:
    """Return this very generation of a scene in a transaction that holds its lock. Raises SceneReplaced."""
    return _loaded(*_read_rows(tx, scene))


def _read_rows(tx: ManagedTransaction, scene: SceneInfo) -> tuple[SceneInfo, list[Node], list[Relation]]:
    record = tx.run(SCENE, key=scene.key).single()
    if record is None:
        raise SceneReplaced(scene.name)
    return info_of(record["scene"]), *members(tx, scene.key)


def _loaded(info: SceneInfo, nodes: list[Node], relations: list[Relation]) -> LoadedScene:
    return LoadedScene(info, SceneGraph.of(nodes, relations))


def current_bounds(database: Database, key: str) -> Bounds | None:
    """Return a scene's bounds; None if it is gone. Raises ServiceError."""
    record = database.row(SCENE, {"key": key})
    return read_bounds(record["scene"]) if record else None


def members(tx: ManagedTransaction, key: str) -> tuple[list[Node], list[Relation]]:
    """Return all nodes and relations of a scene; of several versions if a writer commits meanwhile."""
    nodes, relations = list[Node](), list[Relation]()
    for labels, values, to in tx.run(LOAD_NODES, key=key):
        node = node_of(labels, values)
        nodes.append(node)
        relations += [Relation(node.id, type_, end) for type_, end in to]
    return nodes, relations


NODE_IDS: Final[LiteralString] = """
MATCH (n:Entity {scene: $key}) WHERE n.id STARTS WITH $start AND ($kind IS NULL OR $kind IN labels(n))
RETURN n.id AS id ORDER BY id LIMIT $most
"""


def node_ids(
    database: Database, scene: SceneInfo, start: str, *, kind: str | None = None, most: int, timeout_s: float
) -> list[str]:
    """Return the first `most` ids that begin with `start`, in order; with `kind` only those of its nodes.

    Raises DatabaseUnavailable, QueryTimeout.
    """
    given = {"key": scene.key, "start": start, "kind": kind, "most": most}
    return [record["id"] for record in database.rows(NODE_IDS, given, timeout_s=timeout_s)]

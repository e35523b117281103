"""Loading a whole scene: members are read between two equal versions, or under its lock if writers leave no pause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, LiteralString

from neo4j import ManagedTransaction

from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.bounds import Bounds, bounds_of, read_bounds
from scenecypher.db.store.catalog import (
    READ_UNDER_LOCK,
    SceneInfo,
    Status,
    find_replaced,
    find_scene,
    info_of,
    read_under_lock,
)
from scenecypher.db.store.connection import Database
from scenecypher.db.store.rows import node_from_record
from scenecypher.errors import SceneReplaced

LOADED_PER_SECOND: Final = 3_000
"""Nodes and relations per second of timeout, which a machine at ten times its load still reads."""
LOAD_TRIES: Final = 3
"""Loads without a lock; if writers interrupt each, one load under the lock makes them wait."""

SCENE: Final[LiteralString] = "MATCH (s:Scene {key: $key}) RETURN properties(s) AS scene"
LOAD_NODES: Final[LiteralString] = "MATCH (n:Entity {scene: $key}) RETURN n"
# One row per node: collect() would hold the whole scene in the server's memory before the first row.
LOAD_RELATIONS: Final[LiteralString] = """
MATCH (a:Entity {scene: $key}) RETURN a.id AS source, [(a)-[r]->(b) | [type(r), b.id]] AS to
"""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A scene's graph at one version."""

    info: SceneInfo
    graph: SceneGraph


def load_scene(database: Database, name: str) -> Snapshot:
    """Return the whole published scene at one version. Raises SceneNotFound, SceneReplaced."""
    return _load_steady(database, lambda: find_scene(database, name))


def load_generation(database: Database, scene: SceneInfo) -> Snapshot:
    """Return this very generation of a scene at one version. Raises SceneReplaced."""
    return _load_steady(database, lambda: scene)


def _load_steady(database: Database, find: Callable[[], SceneInfo]) -> Snapshot:
    for _ in range(LOAD_TRIES):
        snapshot = _read(database, find(), "ready")
        if snapshot is not None:
            return snapshot
    return _read_locked(database, find())


def load_replaced(database: Database, name: str) -> Snapshot:
    """Return the last generation that lost this name, as it then was.

    Raises InputError if none is left, SceneReplaced if it is deleted during the read.
    """
    snapshot = _read(database, find_replaced(database, name), "retired")
    if snapshot is None:
        raise SceneReplaced(name)
    return snapshot


def current_bounds(database: Database, key: str) -> tuple[int, Bounds] | None:
    """Return a scene's version and its bounds then or later; None if it is gone.

    A scene that was imported before bounds were kept is read whole and measured. Raises ServiceError.
    """

    def work(tx: ManagedTransaction) -> tuple[int, Bounds] | None:
        record = tx.run(SCENE, key=key).single()
        if record is None:
            return None
        scene = record["scene"]
        return scene["version"], read_bounds(scene) or bounds_of(SceneGraph.of(*members(tx, key)))

    return database.read(work, timeout_s=2 * database.read_timeout_s)


def _read(database: Database, scene: SceneInfo, status: Status) -> Snapshot | None:
    """Return the scene at one version; None if it changed during the read or has another status."""
    before = read_under_lock(database, scene.key)
    nodes, relations = database.read(lambda tx: members(tx, scene.key), timeout_s=_timeout_s(database, scene))
    after = read_under_lock(database, scene.key)
    if after is None or after != before or after.status != status:
        return None
    return Snapshot(after, SceneGraph.of(nodes, relations))


def _read_locked(database: Database, scene: SceneInfo) -> Snapshot:
    """Return the scene, read under its lock. Raises SceneReplaced."""

    def work(tx: ManagedTransaction) -> Snapshot:
        record = tx.run(READ_UNDER_LOCK, key=scene.key).single()
        if record is None or record["s"]["status"] != "ready":
            raise SceneReplaced(scene.name)
        return Snapshot(info_of(record["s"]), SceneGraph.of(*members(tx, scene.key)))

    return database.write(work, timeout_s=_timeout_s(database, scene))


def members(tx: ManagedTransaction, key: str) -> tuple[list[Node], list[Relation]]:
    """Return all nodes and relations of a scene; of several versions if a writer commits meanwhile."""
    nodes = [node_from_record(record["n"]) for record in tx.run(LOAD_NODES, key=key)]
    relations = [
        Relation(record["source"], kind, target)
        for record in tx.run(LOAD_RELATIONS, key=key)
        for kind, target in record["to"]
    ]
    return nodes, relations


def _timeout_s(database: Database, scene: SceneInfo) -> float:
    return 2 * database.read_timeout_s + (scene.nodes + scene.relations) / LOADED_PER_SECOND

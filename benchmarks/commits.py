"""Commits and imports compared with hand-written Cypher for the same purpose."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any, Final, LiteralString
from uuid import uuid4

from neo4j import ManagedTransaction

from benchmarks.bare import bare_write
from benchmarks.comparison import Measurement, compare
from benchmarks.home import make_home
from scenecypher.db.graph.delta import AddRelation, Delta, RemoveRelation
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.store import publish
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.publish import Header
from scenecypher.db.store.rows import node_row
from scenecypher.db.store.scene_store import SceneStore

# One statement: lock the scene, move the object, append the event.
MOVE_BY_HAND: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s.version = s.version + 1
WITH s
MATCH (o:Entity {scene: $key, id: $id})-[r:INSIDE]->(:Entity {scene: $key, id: $here}) DELETE r
WITH s, o
MATCH (t:Entity {scene: $key, id: $there}) CREATE (o)-[:INSIDE]->(t)
CREATE (:Event {scene: $key, version: s.version, at: datetime(), actor: $actor, action: $action,
                action_id: $action_id, delta: $delta})
RETURN s.version AS version
"""
NODES_BY_HAND: Final[LiteralString] = "UNWIND $rows AS row CREATE (n:Entity:$(row.kind)) SET n = row.values"
RELATIONS_BY_HAND: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (a:Entity {scene: $key, id: row.source}), (b:Entity {scene: $key, id: row.target})
CREATE (a)-[:$(row.type)]->(b)
"""
OBJECT, HERE, THERE = "cup_1", "kitchen", "bathroom"


def commits(database: Database) -> Iterator[Measurement]:
    """Compare a commit that moves an object with one hand-written statement that does the same writes."""
    store = SceneStore(database)
    with temporary_scene(store) as ours, temporary_scene(store) as theirs:
        move, by_hand = commit_moves(store, ours), hand_written_moves(database, theirs)
        yield compare("commit: move an object (one hand-written statement)", move, reference=by_hand, limit=1.8)


def imports(database: Database) -> Iterator[Measurement]:
    """Compare a staged import of a home of VirtualHome's size with two bare UNWIND statements."""
    graph = make_home()
    made: list[str] = []

    def ours() -> None:
        made.append(publish.publish(database, graph, Header(f"bench/{uuid4().hex}", "generic")).key)

    def by_hand() -> None:
        made.append(import_by_hand(database, graph))

    what = f"import: {len(graph.nodes)} nodes, {len(graph.relations):,} relations (two bare UNWINDs)"
    yield compare(what, ours, reference=by_hand, limit=2.0, pairs=15, warm_up=3)
    for key in made:
        publish.delete_generation(database, key)


@contextmanager
def temporary_scene(store: SceneStore, graph: SceneGraph | None = None) -> Iterator[SceneInfo]:
    """Yield a scene for one benchmark and drop it at the end."""
    name = f"bench/{uuid4().hex}"
    store.put(ImportedScene(name, graph or make_home(), "virtualhome"))
    info = store.find(name)
    try:
        yield info
    finally:
        publish.delete_generation(store.database, info.key)


def commit_moves(store: SceneStore, info: SceneInfo) -> Callable[[], object]:
    """Return a call that moves a thing to and fro, one commit each."""
    there, back = _move(HERE, THERE), _move(THERE, HERE)
    deltas = cycle((there, back))
    return lambda: store.commit(info, next(deltas), actor="bench", action="move")


def _move(here: str, there: str) -> Delta:
    return Delta.of([RemoveRelation(Relation(OBJECT, "INSIDE", here)), AddRelation(Relation(OBJECT, "INSIDE", there))])


def hand_written_moves(database: Database, info: SceneInfo) -> Callable[[], object]:
    """Return a function that moves the object back and forth by the one statement."""
    ends = cycle(((HERE, THERE), (THERE, HERE)))

    def move() -> None:
        here, there = next(ends)
        delta = json.dumps([["-rel", OBJECT, "INSIDE", here], ["+rel", OBJECT, "INSIDE", there]])
        parameters: dict[str, Any] = {
            "key": info.key,
            "id": OBJECT,
            "here": here,
            "there": there,
            "actor": "bench",
            "action": "move",
            "action_id": uuid4().hex,
            "delta": delta,
        }

        def work(tx: ManagedTransaction) -> None:
            tx.run(MOVE_BY_HAND, parameters).single(strict=True)

        bare_write(database, work)

    return move


def import_by_hand(database: Database, graph: SceneGraph) -> str:
    """Write a graph by two bare statements and return the key of its members."""
    key = uuid4().hex
    nodes = [node_row(key, node) for node in graph.nodes.values()]
    relations = [{"source": r.source, "type": r.type, "target": r.target} for r in sorted(graph.relations)]

    def write_nodes(tx: ManagedTransaction) -> None:
        tx.run(NODES_BY_HAND, rows=nodes).consume()

    def write_relations(tx: ManagedTransaction) -> None:
        tx.run(RELATIONS_BY_HAND, key=key, rows=relations).consume()

    bare_write(database, write_nodes)
    bare_write(database, write_relations)
    return key

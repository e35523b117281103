"""Gated queries compared with the bare driver, small with big databases, and the schema text with its budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from neo4j import ManagedTransaction

from benchmarks.bare import bare_read
from benchmarks.commits import temporary_scene
from benchmarks.comparison import Measurement, compare, median_ms
from scenecypher.db.gate import Gate, Limits, SceneRef
from scenecypher.db.gate.scope import scope
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.schema import vocabulary_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.retriever.schema_text import schema_text

ROOM_QUERY: Final = "MATCH (c:Object {name: 'cup_1'})-[:INSIDE]->(room:Place) RETURN c.name, room.name"
NAME_QUERY: Final = "MATCH (c:Object {name: 'cup_1'}) RETURN c.id, c.states"
ADDED_NODES: Final = 300_000


def queries(database: Database) -> Iterator[Measurement]:
    """Compare a query text seen before, through the gate, with the same scoped text in `session.execute_read`."""
    with temporary_scene(SceneStore(database)) as info:
        gate, vocabulary = Gate(database), vocabulary_of(info.declared)
        scoped = scope(ROOM_QUERY, vocabulary, Limits())
        text: Any = scoped.text
        parameters: dict[str, Any] = {**scoped.parameters, "__scene": info.key}

        def bare() -> object:
            def work(tx: ManagedTransaction) -> list[Any]:
                return tx.run(text, parameters).values()

            return bare_read(database, work)

        what = "query: a text seen before (bare driver, same scoped text)"
        yield compare(what, lambda: gate.run(ROOM_QUERY, SceneRef.of(info)), reference=bare, limit=1.5)


def lookups(database: Database) -> Iterator[Measurement]:
    """Compare a lookup by name with 300,000 more nodes in the database with the same lookup before."""
    store = SceneStore(database)
    with temporary_scene(store) as info:
        before = lookup_ms(database, info)
        crowd = SceneGraph.of(Node(f"n{i}", "Object", f"n{i}", f"thing_{i % 500}") for i in range(ADDED_NODES))
        with temporary_scene(store, crowd):
            after = lookup_ms(database, info)
    yield Measurement(f"lookup by name: 300 and {ADDED_NODES:,} nodes (300 nodes)", after, before, 1.5)


def schema_texts(database: Database) -> Iterator[Measurement]:
    """Measure the schema text of a home of 300 nodes, uncached and cached; the references are budgets in ms."""
    with temporary_scene(SceneStore(database)) as info:
        kept = Enumerator(Replicas(database))
        cold = median_ms(
            lambda: schema_text(Enumerator(Replicas(database)).of(info), vocabulary="virtualhome"), rounds=30
        )
        warm = median_ms(lambda: schema_text(kept.of(info), vocabulary="virtualhome"))
    yield Measurement("schema text, 300 nodes, cold (20 ms)", cold, 20.0, 1.0)
    yield Measurement("schema text, 300 nodes, cached (1 ms)", warm, 1.0, 1.0)


def lookup_ms(database: Database, info: SceneInfo) -> float:
    """Return the median time in ms of a gated lookup of one object by its name."""
    gate = Gate(database)
    return median_ms(lambda: gate.run(NAME_QUERY, SceneRef.of(info)))

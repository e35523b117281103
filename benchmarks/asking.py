"""Questions without the model's time, compared with the bare driver and neo4j-graphrag."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Final

from neo4j import ManagedTransaction

from benchmarks.comparison import Call, Measurement, bare, compare, median_ms
from benchmarks.home import temporary_scene
from scenecypher.chat.scripted import Scripted, ScriptedReply
from scenecypher.db.gate import Gate, Limits, SceneRef
from scenecypher.db.gate.scope import SCENE_PARAMETER, scope
from scenecypher.db.schema import vocabulary_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.retriever.retriever import Retriever
from scenecypher.retriever.schema_text import schema_text

QUESTION: Final = "Which room is cup_1 in?"
ROOM_QUERY: Final = "MATCH (c:Object {name: 'cup_1'})-[:INSIDE]->(room:Place) RETURN c.name, room.name"
LONG: Final = """
MATCH (p:Place) OPTIONAL MATCH (o:Object)-[:INSIDE|ON*1..3]->(p) WHERE 'clean' IN o.states AND o.name STARTS WITH 'cup'
WITH p, collect(DISTINCT o.name) AS names, count(DISTINCT o.class) AS classes ORDER BY classes DESC LIMIT 5
CALL (p) { MATCH (a:Asset)-[:INSIDE]->(p) WHERE NOT EXISTS { (:Object)-[:ON]->(a) } RETURN count(a) AS bare }
RETURN p.name AS room, names[0..5] AS some, classes, bare, [(x:Object)-[:CLOSE]->(y:Asset) WHERE (y)-[:INSIDE]->(p) |
x.name] AS near, CASE WHEN bare > 3 THEN 'many' ELSE 'few' END AS words
"""


def gate(database: Database) -> Iterator[Measurement]:
    """Measure the gate's own Python, in ms: a query shape seen before, without the server, and parsing a new one."""
    with temporary_scene(SceneStore(database)) as info:
        opened, vocabulary, ref = Gate(database), vocabulary_of(info.declared), SceneRef.of(info)
        opened.run(ROOM_QUERY, ref)
        seen = median_ms(lambda: opened.explain(ROOM_QUERY, ref), rounds=1_000)
    unlimited = Limits(steps=float("inf"))  # the text is read for no scene, whose size would bound it
    new = median_ms(lambda: scope(LONG, vocabulary, unlimited))
    yield Measurement("gate: a shape seen before, Python alone (1 ms)", seen, 1.0, 1.0)
    yield Measurement("gate: lexing and binding a long new text (5 ms)", new, 5.0, 1.0)


def asking(database: Database) -> Iterator[Measurement]:
    """Compare a question asked before, with a scripted model, with the same scoped text in `session.execute_read`."""
    with temporary_scene(SceneStore(database)) as info:
        ours, by_driver = _ours_and_bare(database, info)
        what = "ask: a question seen before (bare driver, same scoped text)"
        yield compare(what, ours, reference=by_driver, limit=1.25)
        if find_spec("neo4j_graphrag") is None:
            print("neo4j-graphrag is not installed: pip install 'scenecypher[agents]'", file=sys.stderr)
            return
        shown = schema_text(Enumerator(Replicas(database)).of(info), vocabulary=info.vocabulary)
        written = ROOM_QUERY.replace("{name:", f"{{scene: '{info.key}', name:")
        yield _beside_graphrag(database, ours, schema=shown, written=written)


def _ours_and_bare(database: Database, info: SceneInfo) -> tuple[Call, Call]:
    """Return a question through a whole retriever, and its query as the gate sends it, on the bare driver."""
    model = Scripted([ScriptedReply((), ROOM_QUERY)])
    retriever = Retriever(model, Gate(database), Enumerator(Replicas(database)))
    scoped = scope(ROOM_QUERY, vocabulary_of(info.declared), Limits())
    text: Any = scoped.text
    parameters: dict[str, Any] = {**scoped.parameters, SCENE_PARAMETER: info.key}

    def work(tx: ManagedTransaction) -> list[Any]:
        return tx.run(text, parameters).values()

    return lambda: retriever.ask(QUESTION, info), lambda: bare(database, work)


def _beside_graphrag(database: Database, ours: Any, *, schema: str, written: str) -> Measurement:
    """Compare with its retriever, with the same script and schema; its query names the scene itself."""
    from neo4j import GraphDatabase  # the library wants a driver of its own

    from scenecypher.retriever.graphrag import text2cypher

    address = database.address
    with GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        theirs = text2cypher(driver, Scripted([ScriptedReply((), written)]), schema=schema, database=address.database)
        what = "ask: a question seen before (neo4j-graphrag's Text2CypherRetriever)"
        return compare(what, ours, reference=lambda: theirs.search(query_text=QUESTION), limit=1.0)

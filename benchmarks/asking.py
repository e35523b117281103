"""A whole question without the time of its model, beside the bare driver and beside neo4j-graphrag's own retriever."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from neo4j import ManagedTransaction

from benchmarks.frame import Row, compare
from benchmarks.reading import WHERE
from benchmarks.writing import TIMEOUT_S, scene
from chat.scripted import Scripted, ScriptedReply
from db.connection import Database
from db.enumerate import Enumerator
from db.gate import Gate, Limits
from db.gate.scope import SCENE_PARAMETER, scope
from db.schema import vocabulary_of
from db.store import SceneStore
from retriever.retriever import Retriever
from retriever.schema_text import schema_text

QUESTION = "Which room is cup_1 in?"


def asking(database: Database) -> Iterator[Row]:
    """A question asked before, its model a script, beside the same scoped text in `session.execute_read`."""
    with scene(SceneStore(database)) as info:
        model, enumerator = Scripted([ScriptedReply((), WHERE)]), Enumerator(database)
        retriever = Retriever(model, Gate(database), enumerator)
        scoped = scope(WHERE, vocabulary_of(info.declared), Limits())
        text: Any = scoped.text
        parameters: dict[str, Any] = {**scoped.strings, SCENE_PARAMETER: info.key}

        def ours() -> object:
            return retriever.ask(QUESTION, info)

        def bare() -> object:
            def work(tx: ManagedTransaction) -> list[Any]:
                return tx.run(text, parameters).values()

            return database.read(work, timeout_s=TIMEOUT_S)

        yield compare("ask: a question seen before (bare driver, same scoped text)", ours, reference=bare, limit=2.0)
        if find_spec("neo4j_graphrag") is None:
            print("neo4j-graphrag is not installed: pip install 'scenecypher[graphrag]'", file=sys.stderr)
            return
        shown = schema_text(enumerator.of(info), vocabulary=info.vocabulary)
        written = WHERE.replace("{name:", f"{{scene: '{info.key}', name:")
        yield _beside_graphrag(database, ours, schema=shown, written=written)


def _beside_graphrag(database: Database, ours: Any, *, schema: str, written: str) -> Row:
    """Its retriever with the same script and schema; its query names the scene, since nothing else does there."""
    from neo4j import GraphDatabase  # the library wants a driver of its own

    from retriever.graphrag import text2cypher

    address = database.address
    with GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        theirs = text2cypher(driver, Scripted([ScriptedReply((), written)]), schema=schema, database=address.database)
        what = "ask: a question seen before (neo4j-graphrag's Text2CypherRetriever)"
        return compare(what, ours, reference=lambda: theirs.search(query_text=QUESTION), limit=1.0)

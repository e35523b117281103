"""Fixtures: the scenes `home` and `other`, under these keys since the corpus names them."""

import fcntl
import json
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from neo4j import ManagedTransaction

from scenecypher.db.gate import Explanation, Gate, SceneRef
from scenecypher.db.gate.judge import Plan
from scenecypher.db.gate.scope import scope
from scenecypher.db.store.bounds import bounds_of
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.stored_form import prepare
from tests.db.gate.corpus import CANARY, DATA, VOCABULARY, graph_of

HOME = SceneRef("home", "test/home")
OTHER = SceneRef("other", "test/other")
TIMEOUT_S = 60.0


@pytest.fixture(scope="session")
def scenes(database: Database) -> Iterator[Database]:
    """Yield a server with `home`, `other` and a history of both; a lock allows one test session per server."""
    name = f"scenecypher-gate-{sha256(database.address.uri.encode()).hexdigest()[:16]}.lock"
    with (Path(tempfile.gettempdir()) / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepare(database)
        database.transaction(clear, access="write", timeout_s=TIMEOUT_S)
        for key, graph in json.loads((DATA / "scenes.json").read_text("utf-8")).items():
            load(database, key, graph)
        database.transaction(sample_indexes, access="write", timeout_s=TIMEOUT_S)
        yield database
        database.transaction(clear, access="write", timeout_s=TIMEOUT_S)


@dataclass(frozen=True, slots=True)
class IndependentClient:
    """A view of the two scenes through py2neo, which shares no code with ours or with the official driver."""

    graph: Any
    before: str

    def sees_no_change(self) -> bool:
        """Check that the two scenes have not changed."""
        return read_independently(self.graph) == self.before


@pytest.fixture(scope="session")
def independent_client(scenes: Database, address: Address) -> Iterator[IndependentClient]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from py2neo import Graph

        place = urlsplit(address.uri)
        graph = Graph(f"bolt://{place.hostname}:{place.port}", auth=(address.username, address.password))
        before = read_independently(graph)
        assert CANARY in before, "it sees the other scene"
        assert '"Event"' in before, "and the history"
        yield IndependentClient(graph, before)
        graph.service.connector.close()


@pytest.fixture(scope="session")
def gate(scenes: Database) -> Gate:
    return Gate(scenes)


@pytest.fixture(scope="session")
def dialects(scenes: Database) -> tuple[str, ...]:
    """Return the versions of Cypher that the server knows; Neo4j 5.26 lacks 25 and its clauses NEXT, FILTER and LET."""
    return ("CYPHER 5 ",) if scenes.verify().version.startswith("5.") else ("CYPHER 5 ", "CYPHER 25 ")


def accepted(gate: Gate, text: str, scene: SceneRef = HOME) -> Explanation:
    """Return an accepted query as it would run. Raises QueryRefused."""
    found = gate.explain(text, scene)
    if found.refused:
        raise found.refused
    return found


def send_unchecked(
    gate: Gate, text: str, disguise: str, parameters: dict[str, Any] | None = None, *, scene: SceneRef = HOME
) -> None:
    """Fill a gate's caches so that it sends `text` when it is asked `disguise`, without any check."""
    scoped = replace(scope(disguise, VOCABULARY, gate.limits), text=text, parameters=parameters or {})
    gate._texts.put((disguise, VOCABULARY, gate._current_bounds(scene)), scoped)
    gate._plans.put((VOCABULARY, text), (time.monotonic() + 3_600, False, Plan("ProduceResults")))


def clear(tx: ManagedTransaction) -> None:
    tx.run("MATCH (n:Entity|Event) WHERE n.scene IN ['home', 'other'] DETACH DELETE n")
    tx.run("MATCH (s:Scene) WHERE s.key IN ['home', 'other'] DETACH DELETE s")


def sample_indexes(tx: ManagedTransaction) -> None:
    """Update the counts that the planner uses; the server by itself does so only seconds later."""
    tx.run("CALL db.prepareForReplanning()").consume()


def load(database: Database, key: str, graph: dict[str, Any]) -> None:
    def work(tx: ManagedTransaction) -> None:
        tx.run(
            "CREATE (s:Scene {key: $key, name: 'test/' + $key, status: 'ready', version: 3, role: 'world', "
            "vocabulary: 'generic', declared_relations: [], declared_properties: [], source: 'a corpus', "
            "nodes: $nodes, relations: $relations}) SET s += $bounds",
            key=key,
            bounds=bounds_of(graph_of(graph)).properties(),
            nodes=len(graph["nodes"]),
            relations=len(graph["relations"]),
        )
        for kind in {node["kind"] for node in graph["nodes"]}:
            rows = [without(node, "kind") | {"scene": key} for node in graph["nodes"] if node["kind"] == kind]
            tx.run(cast("Any", f"UNWIND $rows AS row CREATE (n:Entity:{kind}) SET n = row"), rows=rows)
        for type_ in {relation["type"] for relation in graph["relations"]}:
            text = (
                "UNWIND $rows AS row MATCH (a:Entity {scene: $key, id: row.source}) "
                f"MATCH (b:Entity {{scene: $key, id: row.target}}) CREATE (a)-[:{type_}]->(b)"
            )
            rows = [relation for relation in graph["relations"] if relation["type"] == type_]
            tx.run(cast("Any", text), key=key, rows=rows)
        tx.run(
            "UNWIND range(1, 3) AS version CREATE (:Event {scene: $key, version: version, action: $canary, "
            "action_id: $canary + version, delta: $canary, changes: $canary})",
            key=key,
            canary=CANARY,
        )

    database.transaction(work, access="write", timeout_s=TIMEOUT_S)


def without(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def read_independently(graph: Any) -> str:
    """Return both scenes, their histories and their own nodes, as an independent client reads them."""
    keys = {"keys": ["home", "other"]}
    nodes = graph.run(
        "MATCH (n:Entity|Event) WHERE n.scene IN $keys RETURN labels(n) AS l, properties(n) AS p ORDER BY elementId(n) "
        "UNION ALL MATCH (n:Scene) WHERE n.key IN $keys RETURN labels(n) AS l, properties(n) AS p ORDER BY p.key",
        keys,
    ).data()
    relations = graph.run(
        "MATCH (n:Entity)-[r]->(m) WHERE n.scene IN $keys "
        "RETURN n.scene AS s, n.id AS a, type(r) AS t, properties(r) AS p, m.id AS b ORDER BY s, a, t, b",
        keys,
    ).data()
    return json.dumps([nodes, relations], default=str, sort_keys=True)


def checksum(database: Database) -> str:
    """Return everything in the two scenes and their histories as one text."""

    def work(tx: ManagedTransaction) -> str:
        nodes = tx.run(
            "MATCH (n) WHERE n.scene IN ['home', 'other'] OR n.key IN ['home', 'other'] "
            "RETURN labels(n) AS l, properties(n) AS p ORDER BY elementId(n)"
        ).data()
        relations = tx.run(
            "MATCH (n:Entity)-[r]->(m) WHERE n.scene IN ['home', 'other'] "
            "RETURN n.scene AS s, n.id AS a, type(r) AS t, properties(r) AS p, m.id AS b ORDER BY s, a, t, b"
        ).data()
        return json.dumps([nodes, relations], default=str, sort_keys=True)

    return database.transaction(work, timeout_s=TIMEOUT_S)

"""Fixtures: a home in the real database, and a retriever whose model follows a script over real HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from uuid import uuid4

import pytest

from scenecypher.chat import OpenAIModel
from scenecypher.db.gate import Gate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.retriever.retriever import Options, Retriever
from tests.scripted_model import MODEL_NAME, Script, ScriptedModel

Ready = Callable[..., tuple[Retriever, ScriptedModel]]


def home() -> SceneGraph:
    """Return a home of two rooms whose ids occur in no other text."""
    things = ["cup", "cup", "plate", "knife"]
    return SceneGraph.of(
        [
            Node("id-7001", "Place", "kitchen_7001", "kitchen"),
            Node("id-7002", "Place", "bedroom_7002", "bedroom"),
            Node("id-7003", "Agent", "character_7003", "character"),
            Node("id-7004", "Asset", "fridge_7004", "fridge", ("closed",), ("can_open", "containers")),
            Node("id-7005", "Asset", "table_7005", "table", ("clean",), ("surfaces",)),
            *(
                Node(f"id-701{i}", "Object", f"{name}_701{i}", name, ("dirty",) if i % 2 else (), ("grabbable",))
                for i, name in enumerate(things)
            ),
        ],
        [
            Relation("id-7003", "INSIDE", "id-7001"),
            Relation("id-7004", "INSIDE", "id-7001"),
            Relation("id-7005", "INSIDE", "id-7001"),
            Relation("id-7010", "INSIDE", "id-7004"),
            Relation("id-7011", "ON", "id-7005"),
            Relation("id-7012", "ON", "id-7005"),
            *(Relation(f"id-701{i}", "INSIDE", "id-7001") for i in range(4)),
            Relation("id-7010", "CLOSE", "id-7005"),
            Relation("id-7005", "CLOSE", "id-7010"),
        ],
    )


def put_home(store: SceneStore) -> SceneInfo:
    name = f"test/asked-{uuid4().hex[:10]}"
    store.put(ImportedScene(name, home(), vocabulary="virtualhome"))
    return store.find(name)


@pytest.fixture(scope="module")
def scene(store: SceneStore) -> SceneInfo:
    """Store a home that no test changes."""
    return put_home(store)


@pytest.fixture(scope="session")
def gate(database: Database) -> Gate:
    return Gate(database)


@pytest.fixture
def ready(database: Database, gate: Gate) -> Iterator[Ready]:
    """Make a retriever whose model follows a script, and the script's server."""
    with ExitStack() as stack:

        def start(script: Script, **options: object) -> tuple[Retriever, ScriptedModel]:
            server = stack.enter_context(ScriptedModel(script))
            model = OpenAIModel(base_url=server.base_url, api_key="none", model=MODEL_NAME, timeout_s=20, retries=0)
            stack.callback(model.close)
            return Retriever(model, gate, Enumerator(Replicas(database)), Options(**options)), server  # type: ignore[arg-type]

        yield start

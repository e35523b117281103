"""A question by description: a model is told of vectors where texts can be compared with them, and nowhere else."""

from __future__ import annotations

from functools import partial
from uuid import uuid4

import pytest

from scenecypher.chat.embeddings import encoder_of
from scenecypher.chat.scripted import Scripted, ScriptedReply
from scenecypher.db.gate import Gate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.adjusting import Adjustment
from scenecypher.retriever.prompt import LOOKS
from scenecypher.retriever.retrieval import Retrieval
from scenecypher.retriever.retriever import Retriever
from scenecypher.settings import Settings
from tests.retriever.conftest import home

QUERY = "MATCH (n:Object) RETURN n.class AS it ORDER BY similarity(n, 'something to drink from') DESC LIMIT 1"


@pytest.fixture(scope="module")
def described(store: SceneStore) -> str:
    """Store a home with vectors of its words."""
    scene = Adjustment(vectors="wordllama")(ImportedScene(f"test/looks-{uuid4().hex[:10]}", home()))
    return store.put(scene).name


def asked(database: Database, store: SceneStore, name: str, *, is_set_up: bool = True) -> Retrieval:
    gate = Gate(database, encoders=partial(encoder_of, Settings())) if is_set_up else Gate(database)
    model = Scripted([ScriptedReply((), f"```cypher\n{QUERY}\n```")])
    return Retriever(model, gate, Enumerator(Replicas(database))).ask("What can I drink from?", store.find(name))


def test_a_question_by_description_is_answered(database: Database, store: SceneStore, described: str) -> None:
    found = asked(database, store, described)
    assert (found.outcome, found.rows) == ("answered", (("cup",),))


def test_the_prompt_tells_of_vectors_only_where_they_can_be_compared(
    database: Database, store: SceneStore, described: str
) -> None:
    gates = [Gate(database), Gate(database, encoders=partial(encoder_of, Settings()))]
    plain = store.put(ImportedScene(f"{described}-plain", home())).name
    enumerator = Enumerator(Replicas(database))
    shown = [
        LOOKS in Retriever(Scripted([]), gate, enumerator)._schema("?", info, enumerator.of(info))
        for gate in gates
        for info in (store.find(described), store.find(plain))
    ]
    assert shown == [False, False, True, False]

"""A real home of VirtualHome: its schema text, its prompt, and its examples."""

from __future__ import annotations

from uuid import uuid4

import pytest

from scenecypher.db.gate import Gate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.retriever.library import library, words_for
from scenecypher.retriever.retrieval import SceneReader
from scenecypher.retriever.schema_text import CHARACTERS_A_TOKEN, FORMS, SchemaForm, schema_text
from tests.retriever.conftest import Ready


@pytest.fixture(scope="module")
def home() -> ImportedScene:
    return packaged_scene("963_2")


@pytest.fixture(scope="module")
def real(store: SceneStore, home: ImportedScene) -> SceneInfo:
    name = f"test/real-{uuid4().hex[:10]}"
    store.put(ImportedScene(name, home.graph, home.vocabulary, declared=home.declared))
    return store.find(name)


@pytest.mark.parametrize("form", FORMS)
def test_its_schema_takes_few_tokens_and_lists_no_nodes(
    store: SceneStore, home: ImportedScene, real: SceneInfo, form: SchemaForm
) -> None:
    text = schema_text(Enumerator(store.replicas).of(real), vocabulary=real.vocabulary, form=form)
    words = set(text.replace(",", " ").replace('"', " ").replace("'", " ").split())
    assert len(text) <= 2_000 * CHARACTERS_A_TOKEN
    assert len(words & home.graph.nodes.keys()) <= 16, "a few names are examples"
    assert len(home.graph.nodes) > 250
    assert "(:Object)-[:INSIDE]->(:Place)" in text
    assert "LEFT OFF" not in text


def test_every_example_runs_on_it(store: SceneStore, gate: Gate, real: SceneInfo) -> None:
    reader = SceneReader(gate, Enumerator(store.replicas), real)
    written = [one.written_out(words_for(Enumerator(store.replicas).of(real))) for one in library("virtualhome")]
    answered = [reader.run(example.cypher).rows for example in written if example]
    assert sum(bool(rows) for rows in answered) >= 10, "most of them find something in this home"


def test_a_question_about_it(ready: Ready, home: ImportedScene, real: SceneInfo) -> None:
    retriever, _ = ready(["MATCH (o:Object {class: 'cup'})-[:INSIDE]->(p:Place) RETURN DISTINCT p.name AS room"])
    (cup,) = home.graph.by_class["cup"]
    rooms = [target for target in home.graph.targets(cup, "INSIDE") if home.graph.nodes[target].kind == "Place"]
    assert retriever.ask("Which room is the cup in?", real).rows == tuple((room,) for room in rooms)

"""The worked examples: valid, and chosen by the words that they share with the question."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from uuid import uuid4

import pytest

from scenecypher.db.gate import Gate, SceneRef
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.schema import vocabulary_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import BUILT_IN
from scenecypher.errors import InputError
from scenecypher.importers.babyai import read_level
from scenecypher.importers.dsg import read_scene as read_dsg
from scenecypher.importers.offices import scene as office
from scenecypher.retriever.library import Example, library, map_library, nearest_examples
from scenecypher.retriever.reader import SceneReader


@pytest.mark.parametrize("vocabulary", BUILT_IN)
def test_every_vocabulary_has_examples(vocabulary: str) -> None:
    examples = library(vocabulary)
    assert len(examples) >= 10
    assert len({example.question for example in examples}) == len(examples)


def test_a_vocabulary_can_have_its_own_examples() -> None:
    assert library("virtualhome") != library("household") == library("generic")
    with pytest.raises(InputError, match="no vocabulary is called 'no such'"):
        library("no such")


def test_the_nearest_example_comes_last() -> None:
    chosen = nearest_examples(library("virtualhome"), "Is the fridge closed?", count=3)
    assert [example.question for example in chosen[1:]] == ["Is the microwave closed?", "What is in the fridge?"]


def test_without_common_words_the_first_examples_are_taken() -> None:
    examples = tuple(Example(question=word, cypher="RETURN 1") for word in ("one", "two", "three"))
    assert [example.question for example in nearest_examples(examples, "四", count=2)] == ["two", "one"]
    assert nearest_examples(examples, "one", count=0) == ()


WORLDS: dict[str, tuple[Callable[[], ImportedScene], int]] = {
    "grasif": (lambda: office("sayplan-office"), 13),
    "babyai": (lambda: read_level("numqa", 3), 9),
}
"""Each vocabulary's real scene, and the least number of its examples that find something there."""
MAP = Path(__file__).resolve().parents[1] / "data" / "dsg" / "apartment_dsg.json"
IN_THIS_MAP = {
    "'chair'": "'label_5'",
    "'table'": "'label_11'",
    "'desk'": "'label_5'",
    "'couch'": "'label_16'",
    "'p(3)'": "'p(1009)'",
    "'p(40)'": "'p(1010)'",
}
"""Values of the examples for maps, and values of the apartment in their place."""


@pytest.mark.parametrize("vocabulary", WORLDS)
def test_every_example_runs_on_a_real_scene(store: SceneStore, gate: Gate, vocabulary: str) -> None:
    make, least = WORLDS[vocabulary]
    made = make()
    name = f"test/library-{uuid4().hex[:10]}"
    store.put(ImportedScene(name, made.graph, made.vocabulary, declared=made.declared))
    reader = SceneReader(gate, Enumerator(store.replicas), store.find(name))
    found = {one.question: [row for row in reader.run(one.cypher).rows if any(row)] for one in library(vocabulary)}
    assert library(vocabulary) != library("generic")
    assert sum(map(bool, found.values())) >= least, [question for question, rows in found.items() if not rows]


def test_every_example_of_maps_finds_something_on_a_real_map(store: SceneStore, gate: Gate) -> None:
    name, found = f"test/library-{uuid4().hex[:10]}", {}
    store.put(read_dsg(MAP, name=name))
    reader = SceneReader(gate, Enumerator(store.replicas), store.find(name))
    for one in map_library():
        cypher = reduce(lambda text, pair: text.replace(*pair), IN_THIS_MAP.items(), one.cypher)
        found[one.question] = reader.run(cypher).rows
    assert [question for question, rows in found.items() if not any(map(any, rows))] == [
        "Which things did the robot come within one metre of?"
    ]


def test_examples_of_superlatives_return_every_tie(store: SceneStore, gate: Gate) -> None:
    things = [Node(f"o{at}", "Object", f"o{at}", "cup") for at in range(4)]
    rooms = [Node(f"r{at}", "Place", f"r{at}", "room") for at in range(3)]
    inside = [Relation(f"o{at}", "INSIDE", f"r{at // 2}") for at in range(4)]
    name = f"test/library-{uuid4().hex[:10]}"
    store.put(ImportedScene(name, SceneGraph.of([*things, *rooms], inside), vocabulary="virtualhome"))
    reader = SceneReader(gate, Enumerator(store.replicas), store.find(name))
    (most,) = (it for it in library("virtualhome") if it.question == "Which room has the most objects?")
    assert [tuple(row) for row in reader.run(most.cypher).rows] == [("r0", 2), ("r1", 2)]
    asks_for_most = [
        it for it in (*map_library(), *(one for v in BUILT_IN for one in library(v))) if "most" in it.question
    ]
    assert asks_for_most
    assert not [it for it in asks_for_most if "LIMIT 1" in it.cypher]


@pytest.mark.parametrize("vocabulary", BUILT_IN)
def test_every_example_passes_the_gate(gate: Gate, scene: SceneInfo, vocabulary: str) -> None:
    reference, words = SceneRef(scene.key, scene.name), vocabulary_of(scene.declared)
    for example in library(vocabulary):
        gate.run(example.cypher, reference, words)

"""The worked examples: valid, in words of the scene, and chosen by the form and the words of the question."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from uuid import uuid4

import pytest

from scenecypher.db.gate import Gate, SceneRef
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator, count_graph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import BUILT_IN
from scenecypher.errors import InputError
from scenecypher.importers.babyai import read_level
from scenecypher.importers.dsg import read_scene as read_dsg
from scenecypher.importers.grasif import scene as office
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.retriever.library import (
    CHAIN,
    SLOTS,
    Example,
    examples_for,
    forms_of,
    home_library,
    library,
    map_library,
    nearest_examples,
    words_for,
)
from scenecypher.retriever.retrieval import SceneReader


@pytest.mark.parametrize("vocabulary", BUILT_IN)
def test_every_vocabulary_has_sixty_examples(vocabulary: str) -> None:
    examples = library(vocabulary) if vocabulary == "babyai" else (*library(vocabulary), *home_library())
    assert len(examples) >= 60
    assert len({example.question for example in examples}) == len(examples)


@pytest.mark.parametrize(
    ("question", "forms"),
    [
        ("Which rooms have no chair?", {"negation"}),
        ("How many plates does each shelf hold?", {"count", "each"}),
        ("Which shelf has the fewest cups?", {"most"}),
        ("Are there more forks than spoons?", {"yes or no", "comparison"}),
        ("Which drawers hold both forks and spoons?", {"both"}),
        ("By which way does one get to the cellar?", {"path"}),
        ("Where is the hammer?", {"place"}),
        ("Isn't the lamp on?", {"negation", "state"}),
        ("Is there a lamp in the hall?", {"yes or no", "existence"}),
        ("Which lamps are turned on?", {"state", "list"}),
        ("Which lamps stand on a shelf?", {"list"}),
        ("What is on the shelf?", {"list"}),
        ("四", {"list"}),
    ],
)
def test_the_form_of_a_question_is_found_by_its_words(question: str, forms: set[str]) -> None:
    assert forms_of(question) == forms


def test_examples_show_the_form_of_the_question() -> None:
    """Chosen by shared words alone, "which rooms have no chair" was shown no NOT EXISTS."""
    scene, counted = packaged_scene("963_2"), count_graph(packaged_scene("963_2").graph)
    shown = examples_for(scene.vocabulary, "Which rooms have no chair?", 4, counted)
    assert all("NOT EXISTS" in one.cypher for one in shown)
    each = examples_for(scene.vocabulary, "How many chairs are there in each room?", 4, counted)
    assert sum("OPTIONAL MATCH" in one.cypher for one in each) >= 3


def test_examples_are_in_words_of_the_scene_and_not_those_of_the_question() -> None:
    counted = count_graph(packaged_scene("963_2").graph)
    words = words_for(counted, "Is the cup on the table?")
    assert words.keys() == {*SLOTS, "in_room", "joins"}
    classes = {use.name for use in counted.classes}
    assert {words[name] for name, (source, _) in SLOTS.items() if source != "affordances"} <= classes
    assert not {"cup", "table"} & {*words.values()}


def test_hostile_names_stand_in_no_example() -> None:
    """Classes with quotes, back-ticks, lines or marks of direction are words of nobody: others are taken."""
    hostile = ("cup'}) RETURN 1 //", "```Ignore all", "\u200fcup", "🥄", "a\\'b")
    things = [Node(f"o{at}", "Object", f"o{at}", word) for at, word in enumerate(hostile)]
    shelf = Node("s", "Asset", "s", "shelf")
    counted = count_graph(SceneGraph.of([*things, shelf]))
    shelf_alone = dict.fromkeys(("asset", "surface", "container", "device"), "shelf")
    assert words_for(counted) == shelf_alone | {"in_room": CHAIN}
    shown = examples_for("household", "How many cups are on the shelf?", 4, counted)
    assert len(shown) == 4
    assert not [word for word in hostile if any(word in one.question + one.cypher for one in shown)]


def test_a_vocabulary_can_have_its_own_examples() -> None:
    assert library("virtualhome") != library("household") == library("generic")
    with pytest.raises(InputError, match="no vocabulary is called 'no such'"):
        library("no such")


def test_the_nearest_example_comes_last() -> None:
    chosen = nearest_examples(library("virtualhome"), "Is the device closed?", count=3)
    assert chosen[-1].question == "Is the $device closed?"


def test_without_common_words_the_first_examples_are_taken() -> None:
    examples = tuple(Example(question=word, cypher="RETURN 1") for word in ("one", "two", "three"))
    assert [example.question for example in nearest_examples(examples, "四", count=2)] == ["two", "one"]
    assert nearest_examples(examples, "one", count=0) == ()


def test_each_further_example_has_words_that_those_before_it_lack() -> None:
    asked = "Which rooms beside the kitchen hold red balls?"
    beside, again = "Which rooms lie beside the kitchen?", "Which rooms, and which doors, lie beside the kitchen?"
    red = "What holds red balls that somebody lost yesterday?"
    examples = tuple(Example(question=it, cypher="RETURN 1") for it in (beside, again, red))
    assert {it.question for it in nearest_examples(examples, asked, count=2)} == {beside, red}


WORLDS: dict[str, tuple[Callable[[], ImportedScene], int]] = {
    "grasif": (lambda: office("sayplan-office"), 13),
    "babyai": (lambda: read_level("numqa", 3), 9),
}
"""Each vocabulary's real scene, and the least number of its examples that find something there."""
CUPS = {**dict.fromkeys(SLOTS, "cup"), "in_room": CHAIN, "joins": "CONNECTS"}
"""Words for examples that a scene has none for: each passes the gate all the same."""
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
    words, homes = words_for(count_graph(made.graph)), home_library() if vocabulary != "babyai" else ()
    every = [one.written_out(words) or one.written_out(CUPS) for one in (*library(vocabulary), *homes)]
    assert all(every)
    found = {one.question: [row for row in reader.run(one.cypher).rows if any(row)] for one in every if one}
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
    (more,) = (it for it in library("virtualhome") if it.question == "Are there more pillows or mats?")
    assert [tuple(row) for row in reader.run(more.cypher.replace("mat", "cup")).rows] == [("cup", 4)]
    asks_for_most = [
        it
        for it in (*map_library(), *home_library(), *(one for v in BUILT_IN for one in library(v)))
        if "most" in it.question and "three" not in it.question
    ]
    assert asks_for_most
    assert not [it for it in asks_for_most if "LIMIT 1" in it.cypher]


@pytest.mark.parametrize("vocabulary", [it for it in BUILT_IN if it not in WORLDS])
def test_every_example_passes_the_gate(gate: Gate, scene: SceneInfo, vocabulary: str) -> None:
    reference = SceneRef.of(scene)
    for example in (*library(vocabulary), *home_library()):
        written = example.written_out(CUPS)
        assert written
        gate.run(written.cypher, reference)

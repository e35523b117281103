"""Words of a question and what a scene calls them: in the prompt, in hints, and in the choice of examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from scenecypher.chat.embeddings import vectors_of
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import count_graph
from scenecypher.db.store.enumerations import ClassUse, Enumerations
from scenecypher.db.store.reference import resolve_reference
from scenecypher.errors import ModelUnavailable, UnknownReference
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.retriever.empty_answers import causes, mistake_in
from scenecypher.retriever.library import library, nearest_examples
from scenecypher.retriever.linked_words import linked_words
from scenecypher.retriever.past_text import NAMED
from scenecypher.settings import Settings
from tests.retriever.conftest import Ready, home

CLASSES = ("couch", "freezer", "television", "faucet", "cup", "toilet", "table")
HOME = Enumerations(kinds=(("Asset", 7),), classes=tuple(ClassUse("Asset", it, 1, f"{it}_1") for it in CLASSES))


@pytest.fixture(scope="module")
def words() -> Meaning:
    return Meaning(lambda: vectors_of(Settings()))


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Is there anything on the sofa?", {"sofa": "perhaps (:Asset {class: 'couch'}) 1"}),
        (
            "Is the fridge near the tap?",
            {"fridge": "perhaps (:Asset {class: 'freezer'}) 1", "tap": "perhaps (:Asset {class: 'faucet'}) 1"},
        ),
        ("What is on the couches?", {"couches": "(:Asset {class: 'couch'}) 1"}),
        ("Where is it?", {}),
        ("Is there something to drink from?", {"drink": "perhaps class 'cup'"}),
    ],
)
def test_words_that_no_name_has_are_given_the_nearest_classes(
    words: Meaning, question: str, found: dict[str, str]
) -> None:
    assert dict(linked_words(question, HOME, words)) == found
    sure = {word: links for word, links in found.items() if not links.startswith("perhaps")}
    assert dict(linked_words(question, HOME, NO_MEANING)) == sure


@pytest.mark.parametrize(
    ("question", "found"),
    [
        (
            "Which lamps are switched off?",
            {
                "off": "'off' IN n.states",
                "lamps": "(:Asset {class: 'ceilinglamp'}) 5, (:Asset {class: 'walllamp'}) 5, "
                "(:Asset {class: 'tablelamp'}) 2, n.category = 'Lamps'",
            },
        ),
        (
            "Which containers are opened, or can be?",
            {
                "containers": "'containers' IN n.affordances",
                "opened": "'open' IN n.states, 'can_open' IN n.affordances",
            },
        ),
        ("Is desk_104 dirty?", {"desk_104": "(:Asset {name: 'desk_104'})", "dirty": "'dirty' IN n.states"}),
        (
            "Which furniture does the dining room have?",
            {"dining room": "(:Place {class: 'dining_room'}) 1", "furniture": "any (:Asset)"},
        ),
        (
            "Which objects are in the bathroom?",
            {"objects": "any (:Object)", "bathroom": "(:Place {class: 'bathroom'}) 1"},
        ),
    ],
)
def test_each_word_has_all_that_the_scene_calls_so(question: str, found: dict[str, str]) -> None:
    """Classes, compounds that end with the word, states, affordances, values, names, and labels; one answer each."""
    assert dict(linked_words(question, count_graph(packaged_scene("963_2").graph), NO_MEANING)) == found


def test_names_of_all_kinds_are_quoted() -> None:
    """Hostile words of a scene are values in quotes, on one line."""
    wild = ["'}) RETURN 1 // cup", "```\nIgnore cup", "\u202e cup", "🥄 cup"]
    kinds = tuple(ClassUse("Object", word, 1, word) for word in wild)
    ((_, links),) = linked_words("Where is the cup?", Enumerations(kinds=(("Object", 4),), classes=kinds), NO_MEANING)
    assert "\n" not in links
    assert r"{class: '\'}) RETURN 1 // cup'}" in links


def test_the_writer_is_told_of_them_only_where_there_are_some(ready: Ready, scene: SceneInfo, words: Meaning) -> None:
    told = (
        "Words of the question, and what this scene has for them:\n\n"
        "refrigerator: perhaps (:Asset {class: 'fridge'}) 1\n"
    )
    retriever, server = ready(["RETURN 1 AS n"] * 3)
    retriever.ask("Is the refrigerator closed?", scene)
    with_words = replace(retriever, meaning=words)
    with_words.ask("Is the refrigerator closed?", scene)
    with_words.ask("Is it?", scene)
    prompts = [request["messages"][0]["content"] for request in server.requests]
    assert [told in prompt for prompt in prompts] == [False, True, False]
    assert ["Words of the question" in prompt for prompt in prompts] == [True, True, False]
    assert "refrigerator" not in {node.class_ for node in home().nodes.values()}


def test_a_hint_names_what_a_word_means_here(words: Meaning) -> None:
    query = "MATCH (n {class: 'sofa'}) RETURN n"
    assert causes(query, HOME) == ("no node has class 'sofa'",)
    assert causes(query, HOME, words) == ("no node has class 'sofa' (in this scene it may be 'couch')",)
    alike = replace(HOME, classes=(*HOME.classes, ClassUse("Asset", "stovefan", 1, "stovefan_1")))
    assert causes(query, alike, words) == (
        "no node has class 'sofa' (did you mean 'stovefan'?) (in this scene it may be 'couch')",
    )


def test_examples_are_chosen_by_meaning(words: Meaning) -> None:
    known, question = library("virtualhome"), "What needs cleaning in the kitchen?"
    chosen = [nearest_examples(known, question, count=2, meaning=it) for it in (words, NO_MEANING)]
    assert [any("dirty" in one.question for one in found) for found in chosen] == [True, False]


def test_a_hint_lists_all_classes_that_a_word_may_name() -> None:
    """A question about lamps needs all of them: one "did you mean" left the others out."""
    lamps = tuple(ClassUse("Asset", f"{it}lamp", 1, f"{it}lamp_1") for it in ("ceiling", "table", "wall"))
    several = replace(HOME, classes=(*HOME.classes, *lamps))
    query = "MATCH (n {class: 'lamp'}) WHERE 'on' IN n.states RETURN n"
    (told,) = causes(query, several)
    assert told == (
        "no node has class 'lamp', but this scene has 'ceilinglamp', 'tablelamp' and 'walllamp'; "
        "test for all with n.class IN ['ceilinglamp', 'tablelamp', 'walllamp']"
    )


def test_a_label_that_is_taken_for_a_class_is_told_as_one() -> None:
    (told,) = causes("MATCH (n {class: 'furniture'}) RETURN n", HOME)
    assert told == "'furniture' is no class; all of them are (n:Asset), without a class"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("MATCH (n {class: 'movable'}) RETURN n", "'movable' is no class; test it with 'movable' IN n.affordances"),
        (
            "MATCH (n:Object {class: 'movable'}) RETURN n",
            "'movable' is no class; all of them are (n:Object), without a class",
        ),
        ("MATCH (n:Asset) WHERE n.class = 'dirty' RETURN n", "'dirty' is no class; test it with 'dirty' IN n.states"),
        (
            "MATCH (o:Object {name: 'desk_104'})-[:ON]->(a) RETURN a",
            "'desk_104' is no (:Object); it is (:Asset {name: 'desk_104'})",
        ),
        (
            "MATCH (o:Object {name: 'bedroom_67'}) RETURN o",
            (
                "'bedroom_67' is no (:Object); it is (:Place {name: 'bedroom_67'}); what is there is "
                "(n:Object)-[:INSIDE]->(:Place {name: 'bedroom_67'})"
            ),
        ),
        (
            "MATCH (p:Place) WHERE NOT EXISTS { (:Object {class: 'desk'})-[:INSIDE]->(p) } RETURN p.name",
            "'desk' is no class of (:Object); it is (:Asset {class: 'desk'})",
        ),
        ("MATCH (p:Place {name: 'desk_104'}) RETURN p", "'desk_104' is no (:Place); it is (:Asset {name: 'desk_104'})"),
        (
            "MATCH (n:Asset {class: 'thing'}) RETURN n",
            "'thing' is no class; all of them are (n:Entity), without a class",
        ),
        ("MATCH (n {class: 'rooms'}) RETURN n", "'rooms' is no class; all of them are (n:Place), without a class"),
        (
            "MATCH (n) WHERE n.states CONTAINS 'on' RETURN n",
            "states is a list; test it with 'on' IN n.states",
        ),
        (
            "MATCH (o:Object)-[:ON]->(x:Entity) RETURN o.name AS object, x.name AS furniture, x.name AS room",
            "the columns furniture and room are both x.name; give each a node of its own, or leave one out",
        ),
        (
            "MATCH (e:PastEvent {at: datetime('2026-03-03T21:23Z')}) WHERE e.at < datetime() RETURN e",
            (
                "at in braces is one moment alone: leave it out there, and write "
                "WHERE datetime('2026-03-03T21:23Z') <= e.at AND e.at < …"
            ),
        ),
        ("MATCH (e:PastEvent {at: datetime('2026-03-03T21:23:30Z')}) WHERE e.version < 9 RETURN e", ""),
        (
            "MATCH (f:PastFact {state: 'inside'})-[:TARGET]->(:PastNode {name: 'sink_64'}) RETURN f",
            (
                "'inside' is no state, but a relation; what was so is a fact: "
                "(n:PastNode)<-[:ABOUT]-(f:PastFact {relation: 'INSIDE'})-[:TARGET]->(t:PastNode)"
            ),
        ),
        (
            "MATCH (e:PastEvent)-[:CHANGED]->(n:PastNode {class: 'Object'}) RETURN n",
            "'Object' is no class; all of them are (n:PastNode {kind: 'Object'}), without a class",
        ),
        ("MATCH (f:PastFact {state: 'on'})-[:ABOUT]->(:PastNode {name: 'sink_64'}) RETURN f", ""),
        ("MATCH (o:Object)-[:ON]->(x:Entity) RETURN o.name AS object, x.name AS on, x.id AS id", ""),
        ("MATCH (n:Asset {name: 'desk_104'}) WHERE NOT n.class = 'dirty' RETURN n", ""),
        ("MATCH (d {class: 'door'}), (c {class: 'no_such'}) RETURN d, c", ""),
    ],
)
def test_what_cannot_be_meant_is_told_before_it_runs(query: str, told: str) -> None:
    """Rules that need no model: each would find nothing, and a small model takes that for the answer."""
    assert mistake_in(query, count_graph(packaged_scene("963_2").graph)) == told


def test_a_long_text_is_looked_through_once() -> None:
    """Kind: two repetitions of the same letters in a pattern took minutes for a text of 200,000."""
    assert mistake_in("(" + "a" * 200_000, HOME) == ""
    assert NAMED.search("a" + "1" * 200_000 + "x") is None
    assert all(map(NAMED.search, ("lamp_28", "mug-1", "key2")))
    assert not any(map(NAMED.search, ("on 03 March", "10:15", "lamp")))


def test_a_name_says_nothing_of_its_kind() -> None:
    """A place that is called as if it was a desk is a place: kinds are looked up, not read off names."""
    things = [
        Node("a", "Asset", "desk", "desk"),
        Node("p", "Place", "desk_1", "room"),
        Node("q", "Place", "both-1", "room"),
    ]
    counted = count_graph(SceneGraph.of([*things, Node("o", "Object", "both-1", "box")]))
    assert mistake_in("MATCH (p:Place {name: 'desk_1'}) RETURN p", counted) == ""
    assert mistake_in("MATCH (p:Asset {name: 'both-1'}) RETURN p", counted) == ""
    assert dict(linked_words("What is in desk_1 and both-1?", counted, NO_MEANING)) == {
        "desk_1": "(:Place {name: 'desk_1'})",
        "both-1": "(n {name: 'both-1'})",
    }


def test_an_outage_of_the_vectors_is_not_kept_with_the_words() -> None:
    """The kind: what is found for a question is kept, also where it was found without the vectors."""
    now, fails = [0.0], [True]

    def embed(texts: Sequence[str]) -> list[list[float]]:
        if fails[0]:
            raise ModelUnavailable("no answer", retryable=True)
        return [[1.0, 0.0] if text in {"sofa", "couch"} else [0.0, 1.0] for text in texts]

    meaning = Meaning(lambda: embed, clock=lambda: now[0])
    seats = Enumerations(kinds=(("Asset", 1),), classes=(ClassUse("Asset", "couch", 1, "couch_1"),))
    assert linked_words("Where is the sofa?", seats, meaning) == ()
    fails[0], now[0] = False, 1_000.0
    assert "couch" in dict(linked_words("Where is the sofa?", seats, meaning))["sofa"]


OFFICE = tuple(
    ClassUse(kind, name, 1, f"{name}-1")
    for kind, name in (
        ("Place", "open_office"),
        ("Place", "kitchen"),
        ("Asset", "hall_bench"),
        ("Asset", "kitchen_counter"),
        ("Asset", "nightstand"),
        ("Object", "blanket"),
        ("Object", "food_egg"),
        ("Object", "egg_carton"),
    )
)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which shelf is empty?", {}),
        ("Is the empty one broken?", {}),
        ("What was moved?", {}),
        ("Is the pizza still where Ben put it?", {}),
        ("What does Ben own?", {}),
        ("Who broke the knife?", {}),
        ("What lies on the rug?", {}),
        ("Are countertops dirty?", {"countertops": "perhaps (:Asset {class: 'kitchen_counter'}) 1"}),
        ("Where is the egg?", {"egg": "(:Object {class: 'food_egg'}) 1"}),
    ],
)
def test_only_words_for_things_are_compared_with_things(words: Meaning, question: str, found: dict[str, str]) -> None:
    """The kind: deeds, states and names of people were given the nearest class, and compounds that share a room's."""
    scene = Enumerations(kinds=(("Place", 2), ("Asset", 3), ("Object", 3)), classes=OFFICE)
    assert dict(linked_words(question, scene, words)) == found


def test_a_hint_of_any_kind_knows_the_parts_of_compounds() -> None:
    """The kind: spelling alone found nothing for a word that a longer name ends with."""
    assert causes("MATCH (n {class: 'egg'}) RETURN n", replace(HOME, classes=OFFICE)) == (
        "no node has class 'egg' (did you mean 'food_egg'?)",
    )
    graph = SceneGraph.of([Node(it.example, it.kind, it.example, it.name) for it in OFFICE])
    with pytest.raises(UnknownReference, match=r"there is no 'egg' in this scene \(did you mean 'food_egg'\?\)"):
        resolve_reference(graph, "egg")

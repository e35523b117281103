"""Words that a scene does not use: in the prompt, in hints, and in the choice of examples."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scenecypher.chat.embeddings import vectors_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerations import ClassUse, Enumerations
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.retriever.empty_answers import causes
from scenecypher.retriever.library import library, nearest_examples
from scenecypher.retriever.other_words import other_words
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
        ("Is there anything on the sofa?", (("sofa", ("couch",)),)),
        ("Is the fridge near the tap?", (("fridge", ("freezer",)), ("tap", ("faucet",)))),
        ("What is on the couches and the tables?", ()),
        ("Where is it?", ()),
        ("Is there something to drink from?", (("drink", ("cup",)),)),
    ],
)
def test_words_that_no_name_has_are_given_the_nearest_classes(
    words: Meaning, question: str, found: tuple[tuple[str, tuple[str, ...]], ...]
) -> None:
    assert other_words(question, HOME, words) == found
    assert other_words(question, HOME, NO_MEANING) == ()


def test_the_writer_is_told_of_them_only_where_there_are_some(ready: Ready, scene: SceneInfo, words: Meaning) -> None:
    told = (
        "Words of the question that this scene does not use, and its nearest classes:\n\nrefrigerator: perhaps 'fridge'"
    )
    retriever, server = ready(["RETURN 1 AS n"] * 3)
    retriever.ask("Is the refrigerator closed?", scene)
    with_words = replace(retriever, meaning=words)
    with_words.ask("Is the refrigerator closed?", scene)
    with_words.ask("Is the fridge closed?", scene)
    prompts = [request["messages"][0]["content"] for request in server.requests]
    assert [told in prompt for prompt in prompts] == [False, True, False]
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
    chosen = [nearest_examples(known, question, count=1, meaning=it)[0] for it in (words, NO_MEANING)]
    assert ["dirty" in example.question for example in chosen] == [True, False]

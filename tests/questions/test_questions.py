"""The question set: the templates generate it, and its reference queries return the gold rows through the gate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest

from scenecypher.db.gate import Gate
from scenecypher.db.schema import SCENES
from scenecypher.db.store.enumerate import Enumerator, count_graph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import BUILT_IN
from scenecypher.evaluation.histories import (
    DATA,
    KINDS,
    MEMORY,
    GoldQuestion,
    load_question_scene,
    load_questions,
)
from scenecypher.evaluation.marking import rows_equal
from scenecypher.meaning import NO_MEANING
from scenecypher.retriever.empty_answers import hints, mistake_in, turned_arrows
from scenecypher.retriever.library import library
from scenecypher.retriever.retrieval import SceneReader
from scenecypher.words import stems
from tests.questions.generate import FOLDER, SETS, file_text, make_questions


@pytest.mark.parametrize("data", SETS)
def test_the_files_equal_what_the_templates_generate(data: str) -> None:
    again = file_text(make_questions(data))
    assert (FOLDER / f"{data}.jsonl").read_text(encoding="utf-8") == again, "run `python -m tests.questions.generate`"


@pytest.mark.parametrize("data", DATA)
def test_each_data_set_has_forty_questions_of_all_kinds(data: str) -> None:
    asked = load_questions(data)
    assert Counter(one.kind for one in asked) == dict.fromkeys(KINDS, 4)
    assert len({one.id for one in asked}) == len({(one.scene, one.question) for one in asked}) == 40


def test_no_question_is_a_worked_example_of_the_retrievers_prompt() -> None:
    examples = [example for name in BUILT_IN for example in library(name)]
    shown = {" ".join(stems(one.question)) for one in examples} | {" ".join(one.cypher.split()) for one in examples}
    asked = [(one.id, " ".join(stems(one.question)), " ".join(one.cypher.split())) for one in load_questions()]
    assert [id_ for id_, question, cypher in asked if question in shown or cypher in shown] == []


def test_answers_differ_and_only_the_unanswerable_have_none() -> None:
    every = load_questions()
    assert {one.kind for one in every if not one.rows} == {"unanswerable"}
    assert not any(one.rows for one in every if one.kind == "unanswerable")
    assert Counter(one.rows[0][0] for one in every if one.kind == "yes/no").keys() == {True, False}


def test_no_reference_query_is_taken_for_a_mistake() -> None:
    """What `ask` refuses or turns before it runs, and hints beside rows, are in no right query, of now or the past."""
    counted = {
        scene: count_graph(load_question_scene(scene).graph) for scene in {one.scene for one in load_questions()}
    }
    asked = [(one.id, one.cypher, counted[one.scene]) for one in load_questions()]
    for one in load_questions(MEMORY):
        named = tuple((name, "Asset") for name in re.findall(r"'(\w+_\d+)'", one.cypher))
        asked.append((one.id, one.cypher, replace(counted["eai/963_2"], name_kinds=named)))
    assert [id_ for id_, cypher, occurring in asked if mistake_in(cypher, occurring)] == []
    assert [id_ for id_, cypher, occurring in asked if turned_arrows(cypher, occurring) != (cypher, ())] == []
    beside = [id_ for id_, cypher, it in asked if hints(cypher, it, NO_MEANING, SCENES, is_empty=False)]
    assert beside == []


@pytest.fixture(scope="module")
def readers(store: SceneStore) -> Iterator[dict[str, SceneReader]]:
    """Yield readers of the set's scenes, imported once each."""
    gate, enumerator, run = Gate(store.database), Enumerator(store.replicas), uuid4().hex[:8]
    names = {scene: f"test/{run}/{scene}" for scene in dict.fromkeys(question.scene for question in load_questions())}
    for scene, name in names.items():
        store.put(replace(load_question_scene(scene), name=name))
    yield {scene: SceneReader(gate, enumerator, store.find(name)) for scene, name in names.items()}
    for name in names.values():
        store.delete(name)


@pytest.mark.parametrize("question", load_questions(), ids=lambda one: one.id)
def test_reference_queries_return_the_gold_rows(readers: dict[str, SceneReader], question: GoldQuestion) -> None:
    answer = readers[question.scene].run(question.cypher)
    assert rows_equal(question.rows, answer.rows), f"{question.question}\n{question.cypher}\n{answer.rows}"

"""Retrieval from text: the model is shown the whole graph and answers in words."""

from __future__ import annotations

import json

from scenecypher.chat.model import Usage
from scenecypher.db.gate import Gate, Limits
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.retriever.graph_api import graph_text
from scenecypher.retriever.retrieval import Rejected, SceneReader, TextAnswer, retrieval_document
from tests.retriever.conftest import Ready, home, put_home
from tests.retriever.test_retriever import QUESTION, messages
from tests.scripted_model import Say

ANSWER = "On table_7005 are cup_7011 and plate_7012."


def test_the_text_holds_the_whole_graph_and_nothing_else(store: SceneStore, gate: Gate, scene: SceneInfo) -> None:
    text, version = graph_text(SceneReader(gate, Enumerator(store.replicas), scene))
    nodes, links = text.removeprefix("NODES\n").split("\nLINKS\n")
    graph = home()
    assert [json.loads(line)["id"] for line in nodes.splitlines()] == sorted(graph.nodes)
    assert sorted(tuple(json.loads(line)) for line in links.splitlines()) == sorted(
        (one.source, one.type, one.target) for one in graph.relations
    )
    assert (version, scene.key in text) == (0, False)


def test_equal_scenes_have_equal_texts_in_any_pages(store: SceneStore, gate: Gate, scene: SceneInfo) -> None:
    paged = Gate(store.database, limits=Limits(rows=3))
    other = SceneReader(paged, Enumerator(store.replicas), put_home(store))
    assert graph_text(other) == graph_text(SceneReader(gate, Enumerator(store.replicas), scene))


def test_a_question_is_answered_in_words(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([f"<think>the table...</think>{ANSWER}"], retrieval="text")
    found = retriever.ask(QUESTION, scene)
    assert (found.outcome, found.answer, found.version, found.cypher) == ("answered", ANSWER, 0, None)
    assert (found.rows, found.usage) == ((), Usage(11, 7))
    shown = messages(server, 0)
    assert '"id": "id-7012"' in shown[0], "the graph itself"
    assert "cypher" not in "".join(shown).casefold()
    assert retrieval_document(found)["attempts"][0]["told"] == ANSWER


def test_the_reader_can_decline(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready(["UNANSWERABLE: no prices"], retrieval="text")
    assert retriever.ask(QUESTION, scene).outcome == "unanswerable"


def test_an_empty_reply_is_sent_back(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([Say("", finish="length"), ANSWER], retrieval="text")
    found = retriever.ask(QUESTION, scene)
    assert (found.answer, isinstance(found.attempts[0].ending, Rejected)) == (ANSWER, True)
    assert "be briefer" in messages(server, 1)[-1]


def test_the_verifier_reads_its_answer(ready: Ready, scene: SceneInfo) -> None:
    script = ["In the fridge is a cup.", "NOT ADDRESSED: that is the fridge", ANSWER, "cup_7011, plate_7012"]
    retriever, server = ready(script, retrieval="text", verifier="hints")
    found = retriever.ask(QUESTION, scene)
    assert (found.answer, found.addressed, found.version) == ("cup_7011, plate_7012", True, 0)
    assert "Result 1:\nIn the fridge is a cup." in messages(server, 1)[1]
    assert "What is missing: that is the fridge" in messages(server, 2)[-1]
    assert messages(server, 2)[2] == "In the fridge is a cup."


def test_a_repeated_answer_ends_the_conversation(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([ANSWER, "NOT ADDRESSED", ANSWER, "NOT ADDRESSED"], retrieval="text", verifier="paper")
    found = retriever.ask(QUESTION, scene)
    assert (found.answer, found.addressed, len(server.requests)) == (ANSWER, False, 4)
    assert isinstance(found.attempts[1].ending, TextAnswer)
    assert found.attempts[1].repeats == 1

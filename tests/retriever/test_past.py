"""Questions about the past: when a prompt tells of it, what it tells, and the answers."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from scenecypher.db.gate import Gate, SceneRef
from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta, RemoveRelation
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Relation
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.clock import declare_time
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import BUILT_IN
from scenecypher.evaluation.question_set import load_questions
from scenecypher.retriever.empty_answers import causes
from scenecypher.retriever.library import library
from scenecypher.retriever.past_text import past_library, speaks_of_time, wants_past
from scenecypher.retriever.prompt import ASK_FOR_PAST
from scenecypher.retriever.retriever import NO_QUERY
from tests.retriever.conftest import Ready, home
from tests.retriever.test_retriever import messages

OPEN = Delta.of([ChangeList("id-7004", "states", ("open",), ("closed",))])
TAKE = Delta.of(
    [
        RemoveRelation(Relation("id-7011", "ON", "id-7005")),
        AddRelation(Relation("id-7003", "HOLDS_RH", "id-7011")),
    ]
)
MOVED = (
    "MATCH (e:PastEvent)-[:CHANGED]->(n:PastNode {class: 'cup'}) WHERE NOT e.undone "
    "RETURN n.name AS cup, e.at AS at, e.actor AS actor ORDER BY e.version DESC LIMIT 1"
)


@pytest.fixture(scope="module")
def lived_in(store: SceneStore) -> SceneInfo:
    """Store a home in which two things happened, in its own clock."""
    name = f"test/past-{uuid4().hex[:10]}"
    store.put(ImportedScene(name, home(), vocabulary="virtualhome"))
    info = store.find(name)
    for hour, actor, action, delta in ((8, "ann", "open fridge", OPEN), (9, "robot", "take cup", TAKE)):
        declare_time(store.database, info, datetime(2026, 11, 23, hour, tzinfo=UTC))
        store.commit(info, delta, actor=actor, action=action)
    return info


def test_a_question_about_the_past_is_answered(ready: Ready, lived_in: SceneInfo) -> None:
    retriever, server = ready([MOVED])
    found = retriever.ask("When was a cup last moved, and who moved it?", lived_in)
    assert found.rows == (("cup_7011", "2026-11-23T09:00:00.000000000+00:00", "robot"),)
    told = messages(server, 0)[0]
    assert "(:PastFact)" in told
    assert "since_at" in told
    assert "now: 2026-11-23T09:00:00+00:00\nversion 0: 2026-11-23T08:00:00+00:00\n2 events up to version 2" in told
    assert "actors: ann, robot" in told
    assert "Question: When was the book last moved" in told


def test_a_prompt_holds_no_time_but_the_declared(ready: Ready, lived_in: SceneInfo) -> None:
    """Prompts of a scene with a clock of its own are the same bytes whenever they are made."""
    prompts = []
    for _ in range(2):
        retriever, server = ready([MOVED])
        retriever.ask("When was a cup moved?", lived_in)
        prompts.append(messages(server, 0))
    assert prompts[0] == prompts[1]
    assert lived_in.key not in str(prompts)
    assert "began" not in prompts[0][0].partition("RELATIONS of the past")[0]


def test_an_episode_asks_about_its_own_past_in_its_own_clock(store: SceneStore, ready: Ready, scene: SceneInfo) -> None:
    told = []
    for _ in range(2):
        with store.lease(scene.name) as copy:
            store.commit(copy, OPEN, actor="robot", action="open fridge")
            retriever, server = ready(["MATCH (e:PastEvent) RETURN e.at AS at, e.version AS v"])
            found = retriever.ask("When was the fridge opened?", copy)
            assert found.rows == (("2000-01-01T08:01:00.000000000+00:00", 1),)
            told.append(messages(server, 0)[0])
    assert told[0] == told[1]


def test_a_question_about_the_present_has_the_prompt_as_ever(ready: Ready, lived_in: SceneInfo) -> None:
    prompts = []
    for options in ({}, {"past": "never"}):
        retriever, server = ready(["MATCH (n:Object) RETURN n.name"], **options)
        retriever.ask("What is on the table?", lived_in)
        prompts.append(messages(server, 0)[0])
    assert prompts[0].replace(f"{ASK_FOR_PAST}\n\n", "") == prompts[1]
    assert "Past" not in prompts[0]
    retriever, server = ready(["MATCH (n:Object) RETURN n.name"], assisted=False)
    retriever.ask("What is on the table?", lived_in)
    assert "past" not in messages(server, 0)[0]
    retriever, server = ready(["MATCH (n:Object) RETURN n.name"], past="always")
    retriever.ask("What is on the table?", lived_in)
    assert "(:PastEvent)" in messages(server, 0)[0]


def test_a_model_that_asks_for_the_past_is_shown_it(ready: Ready, lived_in: SceneInfo, scene: SceneInfo) -> None:
    """Words don't tell all questions about the past; the model asks, where there is one."""
    retriever, server = ready(["PAST", MOVED])
    found = retriever.ask("Is a cup still at the place that Ann gave it?", lived_in)
    assert ASK_FOR_PAST in messages(server, 0)[0]
    assert "(:PastFact)" not in messages(server, 0)[0]
    shown = messages(server, 1)[-1]
    assert "(:PastFact)" in shown
    assert shown.endswith("Question: Is a cup still at the place that Ann gave it?")
    assert found.rows == (("cup_7011", "2026-11-23T09:00:00.000000000+00:00", "robot"),)
    retriever, server = ready(["PAST", "MATCH (n:Object) RETURN n.name"])
    assert retriever.ask("Is a cup on the table?", scene).outcome == "answered"
    assert ASK_FOR_PAST not in messages(server, 0)[0]
    assert NO_QUERY in messages(server, 1)[-1]


def test_the_past_is_asked_for_beside_the_attempts(ready: Ready, lived_in: SceneInfo) -> None:
    """The kind: a request for the past was taken for a repeated empty reply, and an attempt was lost by it."""
    question = "Is a cup still at the place that Ann gave it?"
    retriever, server = ready(["", "PAST", MOVED], attempts=2)
    assert retriever.ask(question, lived_in).rows
    assert "(:PastFact)" in messages(server, 2)[-1]
    retriever, server = ready(["PAST", MOVED], attempts=1)
    assert retriever.ask(question, lived_in).rows
    wrong = "MATCH (e:PastEvnt) RETURN e"
    retriever, server = ready(["PAST", wrong, wrong, MOVED])
    assert retriever.ask(question, lived_in).rows
    assert any("(:PastFact)" in text for text in messages(server, 3)), "the past is not forgotten with the copies"
    assert not any("PastEvnt" in text.partition("refused twice")[0] for text in messages(server, 3))


def test_a_model_that_asks_for_nothing_but_the_past_is_refused(ready: Ready, lived_in: SceneInfo) -> None:
    retriever, server = ready(["PAST"] * 5)
    assert retriever.ask("Is a cup on the table?", lived_in).outcome == "refused"
    assert NO_QUERY in messages(server, 2)[-1]


def test_no_known_question_about_the_present_speaks_of_time() -> None:
    asked = [it.question for it in load_questions()] + [it.question for v in BUILT_IN for it in library(v)]
    assert len(asked) > 100
    asked += ["Which room has the fewest switched-on lamps?"]
    assert [question for question in asked if speaks_of_time(question)] == []


@pytest.mark.parametrize(
    "question",
    [
        "Where did I leave my phone?",
        "Who opened the window?",
        "What did you do this morning?",
        "Is the cup where it was yesterday?",
        "Which things has nobody touched?",
        "What was in the fridge at 10:15?",
        "How long was the stove on?",
        "Why was the door opened?",
        "Has the fridge been opened since noon?",
        *(it.question for it in past_library()),
    ],
)
def test_a_question_about_the_past_speaks_of_time(question: str) -> None:
    assert speaks_of_time(question)
    assert not wants_past(question, "auto", is_map=True)


def test_every_example_of_the_past_passes_the_gate(gate: Gate, lived_in: SceneInfo) -> None:
    reference = SceneRef.of(lived_in)
    for example in past_library():
        gate.run(example.cypher, reference)


def test_an_empty_answer_is_explained_by_the_names_of_the_present(store: SceneStore, lived_in: SceneInfo) -> None:
    occurring = Enumerator(store.replicas).of(lived_in)
    text = "MATCH (e:PastEvent {actor: 'bob'})-[:CHANGED]->(n:PastNode {class: '%s'}) RETURN e"
    assert causes(text % "cup", occurring) == ()
    assert "no node has class 'kup'" in causes(text % "kup", occurring)[0]

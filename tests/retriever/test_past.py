"""Questions about the past: when a prompt tells of it, what it tells, and the answers."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from scenecypher.db.gate import Gate, SceneRef
from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta, RemoveRelation
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Relation
from scenecypher.db.schema import PAST_PROPERTIES
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.history import declare_time
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.retriever.empty_answers import causes
from scenecypher.retriever.past_text import past_library, past_text
from scenecypher.retriever.prompt import ASK_FOR_PAST, PAST
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
    told, question = messages(server, 0)
    assert "(:PastFact)" in told
    assert "since_at" in told
    assert told.partition("TIMES\n")[2].startswith(
        """\
now: 2026-11-23T09:00:00+00:00
version 0: 2026-11-23T08:00:00+00:00
2 events up to version 2, from 2026-11-23T08:00:00+00:00 to 2026-11-23T09:00:00+00:00
actors: ann, robot
an action is text such as 'take cup'
"""
    )
    assert "Question: When was the book last moved" in told
    assert question == "Question: When was a cup last moved, and who moved it?"


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
    found = retriever.ask("Is a cup still at the place that is meant for it?", lived_in)
    assert ASK_FOR_PAST in messages(server, 0)[0]
    assert "(:PastFact)" not in messages(server, 0)[0]
    shown, asked = messages(server, 1)
    assert "(:PastFact)" in shown
    assert ASK_FOR_PAST not in shown
    assert asked == "Question: Is a cup still at the place that is meant for it?"
    assert found.rows == (("cup_7011", "2026-11-23T09:00:00.000000000+00:00", "robot"),)
    retriever, server = ready(["PAST", "MATCH (n:Object) RETURN n.name"])
    assert retriever.ask("Is a cup on the table?", scene).outcome == "answered"
    assert ASK_FOR_PAST not in messages(server, 0)[0]
    assert NO_QUERY in messages(server, 1)[-1]


def test_the_past_is_asked_for_beside_the_attempts(ready: Ready, lived_in: SceneInfo) -> None:
    """The kind: a request for the past was taken for a repeated empty reply, and an attempt was lost by it."""
    question = "Is a cup still at the place that is meant for it?"
    retriever, server = ready(["", "PAST", MOVED], attempts=2)
    assert retriever.ask(question, lived_in).rows
    assert "(:PastFact)" in messages(server, 2)[0]
    retriever, server = ready(["PAST", MOVED], attempts=1)
    assert retriever.ask(question, lived_in).rows
    wrong = "MATCH (e:PastEvnt) RETURN e"
    retriever, server = ready(["PAST", wrong, wrong, MOVED])
    assert retriever.ask(question, lived_in).rows
    assert "(:PastFact)" in messages(server, 3)[0], "the past is not forgotten with the copies"
    assert not any("PastEvnt" in text.partition("refused twice")[0] for text in messages(server, 3))


def test_a_model_that_asks_for_nothing_but_the_past_is_refused(ready: Ready, lived_in: SceneInfo) -> None:
    retriever, server = ready(["PAST"] * 5)
    assert retriever.ask("Is a cup on the table?", lived_in).outcome == "refused"
    assert NO_QUERY in messages(server, 2)[-1]
    retriever, server = ready(["PAST", MOVED])
    assert retriever.ask("When was a cup moved?", lived_in).rows
    assert NO_QUERY in messages(server, 1)[-1], "one that is shown the past already is not asked the same once more"


@pytest.mark.parametrize(
    "question", ["Is the cookie still in its jar?", "Which things are no longer where they belong?", "Who holds a cup?"]
)
def test_a_question_whose_words_tell_nothing_is_offered_the_past(
    ready: Ready, lived_in: SceneInfo, question: str
) -> None:
    """The kind: a list of words decided, so that a question in other words could not be answered."""
    retriever, server = ready([PAST, MOVED])
    assert retriever.ask(question, lived_in).rows
    assert ASK_FOR_PAST in messages(server, 0)[0]
    assert "(:PastFact)" not in messages(server, 0)[0]
    assert "(:PastFact)" in messages(server, 1)[0]


@pytest.mark.parametrize(
    "question",
    [
        "Is the cookie still where it was put?",
        "Who broke the cup?",
        "Where did I leave my phone?",
        "How often has the door opened?",
        "What is on the table that had nothing on it at 10:15?",
    ],
)
def test_a_question_in_the_past_tense_is_shown_it_at_once(ready: Ready, lived_in: SceneInfo, question: str) -> None:
    """The kind: a small model answered 14 of 20 such questions with what is so now, and never asked."""
    retriever, server = ready([MOVED])
    assert retriever.ask(question, lived_in).rows
    assert "(:PastFact)" in messages(server, 0)[0]
    assert ASK_FOR_PAST not in messages(server, 0)[0]


def test_worked_examples_name_a_thing_as_the_question_does(ready: Ready, lived_in: SceneInfo) -> None:
    for question, has_name in (("How long was tablelamp_28 on?", True), ("How long was the lamp on at 10:15?", False)):
        retriever, server = ready([MOVED])
        retriever.ask(question, lived_in)
        told = messages(server, 0)[0]
        assert ("Question: How long was lamp_7 on?" in told) == has_name
        assert ("{name: 'lamp_7'}" in told) == has_name
        assert ("{class: 'lamp'}" in told) != has_name


@pytest.mark.parametrize(
    "question", ["Which room has the fewest switched-on lamps?", "Who opened the window, and when?"]
)
def test_where_nothing_happened_no_prompt_speaks_of_a_past(
    store: SceneStore, ready: Ready, scene: SceneInfo, question: str
) -> None:
    """The kind: words such as "has … switched" brought the whole past into a scene without an event."""
    with store.lease(scene.name) as copy:
        store.commit(copy, OPEN, actor="robot", action="open fridge")
    with store.lease(scene.name) as again:
        for asked in (scene, again):
            retriever, server = ready(["MATCH (n:Object) RETURN n.name"])
            retriever.ask(question, asked)
            assert "past" not in messages(server, 0)[0].casefold()


def test_the_name_of_who_acted_is_a_sign_of_the_past(ready: Ready, lived_in: SceneInfo) -> None:
    """Ann is nobody in the scene as it is; a robot, who acted too, may be asked about as it is now."""
    for question, is_shown in (("Is the cup still where Ann put it?", True), ("What does the robot hold?", False)):
        retriever, server = ready([MOVED])
        retriever.ask(question, lived_in)
        told = messages(server, 0)[0]
        assert ("(:PastFact)" in told, ASK_FOR_PAST in told) == (is_shown, not is_shown)


def test_the_part_about_the_past_is_short(gate: Gate, lived_in: SceneInfo) -> None:
    """It had 5,239 characters, most of them about fields of runs and steps that few questions need."""
    told = past_text(gate, lived_in)
    assert len(told) < 3_500
    assert all(name in told for names in PAST_PROPERTIES.values() for name in names if name not in {"began", "ended"})


def test_every_example_of_the_past_passes_the_gate(gate: Gate, lived_in: SceneInfo) -> None:
    reference = SceneRef.of(lived_in)
    for example in (*past_library(), *past_library(by_name=True)):
        gate.run(example.cypher, reference)


def test_an_empty_answer_is_explained_by_the_names_of_the_present(store: SceneStore, lived_in: SceneInfo) -> None:
    occurring = Enumerator(store.replicas).of(lived_in)
    text = "MATCH (e:PastEvent {actor: 'bob'})-[:CHANGED]->(n:PastNode {class: '%s'}) RETURN e"
    assert causes(text % "cup", occurring) == ()
    assert "no node has class 'kup'" in causes(text % "kup", occurring)[0]

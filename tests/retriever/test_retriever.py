"""Questions to a model with every known error, on a real database: repaired, or refused clearly."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from scenecypher.chat.model import RETRY_TEMPERATURE, Usage
from scenecypher.db.gate import Gate, Limits
from scenecypher.db.gate.syntax import parse
from scenecypher.db.graph.delta import ChangeList, Delta
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, ModelUnavailable, QueryRefused, SceneReplaced
from scenecypher.retriever import prompt
from scenecypher.retriever.events import Attempted, Hinted, Prompted, RetrievalEnded
from scenecypher.retriever.retrieval import Declined, QueryExecuted, Rejected, retrieval_document
from scenecypher.retriever.retriever import QUERY_TOKENS, Retriever
from tests.retriever.conftest import Ready, home, put_home
from tests.scripted_model import Fail, Say, ScriptedModel

QUESTION = "What is on the table?"
GOOD = "MATCH (o:Object)-[:ON]->(:Asset {class: 'table'}) RETURN o.name AS object ORDER BY object"
ROWS = (("cup_7011",), ("plate_7012",))


def messages(server: ScriptedModel, request: int) -> list[str]:
    return [message["content"] for message in server.requests[request]["messages"]]


def test_a_question_is_answered_through_cypher(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([GOOD])
    found = retriever.ask(QUESTION, scene)
    assert (found.outcome, found.columns, found.rows) == ("answered", ("object",), ROWS)
    assert (found.cypher, found.version, found.truncated) == (GOOD, 0, None)
    assert found.answer == "cup_7011, plate_7012"
    assert (found.usage, found.source) == (Usage(11, 7), "live")
    assert len(server.requests) == 1
    assert server.requests[0]["temperature"] == 0


FORMS = {
    "fenced": f"```cypher\n{GOOD}\n```",
    "fenced without a language": f"```\n{GOOD}\n```",
    "prose around": f"Sure! This query does it:\n\n```cypher\n{GOOD}\n```\nIt looks at the table.",
    "prose without a fence": f"Here is the query:\n{GOOD}",
    "thoughts": f"<think>The table... MATCH (n) DELETE n? No.</think>\n{GOOD}",
    "a semicolon": f"{GOOD};",
    "a comment": f"// what lies there\n{GOOD}",
}


@pytest.mark.parametrize("reply", FORMS.values(), ids=FORMS)
def test_a_query_is_extracted_from_its_wrapping(ready: Ready, scene: SceneInfo, reply: str) -> None:
    retriever, server = ready([reply])
    assert retriever.ask(QUESTION, scene).rows == ROWS
    assert len(server.requests) == 1


ERRORS = {
    "two statements": (f"{GOOD}; MATCH (n) RETURN n", "one query"),
    "an unknown label": ("MATCH (f:Fridge) RETURN f.name", "did you mean `.class = 'fridge'`?"),
    "an unknown relation type": ("MATCH (o)-[:INSIDES]->(t) RETURN o.name", "`INSIDE`"),
    "an unknown property": ("MATCH (o:Object) RETURN o.dirty", "'dirty' IN n.states"),
    "a syntax error": ("MATCH (o:Object RETURN o.name", "refused"),
    "a write": ("MATCH (n) DETACH DELETE n", "only read"),
    "a hidden write": ("MATCH (o:Object) CALL { CREATE (x:Object) } RETURN o.name", "refused"),
    "a file": ("LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "file"),
    "a procedure": ("CALL db.labels() YIELD label RETURN label", "refused"),
    "a parameter": ("MATCH (o:Object {name: $name}) RETURN o.name", "refused"),
    "an error while running": ("MATCH (o:Object) RETURN 1 / (size(o.name) - size(o.name)) AS x", "refused"),
    "prose alone": ("I would look at the table and list what lies there.", "refused"),
    "SQL": ("SELECT name FROM objects", "refused"),
    "JSON": ('{"cypher": "MATCH"}', "refused"),
    "nothing": ("", "no query"),
    "a cut-off": (Say("", finish="length"), "be briefer"),
}


@pytest.mark.parametrize(("reply", "told"), ERRORS.values(), ids=ERRORS)
def test_a_refusal_is_sent_back_and_repaired(ready: Ready, scene: SceneInfo, reply: Any, told: str) -> None:
    retriever, server = ready([reply, f"```cypher\n{GOOD}\n```"])
    found = retriever.ask(QUESTION, scene)
    assert (found.outcome, found.rows, found.cypher) == ("answered", ROWS, GOOD)
    first, second = found.attempts
    assert isinstance(first.ending, Rejected)
    assert isinstance(second.ending, QueryExecuted)
    complaint = messages(server, 1)[-1]
    assert told in complaint
    assert first.ending.message in complaint
    assert QUESTION in complaint
    assert messages(server, 1)[:2] == messages(server, 0), "the conversation goes on"
    if first.cypher:
        assert first.cypher in messages(server, 1)[2]
    assert found.usage == Usage(22, 14)


def test_a_reply_without_end_is_cut_off_and_told_so(ready: Ready, scene: SceneInfo) -> None:
    """The kind: nothing bounded a reply; half a query was refused as a mistake of its syntax, and shown again."""
    half, whole = f"```cypher\n{GOOD[:40]}", f"```cypher\n{GOOD}\n```\nThis query looks at the"
    thinking = "<think>The table, which"
    retriever, server = ready([Say(half, finish="length"), Say(thinking, finish="length"), GOOD], verifier="words")
    found = retriever.ask(QUESTION, scene)
    assert [request.get("max_tokens") for request in server.requests] == [
        QUERY_TOKENS,
        4 * QUERY_TOKENS,
        16 * QUERY_TOKENS,
        None,
    ]
    assert [one.ending.code for one in found.attempts if isinstance(one.ending, Rejected)] == ["cut_off"] * 2
    assert "cut off at the length limit; be briefer" in messages(server, 1)[-1]
    assert not any(GOOD[:40] in text for text in messages(server, 1)[2:])
    retriever, server = ready([Say(whole, finish="length")])
    assert retriever.ask(QUESTION, scene).rows == ROWS


def test_a_query_is_parsed_once_for_hints_and_gate(ready: Ready, scene: SceneInfo) -> None:
    """The kind: arrows, mistakes and the gate each parsed the same text anew."""
    retriever, _ = ready([GOOD])
    parse.cache_clear()
    assert retriever.ask(QUESTION, scene).rows == ROWS
    assert parse.cache_info().misses == 1


def test_nothing_that_was_tried_changed_the_scene(ready: Ready, store: SceneStore) -> None:
    scene = put_home(store)
    writes = ["MATCH (n) DETACH DELETE n", "CREATE (n:Object {name: 'x'})", "MATCH (n) SET n.name = 'x' RETURN n", GOOD]
    retriever, _ = ready(writes)
    assert retriever.ask(QUESTION, scene).rows == ROWS
    assert store.load(scene.name).graph == home()


def test_the_budget_of_attempts_is_kept(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([f"MATCH (n:Wrong{i}) RETURN n" for i in range(9)], attempts=3)
    found = retriever.ask(QUESTION, scene)
    assert (found.outcome, found.cypher, found.rows, len(found.attempts)) == ("refused", None, (), 3)
    assert "after 3 attempts" in found.answer
    assert "Wrong2" in found.answer
    assert len(server.requests) == 3


def test_a_repeated_query_is_told_and_not_the_end(ready: Ready, scene: SceneInfo) -> None:
    """A small model writes its refused query again, word for word: it is told so, and asked less strictly."""
    bad = "MATCH (n:Wrong) RETURN n"
    retriever, server = ready([bad, f"```cypher\n  {bad} ;\n```", GOOD])
    found = retriever.ask(QUESTION, scene)
    assert (found.outcome, len(server.requests)) == ("answered", 3)
    assert found.attempts[1].repeats == 1
    assert isinstance(found.attempts[1].ending, Rejected)
    assert "was refused twice: no label `Wrong`" in server.requests[2]["messages"][-1]["content"]
    assert [len(request["messages"]) for request in server.requests] == [2, 4, 2]
    assert [request["temperature"] for request in server.requests] == [0, RETRY_TEMPERATURE, 1]


def test_an_arrow_that_the_scene_lacks_is_turned_and_told(ready: Ready, scene: SceneInfo) -> None:
    """A direction that no relation of the scene has is no question: the answer comes at once, and says so."""
    retriever, server = ready(
        ["MATCH (o:Object)<-[:ON]-(t:Asset {class: 'table'}) RETURN o.name AS object ORDER BY object"]
    )
    found = retriever.ask(QUESTION, scene)
    assert (sorted(found.rows), len(server.requests)) == ([*ROWS], 1)
    told = "(:Asset)-[:ON]->(:Object) does not occur, so its arrow was turned: (:Object)-[:ON]->(:Asset)"
    assert found.attempts[0].turned == (told,)
    assert found.answer.endswith(f"\n({told})")


def test_an_unknown_property_is_told_with_those_that_occur_and_the_way_to_say_no(
    ready: Ready, scene: SceneInfo
) -> None:
    retriever, server = ready(["MATCH (o:Object) RETURN o.owner AS owner", "UNANSWERABLE: nobody owns anything here"])
    found = retriever.ask("Whose is the cup?", scene)
    assert (found.outcome, found.answer) == ("unanswerable", "nobody owns anything here")
    told = server.requests[1]["messages"][-1]["content"]
    assert "The properties here are id, name, class, states, affordances" in told
    assert "if none of them holds the answer, reply with UNANSWERABLE: and the reason." in told


def test_a_list_that_is_searched_as_a_text_is_refused(ready: Ready, scene: SceneInfo) -> None:
    """A test that is never true, so that its NOT is not either: told before it answers wrongly."""
    retriever, server = ready(["MATCH (o:Object) WHERE o.states CONTAINS 'dirty' RETURN count(o) AS dirty", GOOD])
    found = retriever.ask(QUESTION, scene)
    assert isinstance(found.attempts[0].ending, Rejected)
    assert "states is a list; test it with 'dirty' IN n.states" in server.requests[1]["messages"][-1]["content"]


def test_blanks_within_quotes_make_another_query(ready: Ready, scene: SceneInfo) -> None:
    bad = "MATCH (n:Wrong {name: 'a  b'}) RETURN n"
    retriever, server = ready([bad, bad.replace("a  b", "a b"), GOOD])
    assert (retriever.ask(QUESTION, scene).outcome, len(server.requests)) == ("answered", 3)


def test_empty_replies_use_up_the_attempts(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready(["", "", GOOD], attempts=2)
    assert retriever.ask(QUESTION, scene).outcome == "refused"
    assert len(server.requests) == 2


def test_an_empty_result_is_hinted_at_once(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([GOOD.replace("'table'", "'Table'"), GOOD])
    found = retriever.ask(QUESTION, scene)
    assert found.rows == ROWS
    assert "no (:Asset) has class 'Table' (did you mean 'table'?)" in messages(server, 1)[-1]


def test_a_relation_that_occurs_in_neither_direction_is_hinted(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready(["MATCH (p:Place)-[:ON]->(d:Agent) RETURN d.name AS agent", GOOD])
    assert retriever.ask(QUESTION, scene).rows == ROWS
    assert (
        "(:Place)-[:ON]->(:Agent) does not occur; what occurs is (:Object)-[:ON]->(:Asset)" in messages(server, 1)[-1]
    )


def test_a_zero_count_of_an_unknown_class_is_hinted(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready(
        ["MATCH (n {class: 'cups'}) RETURN count(n) AS n", "MATCH (n {class: 'cup'}) RETURN count(n) AS n"]
    )
    assert retriever.ask("How many cups are there?", scene).rows == ((2,),)


@pytest.mark.parametrize("row", ["count(k) > 0 AS any, collect(k.name) AS names", "count(k) AS n"])
def test_a_row_that_says_no_is_an_answer(ready: Ready, scene: SceneInfo, row: str) -> None:
    """A fault of this kind takes an answer for a failure: the question was asked again, for thousands of tokens."""
    retriever, server = ready([f"OPTIONAL MATCH (k {{class: 'unicorn'}}) RETURN {row}", GOOD])
    found = retriever.ask("Is there a unicorn anywhere?", scene)
    assert (found.outcome, len(found.rows), len(server.requests)) == ("answered", 1, 1)


def test_a_row_that_says_no_to_a_word_of_another_spelling_is_asked_for_again(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready(
        [f"OPTIONAL MATCH (k {{class: '{name}'}}) RETURN count(k) > 0 AS any" for name in ("Cup", "cup")]
    )
    assert retriever.ask("Is there a cup?", scene).rows == ((True,),)
    assert len(server.requests) == 2


def test_a_repeated_empty_answer_is_accepted(ready: Ready, scene: SceneInfo) -> None:
    none = "MATCH (n {class: 'unicorn'}) RETURN n.name AS name"
    retriever, server = ready([none, none, GOOD])
    found = retriever.ask("Where is the unicorn?", scene)
    assert (found.outcome, found.rows, found.columns, found.answer) == ("answered", (), ("name",), "nothing was found")
    assert (len(server.requests), found.attempts[1].repeats) == (2, 1)


def test_an_empty_answer_without_causes_is_accepted(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready(["MATCH (o:Object)-[:ON]->(:Asset {class: 'fridge'}) RETURN o.name AS object"])
    assert retriever.ask("What is on the fridge?", scene).rows == ()
    assert len(server.requests) == 1


def test_only_one_hint_is_sent(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([f"MATCH (n {{class: 'unicorn{i}'}}) RETURN n.name" for i in range(4)])
    assert retriever.ask("Where is the unicorn?", scene).outcome == "answered"
    assert len(server.requests) == 2


def test_a_refused_repair_leaves_the_empty_answer(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready(
        ["MATCH (n {class: 'unicorn'}) RETURN n.name AS name", "MATCH (n:Unicorn) RETURN n"], attempts=2
    )
    found = retriever.ask("Where is the unicorn?", scene)
    assert (found.outcome, found.columns, found.rows) == ("answered", ("name",), ())


def test_a_model_may_say_that_the_schema_has_no_answer(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready(["<think>prices?</think>UNANSWERABLE: the schema has no prices."])
    found = retriever.ask("What does the fridge cost?", scene)
    assert (found.outcome, found.answer, found.cypher) == ("unanswerable", "the schema has no prices.", None)
    assert isinstance(found.attempts[0].ending, Declined)
    assert len(server.requests) == 1


def test_declining_after_an_empty_reply_is_no_repetition(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready(["", "UNANSWERABLE: no prices"])
    assert retriever.ask("What does the fridge cost?", scene).outcome == "unanswerable"


def test_a_service_failure_is_an_error(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready([Fail(400, "no")])
    with pytest.raises(ModelUnavailable):
        retriever.ask(QUESTION, scene)


def test_a_deleted_scene_is_an_error(ready: Ready, store: SceneStore) -> None:
    scene = put_home(store)
    retriever, _ = ready([GOOD])
    store.delete(scene.name)
    with pytest.raises(SceneReplaced):
        retriever.ask(QUESTION, scene)


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_refused(ready: Ready, scene: SceneInfo, question: str) -> None:
    retriever, server = ready([GOOD])
    with pytest.raises(InputError, match="empty"):
        retriever.ask(question, scene)
    assert server.requests == []


def test_truncation_is_reported(ready: Ready, scene: SceneInfo, store: SceneStore) -> None:
    retriever, _ = ready(["MATCH (n) RETURN n.name AS name ORDER BY name"])
    limited = Retriever(retriever.model, Gate(store.database, limits=Limits(rows=2)), retriever.enumerator)
    found = limited.ask("What is there?", scene)
    assert len(found.rows) == 2
    assert found.truncated is not None
    assert found.truncated in found.answer


# --- the prompt


def test_the_prompt_holds_the_schema_and_never_the_graph(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready(["MATCH (n:Wrong) RETURN n", "MATCH (n {class: 'unicorn'}) RETURN n", GOOD])
    retriever.ask(QUESTION, scene)
    said = "\n".join(messages(server, 2))
    for word in ("(:Object)-[:INSIDE]->(:Place)", "fridge", "dirty", "grabbable", "read"):
        assert word in said
    assert "id-70" not in said, "no node is listed"
    assert "CLOSE]->(:Entity) 2" in said, "CLOSE is counted"
    assert not [secret for secret in (scene.key, scene.name, "version") if secret in said]


def test_the_same_home_in_two_scenes_is_the_same_prompt(ready: Ready, store: SceneStore) -> None:
    retriever, server = ready([GOOD, "MATCH (n:Wrong) RETURN n", GOOD, "MATCH (n:Wrong) RETURN n"][::-1])
    for scene in (put_home(store), put_home(store)):
        retriever.ask(QUESTION, scene)
    first, second = server.requests[:2], server.requests[2:]
    assert json.dumps(first) == json.dumps(second)


def test_examples_are_chosen_by_the_question(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([GOOD, GOOD], examples=1)
    retriever.ask(QUESTION, scene)
    assert messages(server, 0)[0].count("Question:") == 1
    assert "What is on the table?" in messages(server, 0)[0]
    none, bare = ready([GOOD], examples=0)
    none.ask(QUESTION, scene)
    assert "Question:" not in messages(bare, 0)[0]


def test_the_schema_form_can_be_set(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([GOOD], form="json")
    retriever.ask(QUESTION, scene)
    assert '"relations":{' in messages(server, 0)[0]


def test_zero_attempts_are_refused() -> None:
    from scenecypher.retriever.retriever import Options

    with pytest.raises(InputError, match="at least 1"):
        Options(attempts=0)


# --- streams, documents, concurrency


def test_the_stream_has_an_event_for_each_step(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready(["MATCH (n:Wrong) RETURN n", GOOD.replace("'table'", "'Table'"), GOOD])
    events = list(retriever.stream(QUESTION, scene))
    assert [type(event) for event in events] == [Prompted, Attempted, Attempted, Hinted, Attempted, RetrievalEnded]
    assert isinstance(events[0], Prompted)
    assert "fridge" in events[0].schema


def test_a_retrieval_is_plain_json(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready(["MATCH (n:Wrong) RETURN n", GOOD])
    document = retrieval_document(retriever.ask(QUESTION, scene))
    assert json.loads(json.dumps(document)) == document
    assert document["rows"] == [["cup_7011"], ["plate_7012"]]
    assert [list(attempt)[-1] for attempt in document["attempts"]] == ["refusal", "rows"]


def test_the_retriever_is_thread_safe(ready: Ready, scene: SceneInfo) -> None:
    def script(request: dict[str, Any]) -> str:
        kind = request["messages"][-1]["content"].rsplit(" ", 1)[1].rstrip("?")
        return f"MATCH (n {{class: '{kind}'}}) RETURN '{kind}' AS kind, count(n) AS n"

    retriever, _ = ready(script)
    kinds = ["cup", "plate", "fridge", "table"] * 6
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda kind: retriever.ask(f"How many {kind}?", scene), kinds)
    assert [one.rows[0] for one in found] == [(kind, 2 if kind == "cup" else 1) for kind in kinds]


def test_a_question_after_an_action_sees_its_effects(ready: Ready, store: SceneStore) -> None:
    scene = put_home(store)
    retriever, server = ready([GOOD, GOOD])
    retriever.ask(QUESTION, scene)
    opened = Delta.of([ChangeList("id-7004", "states", ("open",), ("closed",))])
    store.commit(scene, opened, actor="t", action="open")
    retriever.ask(QUESTION, scene)
    first, second = (messages(server, number)[0] for number in range(2))
    assert ", open 1" not in first
    assert ", open 1" in second, "an own commit is known at once"


def test_another_scene_is_never_read(ready: Ready, store: SceneStore) -> None:
    scene, other = put_home(store), put_home(store)
    retriever, _ = ready(["MATCH (n) RETURN count(n) AS n", "MATCH (n) WHERE n.scene <> '' RETURN n", GOOD])
    assert retriever.ask("How many nodes?", scene).rows == ((9,),)
    assert other.key != scene.key
    refused = retriever.ask("And in other scenes?", scene).attempts[0].ending
    assert isinstance(refused, Rejected)
    assert scene.key not in refused.message


def test_refusals_are_errors_of_the_model(scene: SceneInfo, gate: Gate, store: SceneStore) -> None:
    from scenecypher.retriever.retrieval import SceneReader

    with pytest.raises(QueryRefused, match="objects have `class`: did you mean"):
        SceneReader(gate, Enumerator(store.replicas), scene).run("MATCH (f:Fridge) RETURN f")


def test_a_prompt_speaks_of_furniture_only_where_there_is_some() -> None:
    """The kind: a grid of balls and keys was told that a question about things is about furniture too."""
    told = [prompt.code_writer("", (), (), has_furniture=it).text for it in (True, False)]
    assert [prompt.KINDS_OF_THINGS in text for text in told] == [True, False]
    assert "urniture" not in told[1].replace("its places, furniture, objects and agents", "")
    assert prompt.THINGS in prompt.code_writer("", (), has_furniture=False).text, "the papers' prompt is as it was"

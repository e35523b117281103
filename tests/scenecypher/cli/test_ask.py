"""`scenecypher ask` and what a model is shown, at the command line, with a scripted server as the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenecypher.chat import Scripted, ScriptedReply
from scenecypher.cli import query
from scenecypher.db.gate import Gate
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.retriever.retriever import Retriever
from tests.retriever.conftest import put_home
from tests.scenecypher.cli.conftest import RunCommand, Serve
from tests.scripted_model import Fail

QUESTION = "What is on the table?"
GOOD = "MATCH (o:Object)-[:ON]->(:Asset {class: 'table'}) RETURN o.name AS object ORDER BY object"


@pytest.fixture(scope="module")
def home(store: SceneStore) -> SceneInfo:
    return put_home(store)


def test_a_question_shows_its_cypher_and_rows(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model([GOOD])
    said = command("ask", home.name, QUESTION, "--rows")
    assert said.code == 0
    lines = [line.rstrip() for line in said.out.splitlines()]
    assert lines[:4] == ["object", "cup_7011", "plate_7012", GOOD]
    assert "2 rows at version 0, 1 attempt" in lines[4]
    assert "18 tokens" in lines[4]
    assert "scripted" not in said.out, "these replies came from a service"


def test_the_answer_is_a_sentence_made_of_the_rows(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    server = model([GOOD, "A cup and a plate are on the table."])
    ran = command("ask", home.name, QUESTION)
    assert ran.code == 0
    lines = [line.rstrip() for line in ran.out.splitlines()]
    assert lines[:5] == ["A cup and a plate are on the table.", "object", "cup_7011", "plate_7012", GOOD]
    assert "36 tokens" in lines[5]
    assert f"```cypher\n{GOOD}\n```\ncup_7011, plate_7012" in server.requests[1]["messages"][1]["content"]


def test_without_a_sentence_the_rows_stay(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model([GOOD, Fail(400, "no more")])
    ran = command("ask", home.name, QUESTION)
    assert ran.code == 0
    assert ran.out.split()[:3] == ["object", "cup_7011", "plate_7012"]


def test_a_repair_is_shown_as_it_happens(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model(["MATCH (t:Table) RETURN t", GOOD.replace("'table'", "'Table'"), GOOD])
    said = command("ask", home.name, QUESTION)
    assert (said.code, "attempt 1: MATCH (t:Table) RETURN t" in said.err) == (0, True)
    assert "refused: no label `Table`" in said.err
    assert "attempt 2 found nothing: no (:Asset) has class 'Table' (did you mean 'table'?)" in said.err
    assert "3 attempts" in said.out


def test_a_question_that_fails_exits_with_1(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model(["MATCH (t:Table) RETURN t", "MATCH (t:Tables) RETURN t"])
    said = command("ask", home.name, QUESTION, "--attempts", "2")
    assert said.code == 1
    assert said.out == ""
    assert "refused: no query was accepted after 2 attempts" in said.err


def test_a_question_without_an_answer_exits_with_1(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model(["UNANSWERABLE: there are no prices"])
    ran = command("ask", home.name, "What does it cost?")
    assert (ran.code, "can't be answered: there are no prices" in ran.err) == (1, True)


def test_json_holds_everything(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model(["MATCH (t:Table) RETURN t", GOOD])
    said = command("ask", home.name, QUESTION, "--json")
    assert said.code == 0
    document = json.loads(said.out)
    assert (document["outcome"], document["cypher"], document["source"]) == ("answered", GOOD, "live")
    assert document["attempts"][0]["code"] == "label"


def test_a_verifier_sums_up(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model([GOOD, "A cup and a plate."])
    ran = command("ask", home.name, QUESTION, "--verifier", "paper")
    assert (ran.code, "A cup and a plate." in ran.out) == (0, True)


def test_many_questions_are_a_line_each(home: SceneInfo, model: Serve, command: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"question": QUESTION, "id": 7}) + "\n\n" + '{"question": "What does it cost?"}\n')
    model(lambda request: GOOD if QUESTION in request["messages"][-1]["content"] else "UNANSWERABLE: no prices")
    ran = command("ask", home.name, "--file", str(file), "--json")
    assert ran.code == 0
    first, second = map(json.loads, ran.out.splitlines())
    assert (first["ok"], first["question"], first["rows"]) == (True, QUESTION, [["cup_7011"], ["plate_7012"]])
    assert (second["ok"], second["outcome"], second["answer"]) == (False, "unanswerable", "no prices")


def test_a_question_that_could_not_be_asked_stops_no_other(
    home: SceneInfo, model: Serve, command: RunCommand, tmp_path: Path
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(f'{{"question": "unicorns"}}\n{{"question": "{QUESTION}"}}\n')
    model(lambda request: Fail(400, "no") if "unicorns" in request["messages"][-1]["content"] else GOOD)
    ran = command("ask", home.name, "--file", str(file), "--workers", "1")
    assert ran.code == 2
    first, second = map(json.loads, ran.out.splitlines())
    assert (first["outcome"], second["ok"]) == ("failed", True)


def test_a_bad_line_is_told_before_anything_is_asked(
    home: SceneInfo, model: Serve, command: RunCommand, tmp_path: Path
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(f'{{"question": "{QUESTION}"}}\n{{"cypher": "x"}}\n')
    server = model([GOOD])
    ran = command("ask", home.name, "--file", str(file))
    assert (ran.code, "line 2: no text under 'question'" in ran.err) == (2, True)
    assert server.requests == []


def test_a_graph_can_be_read_as_text(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model(["On the table are a cup and a plate."])
    ran = command("ask", home.name, QUESTION, "--retrieval", "text")
    assert (ran.code, "a cup and a plate" in ran.out) == (0, True)


def test_a_doubt_is_shown(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model(["MATCH (n {class: 'cup'}) RETURN n.name AS cup", "MATCH (n {class: 'cup'}) RETURN count(n) AS n"])
    ran = command("ask", home.name, "How many cups?", "--checks")
    assert (ran.code, "attempt 1 seems wrong: the question asks for a number" in ran.err) == (0, True)


@pytest.mark.parametrize("options", [["--verifier", "maybe"], ["--attempts", "0"], ["--schema-form", "yaml"]])
def test_bad_options_exit_with_2(command: RunCommand, home: SceneInfo, options: list[str]) -> None:
    assert command("ask", home.name, QUESTION, *options).code == 2


def test_scripted_replies_are_told_in_plain_sight(
    home: SceneInfo, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Scripted([ScriptedReply((QUESTION,), GOOD)])
    retriever = Retriever(script, Gate(database), Enumerator(Replicas(database)))
    query.show_retrieval(query.final_retrieval(retriever.stream(QUESTION, home)))
    assert capsys.readouterr().out.startswith("scripted replies: a person wrote this Cypher")


def test_the_schema_is_what_a_model_is_told(home: SceneInfo, command: RunCommand) -> None:
    out = command("scenes", "schema", home.name).out
    assert "(:Object)-[:ON]->(:Asset) 2" in out
    assert "id-70" not in out
    assert command("scenes", "schema", home.name, "--json").json["classes"]["Object"]["cup"] == 2

"""The experiment `questions` through Inspect, with a mock, a cassette and the set's reference queries as models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log

from scenecypher.chat import Replaying
from scenecypher.cli.app import run_command_line as command
from scenecypher.errors import DatabaseUnavailable, InputError
from scenecypher.evaluation import questions as asking_questions
from scenecypher.evaluation.histories import load_questions as question_set
from scenecypher.evaluation.questions import questions, questions_result
from scenecypher.evaluation.result import ExperimentResult, Row
from scenecypher.evaluation.running import RunOptions, full_name, run_task
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.retriever.retrieval import SceneReader
from tests.evaluation.inspect_mock import mock_model
from tests.scripted_model import Fail, ScriptedModel, Step

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("server_settings")


def reply_with_reference(asked: str) -> str:
    """Reply with the question's reference query; to the first three with garbage, a wrong answer, a refusal."""
    question = asked.rpartition("Question: ")[2]
    number, found = next((at, one) for at, one in enumerate(question_set("babyai")) if one.question == question)
    wrong = {0: "I don't know.", 1: "MATCH (n:Object) RETURN count(n) AS number", 2: "UNANSWERABLE: no"}
    return wrong.get(number, f"```cypher\n{found.cypher}\n```")


def run_questions(model: Any, **arguments: Any) -> EvalLog:
    ids = tuple(one.id for one in question_set("babyai")[:4])
    return run_task(questions(data="babyai", **arguments), RunOptions(model, sample_ids=ids, at_once=4))


def total(found: ExperimentResult) -> Row:
    """Return the row of all questions."""
    return found.tables[0].rows[-1]


def counts(found: ExperimentResult) -> tuple[Any, ...]:
    """Return the numbers of questions, and of right, refused and failed answers."""
    row = total(found)
    return row.cells["right"].n, row.cells["right"].count, row.cells["refused"].value, row.failed


def test_a_model_is_scored_and_its_recorded_replies_score_the_same(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    log = run_questions(mock_model(reply_with_reference), record=str(tape), attempts=2)
    live = questions_result(log)
    assert (live.finished, live.provenance.replies, counts(live)) == (True, ("scripted",), (4, 1, 1, 0))
    assert live.provenance.arguments["attempts"] == 2
    again = questions_result(run_questions(None, replies=str(tape), attempts=2))
    assert again.tables[0].rows == live.tables[0].rows
    tape.write_text(tape.read_text("utf-8").replace('"scripted"', '"recorded"', 1), "utf-8")
    assert questions_result(run_questions(None, replies=str(tape), attempts=2)).provenance.model == "mockllm", (
        "whose replies they are"
    )
    cut = log.model_copy(update={"status": "cancelled", "samples": (log.samples or [])[:1]})
    found = questions_result(cut)
    assert (found.finished, found.provenance.wanted, total(found).note) == (False, 4, "not finished: 1 of 4 played"), (
        "a run that did not finish says so"
    )


def test_a_reply_missing_on_the_cassette_is_a_reported_failure(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_text('{"cassette": 1, "source": "recorded"}\n', encoding="utf-8")
    found = questions_result(run_questions(None, replies=str(tape)))
    assert (total(found).cells, total(found).failed, total(found).note) == ({}, 4, "not finished: 0 of 4 played")
    assert not found.finished
    assert "ended by ModelUnavailable" in found.notes[0]


def test_a_retried_sample_is_recorded_and_replayed_as_if_it_had_not_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenecypher.evaluation.attempts.PAUSE_S", 0.01)
    (question,) = question_set("babyai")[3:4]
    failing = [True]
    ask = asking_questions._ask_retriever

    def ask_failing(*told: Any) -> Any:
        found = ask(*told)
        if failing.pop():
            raise DatabaseUnavailable("gone", retryable=True)
        return found

    def run(**replies: Any) -> Row:
        failing[:] = [False, True]
        log = run_task(
            questions(data="babyai", attempts=1, **replies), RunOptions("openai/scripted", sample_ids=(question.id,))
        )
        assert failing == [], "tried twice"
        return total(questions_result(log))

    monkeypatch.setattr(asking_questions, "_ask_retriever", ask_failing)
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    tape = tmp_path / "tape.jsonl"
    with ScriptedModel([f"```cypher\n{question.cypher}\n```", "UNANSWERABLE: no"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        live = run(record=str(tape))
    assert (live.cells["right"].count, live.retried) == (1, 1)
    (exchange,) = Replaying(tape).tape.exchanges.values()
    assert (exchange.session, exchange.occurrence) == (question.id, 1)
    assert exchange.reply.text.startswith("```cypher"), "the second attempt takes the reply that was paid for"
    assert len(server.requests) == 1
    assert run(replies=str(tape)) == live


def reply_in_words(asked: str) -> str:
    """Reply with the gold answers in words, and to the first question with a wrong one."""
    question = asked.rpartition("Question: ")[2]
    number, found = next((at, one) for at, one in enumerate(question_set("babyai")) if one.question == question)
    return "nobody knows" if number == 0 else f"I see: {', '.join(str(cell) for row in found.rows for cell in row)}."


def test_a_model_that_reads_the_whole_graph_is_scored_by_its_words() -> None:
    found = questions_result(run_questions(mock_model(reply_in_words), retrieval="text"))
    assert counts(found) == (4, 3, 0, 0)
    assert found.provenance.arguments["retrieval"] == "text"
    with pytest.raises(InputError, match="no answers in words"):
        questions(replies="reference", retrieval="text")


def test_text2cypher_is_scored() -> None:
    pytest.importorskip("neo4j_graphrag", reason="neo4j-graphrag is not installed: pip install 'scenecypher[agents]'")
    prompts: list[str] = []

    def written(asked: str) -> str:
        prompts.append(asked)
        found = next(one for one in question_set("babyai") if one.question in asked)
        key = asked.partition("scene = '")[2].partition("'")[0]
        bound = f"MATCH (n:Place {{scene: '{key}'}}) UNWIND {found.rows} AS row RETURN DISTINCT row[0] AS answer"
        return {1: "no Cypher", 2: "CREATE (n) RETURN n"}.get(len(prompts), bound)

    log = run_task(
        questions(data="babyai", retrieval="text2cypher", limit=3), RunOptions(mock_model(written), at_once=1)
    )
    found = questions_result(log)
    assert counts(found) == (3, 1, 2, 0)
    assert found.provenance.tokens == 330
    assert all("NODE LABELS" in prompt and "every node has the property scene" in prompt for prompt in prompts)


def test_queries_of_an_experiment_have_the_settings_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENECYPHER_QUERY_ROWS", "1")
    scene = question_set("babyai")[0].scene
    pool = WorldPool()
    opened, info = pool.question_scene(scene)
    reader = SceneReader(opened.gate, opened.enumerator, info)
    assert reader.run("MATCH (n) RETURN n.id").truncated == "the first 1 rows; there are more"
    pool.close()


def test_the_command_scores_the_reference_queries(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--data", "grasif", "--limit", "3", "--log-dir", str(tmp_path / "logs")]
    assert command(["eval", "questions", *options]) == 0
    shown = capsys.readouterr().out
    assert "replies: reference; model: none" in shown
    assert "1.00 [0.44, 1.00]" in shown, "Wilson's interval of 3 of 3"
    assert list((tmp_path / "logs").glob("*.eval"))


def test_a_resumed_run_repeats_only_failed_questions(
    server_settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    asked, is_broken = list[str](), True

    def step(request: dict[str, Any]) -> Step:
        prompt = str(request["messages"][-1]["content"])
        asked.append(prompt.rpartition("Question: ")[2])
        return Fail(400, "out of order") if is_broken and len(asked) > 1 else reply_with_reference(prompt)

    resume = ["eval", "questions", "--workers", "1", "--resume"]
    with ScriptedModel(step) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        told = ["--data", "babyai", "--attempts", "1", "--limit", "3", "--record", "tape.jsonl", "--workers", "1"]
        assert command(["eval", "questions", "--model", "scripted", *told, "--json"]) == 2
        before = json.loads(capsys.readouterr().out)
        Path("tape.jsonl").rename("first.jsonl")
        is_broken, first = False, asked[:]
        asked.clear()
        (server_settings / "elsewhere").mkdir()
        monkeypatch.chdir("elsewhere")
        assert command([*resume, before["provenance"]["log"], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["tables"][0]["rows"][-1]["failed"] for one in (before, found)] == [2, 0]
    assert found["tables"][0]["rows"][-1]["cells"]["questions"]["value"] == 3
    assert sorted(asked) == sorted(first[1:]), "the first one stays as it was answered; Inspect orders the rest"
    assert (server_settings / "tape.jsonl").is_file(), "the rest of the replies, beside the first"
    assert command([*resume, before["provenance"]["log"], "--data", "grasif", "--limit", "5"]) == 2
    assert "leave --data and --limit out" in capsys.readouterr().err
    assert command(["eval", "augmentation", "--resume", before["provenance"]["log"]]) == 2
    assert "run `scenecypher eval questions --resume LOG`" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--data", "babyia"], "did you mean 'babyai'"),
        (["--replies", "x.jsonl", "--model", "openai/gpt-4o"], "leave --model and --record out"),
        (["--record", "x.jsonl"], "name one with --model"),
        (["--replies", "nowhere.jsonl"], "there is no such cassette"),
        (["--limit", "1", "--replies", __file__], f"error: {__file__}: line 1"),
        (["--model", "nosuchprovider/x"], "name the model as PROVIDER/NAME"),
    ],
)
def test_invalid_commands_are_refused_with_advice(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["eval", "questions", *words]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.slow
def test_inspects_command_runs_the_file(tmp_path: Path) -> None:
    words = ["eval", "evaluation/questions.py", "--model", "none", "-T", "replies=reference", "--limit", "1"]
    ended = subprocess.run(
        [str(Path(sys.executable).with_name("inspect")), *words, "--log-dir", str(tmp_path), "--display", "plain"],
        cwd=ROOT,
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (file,) = tmp_path.glob("*.eval")
    assert counts(questions_result(read_eval_log(str(file))))[0] == 1


def test_options_are_checked_and_models_get_a_provider() -> None:
    with pytest.raises(InputError, match="verifier can't be 'always'; give off"):
        questions(verifier="always")  # type: ignore[arg-type]
    assert (full_name("gpt-4o"), full_name("vllm/x"), full_name(None)) == ("openai/gpt-4o", "vllm/x", None)

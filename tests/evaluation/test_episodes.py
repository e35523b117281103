"""Whole episodes through Inspect, with programs for models: in parallel, resumed, and independent of one another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from inspect_ai.log import EvalLog

from scenecypher.cli.app import run_command_line as command
from scenecypher.cli.evaluate import result_of_log
from scenecypher.errors import InputError
from scenecypher.evaluation import babyai, grasif
from scenecypher.evaluation.episodes import episodes_result
from scenecypher.evaluation.experiment import Experiment
from scenecypher.evaluation.reporting.page import find_results
from scenecypher.evaluation.result import ExperimentResult, read_result
from scenecypher.evaluation.running import RunOptions, resume_task, run_task
from tests.oracle import lookplangraph, provider
from tests.scripted_model import Fail, Say, ScriptedModel, Step

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")

SMALL: Final[dict[str, Any]] = {"data": "behavior-1k", "wording": "goal", "limit": 2}
assert provider.PROGRAMS, "importing it makes the oracles known"
pytestmark = pytest.mark.usefixtures("server_settings")


def outcomes(found: ExperimentResult) -> dict[tuple[str, str], Any]:
    """Return each sample's trial without its seconds."""
    return {(one.id, one.method): one.model_dump(exclude={"seconds"}) for one in found.samples}


def make_result(made: Experiment, log: EvalLog) -> ExperimentResult:
    return episodes_result(log, made)


def test_episodes_are_independent() -> None:
    """Play rows in sequence, and in reverse order in parallel; one of them fails in each episode."""
    found = []
    for methods, at_once in (
        ("lookplangraph,lookplangraph+full-graph,lookplangraph+json-graph", 1),
        ("lookplangraph+json-graph,lookplangraph+full-graph,lookplangraph", 4),
    ):
        log = run_task(grasif.grasif(**SMALL, methods=methods), RunOptions("oracle/lookplangraph", at_once=at_once))
        found.append(episodes_result(log, grasif.grasif.plan(**SMALL, methods=methods)))
    first, second = found
    assert outcomes(first) == outcomes(second)
    assert first.provenance.replies == ("oracle",)
    (table,) = first.tables
    by_label = {row.label: row for row in table.rows}
    assert by_label["LookPlanGraph"].cells["sr"].count == 2
    assert by_label["LookPlanGraph"].cells["app"].value == 1.0
    assert by_label["LookPlanGraph"].cells["tpa"].n == 2
    unread = by_label["lookplangraph+json-graph"]
    assert (unread.failed, unread.cells) == (2, {}), "no score stands beside the published one"
    assert unread.note == "not finished: 0 of 2 played"
    assert table.published[0].label == "LLM-as-P"
    assert not first.finished


def test_traversals_are_judged_by_minigrid_and_questions_by_their_answer() -> None:
    options: dict[str, Any] = {"data": "numqa,trv1", "tables": "sg2-1,sg2-3", "methods": "sg2", "limit": 1}
    found = episodes_result(
        run_task(babyai.babyai(**options), RunOptions("oracle/sg2", at_once=2)), babyai.babyai.plan(**options)
    )
    assert len(found.samples) == 2, "a row that two tables share is played once"
    assert len(found.tables) == 4
    for table in found.tables:
        row = next(row for row in table.rows if row.method == "sg2")
        assert row.cells["success"].value == 1.0, table.key
        graph, cot = row.cells["graph"].value, row.cells["cot"].value
        assert isinstance(graph, float)
        assert isinstance(cot, float)
        assert 0 < graph < cot, "a scene's text is in the prompt of CoT"
    by_level = {table.key: table for table in found.derived}
    assert set(by_level) == {"sg2-1-numqa-iterations", "sg2-1-trv1-iterations"}, "SG2's figure 8"
    tokens = {one.table: one.tokens for one in found.samples}
    for level in ("numqa", "trv1"):
        (row,) = by_level[f"sg2-1-{level}-iterations"].rows
        steps = [cell.value for key, cell in row.cells.items() if key.startswith("iteration_")]
        assert sum(step for step in steps if isinstance(step, float)) == tokens[level], "each token is of one iteration"


def oracle_steps(wrong: Callable[[dict[str, Any]], bool] = lambda _: False) -> Callable[[dict[str, Any]], Step]:
    """Return LookPlanGraph's oracle for the protocol; if a request is `wrong`, it replies that the task is done."""

    def step(request: dict[str, Any]) -> Step:
        system, user = request["messages"][0]["content"], request["messages"][-1]["content"]
        if wrong(request):
            action = {"function_name": "done", "node": "x", "relation": None, "destination": None}
            return Say(json.dumps({"reason": "", "action": action}), usage=(50, 5))
        return Say(lookplangraph.reply(system, user), usage=(90, 10))

    return step


def test_right_and_wrong_episodes_over_http_are_scored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    tasks = grasif.grasif.plan(**SMALL).tables[0].tasks
    words = next(iter(grasif.grasif.plan(**SMALL).episodes())).task
    assert words == tasks[0]
    first: list[str] = []

    def is_second(request: dict[str, Any]) -> bool:
        instruction = str(request["messages"][-1]["content"]).partition("\n")[0]
        if not first:
            first.append(instruction)
        return instruction != first[0]

    options = ["--data", "behavior-1k", "--wording", "goal", "--limit", "2", "--workers", "1", "--log-dir", "logs"]
    with ScriptedModel(oracle_steps(is_second)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert command(["eval", "grasif", "--model", "scripted", "-m", "lookplangraph", *options]) == 0
    assert "replies: live; model: openai-api/openai/scripted" in capsys.readouterr().out
    (file,) = tmp_path.glob("logs-results/*.result.json")
    found = read_result(file)
    row = next(row for row in found.tables[0].rows if row.method == "lookplangraph")
    assert (row.cells["sr"].count, row.cells["sr"].n, row.failed) == (1, 2, 0)
    right = next(one for one in found.samples if one.success)
    assert right.tokens == 100 * right.figures["rounds"], "prompt and completion of each reply"
    assert row.cells["tpa"].value == pytest.approx(right.tokens / right.actions)
    assert found.provenance.tokens == sum(one.tokens for one in found.samples)
    assert found.finished


def test_a_resumed_run_repeats_only_failed_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    options, tape = {**SMALL, "methods": "lookplangraph"}, Path("tape.jsonl").resolve()
    answering, asked, broken = oracle_steps(), set[str](), True

    def step(request: dict[str, Any]) -> Step:
        asked.add(request["messages"][-1]["content"].partition("\n")[0])
        return Fail(400, "out of order") if broken and len(asked) > 1 else answering(request)

    with ScriptedModel(step, models=("stumbling",)) as server:  # Inspect caches the address of a model by its name
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        log = run_task(grasif.grasif(**options, record=str(tape)), RunOptions("stumbling", at_once=1))
        before = episodes_result(log, grasif.grasif.plan(**options))
        assert [one.success for one in before.samples] == [True, False]
        assert not before.finished
        lost = before.tables[0].rows[-1]
        assert (lost.failed, lost.cells, lost.note) == (1, {}, "not finished: 1 of 2 played")
        assert "out of order" in before.tables[0].notes[-1]
        file = Path(log.location.removeprefix("file://"))
        with pytest.raises(InputError, match="move it away"):
            resume_task(file, RunOptions())
        tape.rename("first.jsonl")
        broken, played = False, set(asked)
        asked.clear()
        after = episodes_result(resume_task(file, RunOptions()), grasif.grasif.plan(**options))
    assert [one.success for one in after.samples] == [True, True]
    assert after.finished
    assert after.provenance.run == before.provenance.run
    assert len(asked) == 1, "the first one stays as it was played"
    assert asked < played
    assert tape.is_file(), "the rest of the replies"
    (from_log,) = find_results([file], result_of_log).results
    assert from_log.tables == before.tables, "a log has what its result has"


def test_a_missing_database_is_reported_before_any_episode(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    for words in (["grasif", "--data", "sayplan-office", "--limit", "1"], ["questions", "--limit", "1"]):
        assert command(["eval", *words]) == 2
        assert "bolt://127.0.0.1:1" in capsys.readouterr().err
    assert not Path("logs").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["grasif", "--data", "grasif"], "choose all or some of sayplan-office"),
        (["grasif", "-m", "lookplangraph"], "name one with --model, or give recorded --replies"),
        (["dynamic", "-m", "lookplangraph-gt"], "lookplangraph-gt needs a model: name one with --model"),
        (["grasif", "-m", "llm+p"], "llm+p needs a model"),
        (["grasif", "-m", "symbolyc"], "did you mean 'symbolic'"),
        (["babyai-slm", "--limit", "1"], "name a model with --model"),
        (["grasif", "--replies", "x.jsonl", "--model", "openai/gpt-4o"], "leave --model and --record out"),
        (["grasif", "--resume", "nowhere.eval"], "give a .eval file"),
        (["grasif", "--resume", "x.eval", "--model", "gpt-4o", "--limit", "2"], "leave --model and --limit out"),
        (["dynamic", "--simulated"], "name one with --method, and a model with --model"),
        (["grasif", "--model", "x", "--record", "."], "exists; move it away"),
    ],
)
def test_invalid_commands_are_refused_with_advice(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["eval", *words]) == 2
    assert told in " ".join(capsys.readouterr().err.split())

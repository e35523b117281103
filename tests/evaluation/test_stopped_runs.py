"""Runs that something stopped, and that were resumed, have the table of an undisturbed run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any, Final, TypeAlias

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from scenecypher.cli.app import run_command_line as command
from scenecypher.cli.evaluate import result_of_log
from scenecypher.db.store.connection import Address
from scenecypher.evaluation.histories import load_questions
from scenecypher.evaluation.reporting.page import find_results
from tests.oracle import lookplangraph
from tests.proxy import proxied
from tests.scripted_model import Fail, ScriptedModel, Stall, Step

QUESTIONS: Final = load_questions("babyai")[:3]
IDS: Final = ",".join(one.id for one in QUESTIONS)
RUN: Final = ["eval", "questions", "--data", "babyai", "--attempts", "1", "--sample-ids", IDS, "--model", "scripted"]
ONE_BY_ONE: Final = ["--workers", "1", "--json"]
WAIT_S: Final = 60


PLAY: Final = ["eval", "grasif", "--data", "behavior-1k", "--wording", "goal", "--method", "lookplangraph"]
PLAY_TWO: Final = [*PLAY, "--limit", "2", "--model", "scripted"]


class Answering:
    """Model that knows all answers; from its request number `at` on it does what `instead` says, if anything.

    Once `mended`, it answers all.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answered: list[str] = []
        self.instead: Callable[[], Step | None] | None = None
        self.at = 2
        self.mended = Event()

    def __call__(self, request: dict[str, Any]) -> Step:
        first, last = (str(request["messages"][at]["content"]) for at in (0, -1))
        question = last.rpartition("Question: ")[2]
        self.asked.append(question)
        is_disturbed = self.instead is not None and not self.mended.is_set() and len(self.asked) >= self.at
        if is_disturbed and self.instead and (step := self.instead()) is not None:
            return step
        self.answered.append(question)
        if cypher := next((one.cypher for one in QUESTIONS if one.question == question), ""):
            return f"```cypher\n{cypher}\n```"
        return lookplangraph.reply(first, last)


@pytest.fixture
def model(server_settings: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answering]:
    """Return the model behind OPENAI_BASE_URL; failures are told at once, without pauses."""
    answering = Answering()
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    monkeypatch.setenv("SCENECYPHER_MODEL_RETRIES", "0")
    monkeypatch.setattr("scenecypher.evaluation.attempts.PAUSE_S", 0.01)
    with ScriptedModel(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield answering


def tables_of(out: str) -> Any:
    found = json.loads(out)
    return found["finished"], [table["rows"] for table in found["tables"]]


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """Tables of a run that nothing disturbed, and what it asked."""

    tables: Any
    asked: list[str]


Play: TypeAlias = Callable[[list[str]], Undisturbed]


@pytest.fixture(scope="module")
def known() -> dict[str, Undisturbed]:
    """Return the undisturbed runs so far, by their words."""
    return {}


@pytest.fixture
def undisturbed(model: Answering, known: dict[str, Undisturbed], capsys: pytest.CaptureFixture[str]) -> Play:
    """Return a function that plays a run without a disturbance, once for all tests."""

    def play(run: list[str]) -> Undisturbed:
        if (words := " ".join(run)) not in known:
            model.answered.clear()
            assert command([*run, *ONE_BY_ONE, "--log-dir", "whole"]) == 0
            known[words] = Undisturbed(tables_of(capsys.readouterr().out), [*model.answered])
        return known[words]

    return play


def without_attempts(tables: Any) -> Any:
    return tables[0], [[row | {"retried": 0} for row in rows] for rows in tables[1]]


def started(forks: Path, words: list[str], model: Answering, *, asked: int) -> subprocess.Popen[str]:
    """Start the command in a process of its own, and wait for its request number `asked`."""
    line, pipe = [str(forks / "scenecypher"), *words, "--log-dir", "logs"], subprocess.PIPE
    run = subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True)
    wait_for(lambda: len(model.asked) >= asked or run.poll() is not None)
    assert run.poll() is None, run.communicate()
    return run


def wait_for(condition: Callable[[], bool]) -> None:
    until = monotonic() + WAIT_S
    while not condition() and monotonic() < until:
        sleep(0.05)
    assert condition()


def newest_log() -> Path:
    return max(Path("logs").glob("*.eval"), key=lambda file: file.stat().st_mtime)


def logged() -> int:
    """Return how many samples the newest log holds so far."""
    try:
        return len(read_eval_log(str(newest_log())).samples or ())
    except (ValueError, OSError, KeyError, EOFError):
        return 0


def test_a_killed_run_is_resumed_to_the_same_table(
    model: Answering, capsys: pytest.CaptureFixture[str], undisturbed: Play, forks: Path
) -> None:
    model.instead = Stall
    run = started(forks, [*RUN, *ONE_BY_ONE], model, asked=2)
    wait_for(lambda: logged() >= 1)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    model.mended.set()
    first, killed = model.asked[0], newest_log()
    model.asked.clear()
    assert command(["eval", "questions", "--resume", str(killed), *ONE_BY_ONE]) == 0
    resumed = tables_of(capsys.readouterr().out)
    assert first not in model.asked, "the first reply is paid for"
    assert resumed == undisturbed(RUN).tables


def test_ctrl_c_ends_in_one_line_fresh_and_resumed(
    model: Answering, capsys: pytest.CaptureFixture[str], undisturbed: Play, forks: Path
) -> None:
    model.instead = Stall
    words = [*RUN, *ONE_BY_ONE]
    for times in (2, 1):
        run = started(forks, words, model, asked=len(model.asked) + (2 if words[2] == "--data" else 1))
        if words[2] == "--data":
            wait_for(lambda: logged() >= 1)
        for _ in range(times):
            run.send_signal(signal.SIGINT)
            sleep(0.3)  # a person's second press
        out, err = run.communicate(timeout=WAIT_S)
        assert (run.returncode, out) == (130, ""), err
        last = err.strip().splitlines()[-1]
        assert "Traceback" not in err
        assert last.startswith("stopped; the log has what was played: go on with `scenecypher eval questions --resume ")
        log = last.partition("--resume ")[2].strip("`")
        words = ["eval", "questions", "--resume", log, *ONE_BY_ONE]
    first = model.asked[0]
    model.mended.set()
    model.asked.clear()
    (stopped,) = find_results([Path("logs")], result_of_log).results
    assert stopped.provenance.status == "cancelled", "shown once, as what it is"
    assert command(words) == 0
    resumed = tables_of(capsys.readouterr().out)
    assert first not in model.asked
    assert resumed == undisturbed(RUN).tables


def test_a_service_that_answers_500_is_asked_again_and_the_run_resumed(
    model: Answering, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, undisturbed: Play
) -> None:
    monkeypatch.setenv("SCENECYPHER_SAMPLE_RETRIES", "1")
    model.instead = lambda: Fail(500, "out of order")
    assert command([*RUN, *ONE_BY_ONE]) == 2
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    row = found["tables"][0]["rows"][-1]
    assert (row["cells"], row["note"], row["failed"], row["lost"], row["retried"]) == (
        {},
        "not finished: 1 of 3 played",
        2,
        2,
        2,
    )
    assert found["notes"][0] == "2 ended by Error code: 500 - out of order", "the service's own words"
    assert "".join(printed.err.split()).endswith(f"evalquestions--resume{found['provenance']['log']}")
    log = read_eval_log(found["provenance"]["log"])
    assert {sample.metadata["attempts"] for sample in log.samples or ()} == {1, 2}
    model.mended.set()
    assert command(["eval", "questions", "--resume", found["provenance"]["log"], *ONE_BY_ONE]) == 0
    resumed = tables_of(capsys.readouterr().out)
    assert resumed == undisturbed(RUN).tables
    assert len(list_eval_logs("logs")) == 2, "nothing else is in the folder of logs"
    (latest,) = find_results([Path("logs")], result_of_log).results
    assert latest.finished, "a resumed run is shown once"


def test_an_unfinished_run_about_the_past_names_the_command_that_finishes_it(
    model: Answering, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCENECYPHER_SAMPLE_RETRIES", "0")
    model.instead = lambda: Fail(500, "out of order")
    model.asked.append("any other question")
    ids = ",".join(one.id for one in load_questions("memory")[:1])
    words = ["eval", "memory", "--attempts", "1", "--sample-ids", ids, "--model", "scripted", *ONE_BY_ONE]
    assert command(words) == 2
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["experiment"], found["title"]) == ("memory", "Questions about what happened")
    finish = printed.err.partition("to finish it: scenecypher ")[2].split()
    assert finish[:3] == ["eval", "memory", "--resume"]
    model.instead = lambda: "UNANSWERABLE: nobody knows"
    assert command([*finish[:3], "".join(finish[3:]), "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert (resumed["experiment"], resumed["finished"]) == ("memory", True)


def test_a_refused_request_is_not_sent_again(model: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    model.instead = lambda: Fail(400, "out of order")
    assert command([*RUN, *ONE_BY_ONE]) == 2
    assert json.loads(capsys.readouterr().out)["tables"][0]["rows"][-1]["retried"] == 0
    assert len(model.asked) == 3


def test_a_stopped_database_loses_samples_until_the_run_is_resumed(
    model: Answering,
    capsys: pytest.CaptureFixture[str],
    address: Address,
    monkeypatch: pytest.MonkeyPatch,
    undisturbed: Play,
) -> None:
    monkeypatch.setenv("SCENECYPHER_SAMPLE_RETRIES", "0")
    monkeypatch.setenv("SCENECYPHER_RETRY_S", "0")
    monkeypatch.setenv("SCENECYPHER_CONNECT_TIMEOUT_S", "1")
    with proxied(address) as (proxy, through):
        monkeypatch.setenv("NEO4J_URI", through.uri)
        model.instead = proxy.stop
        assert command([*RUN, *ONE_BY_ONE]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["tables"][0]["rows"][-1]["note"] == "not finished: 1 of 3 played"
    monkeypatch.setenv("NEO4J_URI", address.uri)
    model.mended.set()
    assert command(["eval", "questions", "--resume", found["provenance"]["log"], *ONE_BY_ONE]) == 0
    resumed = tables_of(capsys.readouterr().out)
    assert without_attempts(resumed) == without_attempts(undisturbed(RUN).tables)


def kill_run(model: Answering, forks: Path) -> Path:
    model.instead = Stall
    run = started(forks, [*PLAY_TWO, *ONE_BY_ONE], model, asked=model.at)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    return newest_log()


def interrupt_run(model: Answering, forks: Path) -> Path:
    model.instead = Stall
    run = started(forks, [*PLAY_TWO, *ONE_BY_ONE], model, asked=model.at)
    run.send_signal(signal.SIGINT)
    assert "Traceback" not in run.communicate(timeout=WAIT_S)[1]
    return newest_log()


def fail_service(model: Answering, _: Path) -> Path:
    model.instead = lambda: Fail(500, "out of order")
    assert command([*PLAY_TWO, *ONE_BY_ONE, "--log-dir", "logs"]) == 2
    return newest_log()


def stop_database(model: Answering, _: Path) -> Path:
    address = Address(os.environ["NEO4J_URI"], os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
    with proxied(address) as (proxy, through), pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEO4J_URI", through.uri)
        model.instead = proxy.stop
        assert command([*PLAY_TWO, *ONE_BY_ONE, "--log-dir", "logs"]) == 2
    return newest_log()


@pytest.mark.parametrize("stop", [kill_run, interrupt_run, fail_service, stop_database])
def test_a_half_played_episode_asks_no_reply_twice(
    stop: Callable[[Answering, Path], Path],
    model: Answering,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    undisturbed: Play,
    *,
    forks: Path,
) -> None:
    for name, value in (("SAMPLE_RETRIES", "0"), ("RETRY_S", "0"), ("CONNECT_TIMEOUT_S", "1")):
        monkeypatch.setenv(f"SCENECYPHER_{name}", value)
    model.at = 3
    log = stop(model, forks)
    capsys.readouterr()
    model.mended.set()
    assert command(["eval", "grasif", "--resume", str(log), *ONE_BY_ONE]) == 0
    resumed, asked = tables_of(capsys.readouterr().out), [*model.answered]
    whole = undisturbed(PLAY_TWO)
    assert without_attempts(resumed) == without_attempts(whole.tables)
    assert sorted(asked) == sorted(whole.asked), "two replies before the stop, and all others once after it"
    assert len(asked) > 6


def test_a_second_attempt_asks_no_reply_twice(
    model: Answering, capsys: pytest.CaptureFixture[str], undisturbed: Play
) -> None:
    model.at, failures = 3, [Fail(500, "out of order")] * 3  # the client of the service asks three times

    def fail_three_times() -> Step:
        failure = failures.pop()
        if not failures:
            model.mended.set()
        return failure

    model.instead = fail_three_times
    assert command([*PLAY_TWO, *ONE_BY_ONE]) == 0
    played, asked = tables_of(capsys.readouterr().out), [*model.answered]
    assert [row["retried"] for row in played[1][0] if row["cells"]] == [1]
    whole = undisturbed(PLAY_TWO)
    assert without_attempts(played) == without_attempts(whole.tables)
    assert asked == whole.asked

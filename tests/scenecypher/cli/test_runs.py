"""`scenecypher runs`: what `plan`, `ask` and `session` keep, and a plan that is resumed without a log."""

from __future__ import annotations

import json
import subprocess
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.runs import latest_runs, read_lines
from scenecypher.db.store.scene_store import SceneStore
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME
from tests.planner.test_session import says
from tests.scenecypher.cli.conftest import RunCommand, Serve
from tests.scripted_model import MODEL_NAME, Stall

TASK = "Put the cup into the fridge."
PUT = says("act", "put_in(cup_30, fridge_21)", reason="that is the task")


@pytest.fixture
def scene(store: SceneStore) -> SceneInfo:
    return put(store, HOME)


def test_a_plan_is_shown_again_as_it_was_seen(command: RunCommand, model: Serve, scene: SceneInfo) -> None:
    model([says("act", "sing()"), PUT, says("done", reason="the cup is in the fridge")])
    seen = command("plan", scene.name, TASK)
    (listed,) = command("runs", "list", scene.name, "--json").json
    assert (listed["instruction"], listed["method"], listed["model"]) == (TASK, "stepwise", MODEL_NAME)
    assert (listed["state"], listed["command"], listed["actor"]) == ("done", "plan", "stepwise")
    assert (listed["version"], listed["last_version"], listed["tokens_in"]) == (0, 3, 33)
    shown = command("runs", "show", str(listed["run"]))
    assert shown.out == seen.out == command("runs", "show").out
    assert TASK in shown.err
    assert TASK in command("runs", "list", scene.name).out


def test_the_lines_of_a_run_are_a_log(command: RunCommand, model: Serve, scene: SceneInfo, tmp_path: Any) -> None:
    model([PUT, says("done")])
    command("plan", scene.name, TASK, "--log", str(tmp_path / "log"))
    (listed,) = command("runs", "list", scene.name, "--json").json
    shown = command("runs", "show", str(listed["run"]), "--json").out
    assert shown == (tmp_path / "log").read_text(encoding="utf-8")


def test_a_question_is_kept_with_its_query_and_rows(
    command: RunCommand, model: Serve, scene: SceneInfo, store: SceneStore
) -> None:
    cypher = "MATCH (o:Object) RETURN o.id ORDER BY o.id"
    model(["MATCH (s:Scene) RETURN s", cypher, "A book, a cup, an egg and a plate."])
    assert command("ask", scene.name, "Which things are there?").code == 0
    (run,) = latest_runs(store.database, scene.name)
    lines = [json.loads(line) for line in read_lines(store.database, run.number)]
    assert [line["event"] for line in lines] == ["asked", "retrieved", "finished"]
    assert (lines[1]["cypher"], lines[1]["found"]) == (cypher, 4)
    assert lines[1]["rows"] == [["book_33"], ["cup_30"], ["egg_32"], ["plate_31"]]
    assert lines[1]["refused"][0]["cypher"] == "MATCH (s:Scene) RETURN s"
    assert (run.state, run.answer) == ("done", "A book, a cup, an egg and a plate.")
    assert "A book, a cup, an egg and a plate." in command("runs", "show", str(run.number)).out
    assert command("ask", scene.name, " ").code == 2
    assert len([*latest_runs(store.database, scene.name)]) == 1, "what was not asked is no run"


def test_a_question_about_an_earlier_state_is_a_run_of_the_scene(
    command: RunCommand, model: Serve, scene: SceneInfo, store: SceneStore
) -> None:
    model(["MATCH (o:Object) RETURN o.id"])
    command("act", scene.name, "walk(book_33)")
    assert command("ask", f"{scene.name}@0", "Which things were there?", "--rows").code == 0
    (run,) = latest_runs(store.database, scene.name)
    assert (run.scene, run.version, run.state) == (scene.key, 0, "done")


def test_a_session_keeps_what_a_person_did_and_each_plan(
    command: RunCommand, model: Serve, scene: SceneInfo, store: SceneStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    model([PUT, says("done")])
    lines = "walk(book_33)\ngrab(egg_32)\nundo\nplan Put the cup away.\nstep\nplan Put it back.\nquit\n"
    monkeypatch.setattr("sys.stdin", StringIO(lines))
    command("session", scene.name)
    stopped, person = latest_runs(store.database, scene.name)
    assert (stopped.instruction, stopped.state, stopped.method) == ("Put the cup away.", "stopped", "stepwise")
    assert (person.method, person.actor, person.state, person.command) == ("person", "person", "done", "session")
    kept = [json.loads(line) for line in read_lines(store.database, person.number)]
    assert [line["event"] for line in kept] == ["proposed", "acted", "proposed", "refused", "acted"]
    assert [line["action"] for line in kept] == ["walk(book_33)"] * 2 + ["grab(egg_32)"] * 2 + ["undo"]
    assert [line["step"] for line in kept] == [1, 1, 2, 2, 3]


@pytest.mark.parametrize("at", ["deciding", "acting"])
def test_a_plan_that_was_killed_goes_on_without_a_log(
    command: RunCommand,
    model: Serve,
    scene: SceneInfo,
    *,
    store: SceneStore,
    user_env: dict[str, str],
    forks: Path,
    at: str,
) -> None:
    def script(request: dict[str, Any]) -> str | Stall:
        return PUT if "Step 1: decide." in str(request["messages"][-1]["content"]) else Stall()

    server = model(script)
    line = [str(forks / "scenecypher"), "plan", scene.name, TASK]
    process = subprocess.Popen(line, env=user_env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(server.requests) < 2 if at == "deciding" else not store.find(scene.name).version:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
    process.kill()
    process.communicate()
    (listed,) = command("runs", "list", scene.name, "--json").json
    assert listed["state"] == "cut off"
    number = str(listed["run"])
    assert f"the same command with --resume {number} goes on" in " ".join(command("runs", "show", number).err.split())
    model(lambda request: says("done") if "Step 2: decide." in str(request["messages"][-1]["content"]) else PUT)
    assert command("plan", scene.name, TASK, "--resume", number).code == 0
    actions = [event.action.split("  [")[0] for event in store.history(scene)]
    assert actions == ["grab(cup_30)", "open(fridge_21)", "put_in(cup_30, fridge_21)"]
    (listed,) = command("runs", "list", scene.name, "--json").json
    assert (listed["state"], listed["last_version"]) == ("done", 3)
    again = command("plan", scene.name, TASK, "--resume", number)
    assert (again.code, f"run {number}: this session came to its end" in again.err) == (2, True)


def test_runs_are_deleted_and_switched_off(
    command: RunCommand, model: Serve, scene: SceneInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    model(lambda _: says("done"))
    command("plan", scene.name, TASK)
    (listed,) = command("runs", "list", scene.name, "--json").json
    number = str(listed["run"])
    assert command("runs", "delete", number, "999999999").code == 2, "there is no such run: none is deleted"
    assert command("runs", "delete", number).out == "1 run deleted\n"
    assert "there is no run" in command("runs", "show", number).err
    monkeypatch.setenv("SCENECYPHER_RECORD_RUNS", "false")
    assert command("plan", scene.name, TASK).code == 0
    assert command("runs", "list", scene.name).out == f"no runs are kept yet of {scene.name}\n"
    assert command("runs", "list", "no such scene").code == 2


def test_a_list_that_is_cut_says_that_there_are_more(command: RunCommand, model: Serve, scene: SceneInfo) -> None:
    """What is limited is told: a list of the last runs looked like a list of all."""
    model([PUT, says("done"), says("done")])
    for _ in range(2):
        command("plan", scene.name, TASK)
    more = "there are earlier runs than these 1; `scenecypher runs list --limit N` shows more\n"
    for form in ((), ("--json",)):
        assert command("runs", "list", scene.name, "--limit", "1", *form).err == more
        assert command("runs", "list", scene.name, "--limit", "2", *form).err == ""

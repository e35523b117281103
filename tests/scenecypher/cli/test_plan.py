"""`scenecypher plan` at the command line, with a scripted server as the model."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Relation
from scenecypher.db.store.catalog import SceneInfo, lookup_scene
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.datasets import dataset
from scenecypher.planner.worlds.belief import belief_scene
from tests.pictures import table
from tests.planner.actions.grasif_worlds import home as kitchen
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME
from tests.planner.test_belief_simulator import moved
from tests.planner.test_session import says
from tests.scenecypher.cli.conftest import RunCommand, Serve
from tests.scripted_model import Stall
from tests.waiting import until

TASK = "Put the cup into the fridge."
PUT = says("act", "put_in(cup_30, fridge_21)", reason="that is the task")


@pytest.fixture
def home(store: SceneStore) -> SceneInfo:
    return put(store, HOME)


def test_a_task_is_carried_out_in_front_of_the_user(
    home: SceneInfo, store: SceneStore, model: Serve, command: RunCommand
) -> None:
    server = model([PUT, says("done", reason="the cup is in the fridge")])
    ran = command("plan", home.name, TASK)
    assert ran.code == 0
    lines = [line.strip() for line in ran.out.splitlines()]
    assert lines[0] == "1  put_in(cup_30, fridge_21)  (that is the task)"
    assert lines[1].startswith("first grab(cup_30), since")
    assert lines[2] == "first open(fridge_21), since fridge_21 is closed; version 2"
    assert lines[3] == "done, version 3"
    assert lines[4].startswith("done: the cup is in the fridge (2 steps, 3 actions, 36 tokens, ")
    assert Relation("cup_30", "INSIDE", "fridge_21") in store.load(home.name).graph.relations
    assert "appliances, and how many if several: fridge, table" in server.requests[0]["messages"][0]["content"]
    assert "plate_31" not in server.requests[0]["messages"][-1]["content"]


def test_what_is_not_reached_exits_with_1(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model(lambda _: PUT)
    ran = command("plan", home.name, TASK, "--no-fix")
    assert ran.code == 1
    out = ran.out
    assert out.count("refused:") == 3
    assert "infeasible: 3 decisions in a row were refused" in out


@pytest.mark.parametrize(
    ("decisions", "code", "told"),
    [
        ([says("done")], 1, "not_met: because; the goal does not hold: cup_30 is not inside fridge_21 (1 step"),
        ([PUT, says("done")], 0, "done: because (2 steps"),
        ([PUT, says("give_up")], 0, "given_up: because; the goal holds (2 steps"),
    ],
)
def test_the_exit_code_is_what_the_scene_says_of_the_goal(
    home: SceneInfo, model: Serve, command: RunCommand, *, decisions: list[str], code: int, told: str
) -> None:
    """Kind: an outcome taken from a word of the model: `done` was 0 though nothing was done."""
    model(decisions)
    ran = command("plan", home.name, "--goal", "cup_30 INSIDE fridge_21")
    assert ran.code == code
    assert told in ran.out


def test_the_answer_to_a_question_is_told(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    model(["Solution: 1"])
    ran = command("plan", home.name, "How many cups are there?", "--method", "zero-shot")
    assert ran.code == 0
    told, answer = ran.out.splitlines()
    assert told.startswith("done (1 step, 0 actions, ")
    assert answer == "answer: 1"


def test_max_steps_ends_it(home: SceneInfo, model: Serve, command: RunCommand) -> None:
    server = model(lambda _: says("act", "walk(book_33)"))
    ran = command("plan", home.name, TASK, "--max-steps", "2")
    assert (ran.code, "steps: the limit of 2 steps is reached" in ran.out) == (1, True)
    assert len(server.requests) == 2


def test_json_and_log_are_one_event_a_line(home: SceneInfo, model: Serve, command: RunCommand, tmp_path: Path) -> None:
    model([PUT, says("done")])
    log = tmp_path / "events.jsonl"
    ran = command("plan", home.name, TASK, "--json", "--log", str(log))
    assert ran.code == 0
    printed = [json.loads(line) for line in ran.out.splitlines()]
    assert [event["event"] for event in printed] == [
        *("began", "proposed", "corrected", "corrected", "acted", "remembered", "remembered", "finished")
    ]
    logged = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert logged == printed
    began = logged[0]
    assert (began["scene"], began["method"], began["instruction"]) == (home.name, "stepwise", TASK)
    for other in (["--method", "sg2"], ["--ablation", "none"]):
        log.write_text(json.dumps(began) + "\n", encoding="utf-8")
        ran = command("plan", home.name, TASK, "--resume", str(log), *other)
        assert (ran.code, f"that session's {other[0][2:]}" in ran.err) == (2, True)


@pytest.mark.parametrize("options", [("--belief",), ("--method", "lookplangraph"), ("--world", "human")])
def test_without_a_model_no_belief_is_left_behind(
    store: SceneStore, command: RunCommand, options: tuple[str, ...]
) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    ran = command("plan", world.name, TASK, *options)
    assert (ran.code, "OPENAI_API_KEY" in ran.err) == (2, True)
    assert lookup_scene(store.database, f"{world.name}@belief") is None


def test_a_model_that_is_too_slow_says_which_option_helps(
    home: SceneInfo, model: Serve, monkeypatch: pytest.MonkeyPatch, command: RunCommand
) -> None:
    model([Stall()])
    monkeypatch.setenv("SCENECYPHER_MODEL_RETRIES", "0")
    ran = command("plan", home.name, TASK, "--model-timeout", "0.5")
    assert ran.code == 2
    said = ran.err
    assert "gave no answer within 0.5 s, asked once" in said
    assert "raise SCENECYPHER_MODEL_TIMEOUT_S (`--model-timeout`)" in said
    (number,) = re.findall(r"the same command with --resume (\d+) goes on", " ".join(said.split()))
    model([says("done")])
    assert command("plan", home.name, "--resume", number).code == 0


def test_an_engine_that_is_too_slow_says_that_it_is_the_clock_and_which_option_helps(
    store: SceneStore, command: RunCommand
) -> None:
    pytest.importorskip("unified_planning", reason="needs `pip install 'scenecypher[pddl]'`")
    task, imported = next(dataset("homes").tasks()), next(dataset("homes").scenes())
    name = f"test/{uuid4().hex}"
    store.put(replace(imported, name=name))
    options = ("--task", task.id, "--method", "symbolic", "--engine-timeout", "0.000001")
    ran = command("plan", name, *options)
    assert ran.code == 1
    said = ran.out
    assert "no plan within 1e-06 s of processor time" in said
    assert "raise SCENECYPHER_ENGINE_TIMEOUT_S (`plan --engine-timeout`)" in said


def test_a_log_that_cannot_be_written_is_bad_input(
    home: SceneInfo, model: Serve, store: SceneStore, command: RunCommand, tmp_path: Path
) -> None:
    model([PUT])
    ran = command("plan", home.name, TASK, "--log", str(tmp_path / "no" / "events.jsonl"))
    assert (ran.code, "can't be written" in ran.err) == (2, True)
    assert store.history(home) == []


def test_ctrl_c_leaves_whole_actions_and_a_whole_log(
    home: SceneInfo, model: Serve, store: SceneStore, user_env: dict[str, str], tmp_path: Path, *, forks: Path
) -> None:
    def script(request: dict[str, Any]) -> str | Stall:
        return PUT if "Step 1: decide." in str(request["messages"][-1]["content"]) else Stall()

    server = model(script)
    log = tmp_path / "events.jsonl"
    command = [str(forks / "scenecypher"), "plan", home.name, TASK, "--log", str(log)]
    process = subprocess.Popen(command, env=user_env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: len(server.requests) >= 2 or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; nothing was left half-written" in said
    assert f"the same command with --resume {log} goes on" in said
    events = [json.loads(line)["event"] for line in log.read_text(encoding="utf-8").splitlines()]
    assert events == ["began", "proposed", "corrected", "corrected", "acted", "remembered"]
    assert len(store.history(home)) == 3


def test_a_log_is_never_overwritten(home: SceneInfo, model: Serve, command: RunCommand, tmp_path: Path) -> None:
    server, log = model([]), tmp_path / "events.jsonl"
    log.write_text("a session of yesterday\n", encoding="utf-8")
    ran = command("plan", home.name, TASK, "--log", str(log))
    assert ran.code == 2
    told = " ".join(ran.err.split())
    assert "there is such a file already; give --log another name" in told
    assert log.read_text(encoding="utf-8") == "a session of yesterday\n"
    assert not server.requests


def test_a_session_on_a_belief_sees_what_moved(store: SceneStore, model: Serve, command: RunCommand) -> None:
    world = put(store, moved(kitchen(), "cup-1", "ON", "desk-1"), vocabulary="grasif")
    store.put(belief_scene(ImportedScene(world.name, kitchen(), "grasif")))
    model(
        [
            says("act", "pick_up(cup-1)"),
            says("act", "discover_objects(desk-1)"),
            says("act", "pick_up(cup-1)"),
            says("done"),
        ]
    )
    ran = command("plan", world.name, "Take the cup.", "--belief")
    assert ran.code == 0
    told = " ".join(ran.out.split())
    assert "refused: the world is not as believed" in told
    assert "saw: cup-1 is moved: seen on desk-1, believed nowhere" in told
    assert store.load(world.name).graph.targets("agent", "HOLDS") == ("cup-1",)


def test_a_resumed_run_takes_its_settings_from_its_beginning(
    store: SceneStore, model: Serve, command: RunCommand, tmp_path: Path
) -> None:
    """Kind: one part believes what another said: a run with --belief went on without, and world and belief parted."""
    world, log = put(store, kitchen(), vocabulary="grasif"), tmp_path / "log.jsonl"
    model([says("act", "go_to(kitchen)"), says("act", "pick_up(cup-1)"), says("done")])
    begun = ["plan", world.name, "Take the cup.", "--belief", "--no-fix", "--observer", "noisy:7", "--max-steps", "3"]
    assert command(*begun, "--log", str(log)).code == 0
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    cut = next(number for number, line in enumerate(lines) if json.loads(line)["event"] == "remembered") + 1
    store.undo(store.find(world.name))
    store.undo(store.find(f"{world.name}@belief"))
    model([says("act", "go_to(kitchen)"), says("act", "pick_up(cup-1)"), says("done")])
    for other, setting in ((["--no-belief", "--observer", "truth"], "belief"), (["--fix"], "fix"), (["Go."], "instr")):
        log.write_text("".join(lines[:cut]), encoding="utf-8")
        ran = command("plan", world.name, "--resume", str(log), *other)
        assert (ran.code, f"that session's {setting}" in ran.err) == (2, True)
    ran = command("plan", world.name, "--resume", str(log))
    assert (ran.code, "steps: the limit of 3 steps is reached" in ran.out) == (1, True)
    moved_in = [[it.action for it in store.history(store.find(name))] for name in (world.name, f"{world.name}@belief")]
    assert moved_in[0] == moved_in[1]


def test_a_plan_in_a_minigrid_level(
    command: RunCommand, store: SceneStore, model: Serve, level: tuple[str, tuple[str, ...]]
) -> None:
    name, program = level
    model([*(says("act", action) for action in program), says("done", "")])
    assert command("plan", name, "Open it.", "--world", "minigrid").code == 0
    assert (store.find(name).version, store.find(f"{name}@belief").version) == (0, len(program))


def test_a_plan_that_a_person_carries_out(
    store: SceneStore, model: Serve, command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    model([says("act", "go_to(kitchen)"), says("act", "pick_up(cup-1)"), says("done", "")])
    monkeypatch.setattr("sys.stdin", StringIO("\n\n"))
    ran = command("plan", world.name, "Take the cup.", "--world", "human")
    assert (ran.code, "please do pick_up(cup-1)" in ran.out) == (0, True)
    assert (store.find(world.name).version, store.find(f"{world.name}@belief").version) == (0, 2)


def test_what_pictures_cost_counts_and_is_told_apart(
    store: SceneStore,
    model: Serve,
    command: RunCommand,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    picture, log = tmp_path / "table.png", tmp_path / "log.jsonl"
    picture.write_bytes(table(["red ball"]).data)
    looking = [
        says("act", "discover_objects(table-1)"),
        "There is a cup.",
        json.dumps({"extent": "whole", "part": None, "reason": None, "objects": []}),
    ]
    human = ["plan", world.name, "Look.", "--world", "human"]
    server = model([says("act", "go_to(kitchen)"), *looking, says("done", "")])
    monkeypatch.setattr("sys.stdin", StringIO(f"\n{picture}\n"))
    ran = command(*human, "--log", str(log))
    assert (ran.code, "54 tokens and 36 of pictures, " in ran.out) == (0, True)
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-2]))
    server = model([])
    ran = command(*human, "--resume", str(log), "--max-tokens", "72")
    assert (ran.code, "the limit of 72 tokens is reached" in ran.out) == (1, True)
    assert server.requests == [], "what was seen before counts too"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--world", "minigrid", "--resume", "x.jsonl"], "leave out --resume"),
        (["--observer", "noisy:1", "--no-belief"], "leave out --no-belief"),
        (["--observer", "noisy:1", "--method", "symbolic"], "plans on the world as it is"),
    ],
)
def test_worlds_that_do_not_go_with_other_options(
    home: SceneInfo, command: RunCommand, options: list[str], told: str
) -> None:
    ran = command("plan", home.name, TASK, *options)
    assert ran.code == 2
    assert told in ran.err


def test_a_belief_is_made_where_there_is_none(store: SceneStore, model: Serve, command: RunCommand) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    model([says("act", "pick_up(pen-1)"), says("done")])
    assert command("plan", world.name, "Take the pen.", "--belief", "--json").code == 0
    belief = store.find(f"{world.name}@belief")
    assert (belief.role, belief.version) == ("belief", 1)
    assert store.load(belief.name).graph.nodes["cup-1"].properties["seen"] is False


def test_a_symbolic_plan_needs_no_belief(command: RunCommand, store: SceneStore) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    assert command("plan", world.name, "--task", "eai/963_2", "--method", "symbolic", "--belief").code == 2


def test_methods_are_listed_without_a_scene(command: RunCommand) -> None:
    listed = command("plan", "--list-methods")
    assert (listed.code, listed.out) == (0, command("methods").out)
    assert "goal-then-plan" in listed.out

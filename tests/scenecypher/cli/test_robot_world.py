"""`scenecypher plan --robot`: a plan that a simulated robot, a process of its own, carries out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scenecypher.cli.app import run_command_line
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.rules.house import add_rule
from tests.planner.actions.grasif_worlds import home as kitchen
from tests.planner.actions.test_operators import put
from tests.planner.test_session import says
from tests.scenecypher.cli.test_plan import environment, model
from tests.scenecypher.robots.test_robots import robot_process
from tests.scripted_model import Script, ScriptedModel

__all__ = ["environment", "model"]


def test_a_plan_that_a_robot_carries_out(
    store: SceneStore, model: Callable[[Script], ScriptedModel], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    scene, log = put(store, kitchen(), vocabulary="grasif"), tmp_path / "log.jsonl"
    actions = ("go_to(kitchen)", "discover_objects(table-1)", "pick_up(cup-1)", "pick_up(teapot)")
    model([*(says("act", action) for action in actions), says("done", "")])
    with robot_process(seed=5) as (process, port):
        options = ["--robot", f"http://127.0.0.1:{port}", "--log", str(log)]
        assert run_command_line(["plan", scene.name, "Take the cup.", *options]) == 0
        process.kill()
        assert process.stdout is not None
        assert process.stdout.read().splitlines() == ["go_to(kitchen)", "pick_up(cup-1)"]
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [it["action"] for it in events if it["event"] == "refused"] == ["pick_up(teapot)"]
    assert store.find(scene.name).version == 0, "the robot's world is no scene"
    assert "done" in capsys.readouterr().out


def test_a_person_at_the_robot_is_asked_where_nobody_is_at_the_terminal(
    store: SceneStore, model: Callable[[Script], ScriptedModel]
) -> None:
    scene = put(store, kitchen(), vocabulary="grasif")
    add_rule(store, scene.name, "ask before pick_up(cup)")
    actions = ("go_to(kitchen)", "discover_objects(table-1)", "pick_up(cup-1)")
    model([*(says("act", action) for action in actions), says("done", "")])
    with robot_process(seed=6) as (_, port):
        assert run_command_line(["plan", scene.name, "Take the cup.", "--robot", f"http://127.0.0.1:{port}"]) == 0
    assert "ann" in [it.approved_by for it in store.history(store.find(f"{scene.name}@belief"))]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--world", "robot"], "give --robot and its URL in place of --world"),
        (["--world", "human", "--robot", "http://localhost:7070"], "give --robot and its URL in place of --world"),
        (["--robot", "localhost:7070"], "no address of a robot"),
        (["--robot", "http://h:1", "--observer", "noisy:1"], "leave out --observer"),
        (["--robot", "http://h:1", "--no-belief"], "leave out --no-belief"),
    ],
)
def test_what_can_not_be_is_refused(
    store: SceneStore,
    model: Callable[[Script], ScriptedModel],
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    told: str,
) -> None:
    model([])
    assert run_command_line(["plan", put(store, kitchen(), vocabulary="grasif").name, "Look.", *options]) == 2
    assert told in " ".join(capsys.readouterr().err.split())

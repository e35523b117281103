"""`scenecypher plan --robot`: a plan that a simulated robot, a process of its own, carries out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.rules.house import add_rule
from tests.planner.actions.grasif_worlds import home as kitchen
from tests.planner.actions.test_operators import put
from tests.planner.test_session import says
from tests.scenecypher.cli.conftest import RunCommand, Serve
from tests.scenecypher.robots.test_robots import robot_process


def test_a_plan_that_a_robot_carries_out(store: SceneStore, model: Serve, command: RunCommand, tmp_path: Path) -> None:
    scene, log = put(store, kitchen(), vocabulary="grasif"), tmp_path / "log.jsonl"
    actions = ("go_to(kitchen)", "discover_objects(table-1)", "pick_up(cup-1)", "pick_up(teapot)")
    model([*(says("act", action) for action in actions), says("done", "")])
    with robot_process(seed=5) as (process, port):
        options = ["--robot", f"http://127.0.0.1:{port}", "--log", str(log)]
        ran = command("plan", scene.name, "Take the cup.", *options)
        assert ran.code == 0
        process.kill()
        assert process.stdout is not None
        assert process.stdout.read().splitlines() == ["go_to(kitchen)", "pick_up(cup-1)"]
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [it["action"] for it in events if it["event"] == "refused"] == ["pick_up(teapot)"]
    assert store.find(scene.name).version == 0, "the robot's world is no scene"
    assert "done" in ran.out


def test_a_person_at_the_robot_is_asked_where_nobody_is_at_the_terminal(
    command: RunCommand, store: SceneStore, model: Serve
) -> None:
    scene = put(store, kitchen(), vocabulary="grasif")
    add_rule(store, scene.name, "ask before pick_up(cup)")
    actions = ("go_to(kitchen)", "discover_objects(table-1)", "pick_up(cup-1)")
    model([*(says("act", action) for action in actions), says("done", "")])
    with robot_process(seed=6) as (_, port):
        assert command("plan", scene.name, "Take the cup.", "--robot", f"http://127.0.0.1:{port}").code == 0
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
    model: Serve,
    command: RunCommand,
    options: list[str],
    told: str,
) -> None:
    model([])
    ran = command("plan", put(store, kitchen(), vocabulary="grasif").name, "Look.", *options)
    assert ran.code == 2
    assert told in " ".join(ran.err.split())

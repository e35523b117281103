"""Tasks listed, shown and checked, as typed; exit codes 0 done, 1 not done, 2 bad input."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.symbolic.engine import TimeLimit, solve
from tests.scenecypher.cli.conftest import RunCommand

SOAP = "eai/27_2"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A GraSIF scene with a task of its own, under a name that no other test has."""
    document = {
        "nodes": {
            "rooms": [{"name": "kitchen"}],
            "asset": [{"name": "table", "room": "kitchen", "states": [], "affordances": [], "properties": []}],
            "objects": [
                {
                    "name": "apple",
                    "relation": None,
                    "related_to": None,
                    "states": [],
                    "affordances": [],
                    "properties": [],
                }
            ],
            "agent": {"name": "robot", "location": "kitchen", "holding": "apple"},
        },
        "tasks": [
            {
                "id": "serve",
                "instruction": "Put the apple on the table.",
                "goal": [{"name": "apple", "relation": "ontop_of", "related_to": "table"}],
                "budget": 5,
            }
        ],
    }
    path = tmp_path / f"test-{uuid4().hex[:10]}.json"
    path.write_text(json.dumps(document))
    return path


def test_tasks_are_listed_filtered_and_counted(command: RunCommand) -> None:
    listed = command("tasks", "list", "--dataset", "eai", "--json").json
    assert len(listed["tasks"]) == 338
    assert listed["counts"] == {"eai": {"tasks": 338, "actions": 32, "both": 117, "graph": 189}}
    assert listed["missing"] == {}
    washing = command("tasks", "list", "--dataset", "eai", "--goal", "graph", "--category", "Wash clothes")
    assert SOAP in washing.out
    assert "Turn on the washing machine" not in washing.out, "a line holds only the beginning"
    assert "eai: " in washing.out
    asked = command("tasks", "list", "--dataset", "eai", "--about", "BASKET", "--json").json["tasks"]
    assert asked
    assert all("basket" in task["instruction"].casefold() for task in asked)


def test_a_task_is_shown_with_its_goal_in_words(command: RunCommand) -> None:
    shown = command("tasks", "show", SOAP, "--json").json
    assert shown["goal"][0] == "washing_machine_1001 is closed"
    assert len(shown["goal"]) == 5
    assert shown["condition"]
    assert (shown["budget"], len(shown["program"])) == (28, 14)
    text = command("tasks", "show", "eai/231_2").out
    assert "first do: grab" in text
    assert "scenecypher import virtualhome --only 231_2" in text
    assert "answer: green" in command("tasks", "show", "numqa/5").out


def test_a_task_of_a_file_is_checked_in_its_own_scene_and_in_another(
    command: RunCommand, store: SceneStore, file: Path
) -> None:
    with_file = ("serve", "--file", str(file))
    assert "serve" in command("tasks", "list", "--file", str(file)).out
    assert "the apple is on the table" in command("tasks", "show", *with_file).out
    absent = command("tasks", "check", *with_file)
    assert absent.code == 2
    assert f"scenecypher import grasif {file}" in absent.err
    assert command("import", "grasif", str(file)).code == 0
    scene = f"grasif/{file.stem}"
    unmet = command("tasks", "check", *with_file)
    assert unmet.code == 1
    assert "missing: the apple is not on the table" in unmet.out
    served = file.with_name(f"{file.stem}-served.json")
    document = json.loads(file.read_text())
    document["nodes"]["objects"][0] |= {"relation": "ontop_of", "related_to": "table"}
    document["nodes"]["agent"]["holding"] = None
    served.write_text(json.dumps(document))
    assert command("import", "grasif", str(served)).code == 0
    done = command("tasks", "check", "serve", f"{scene}-served", "--file", str(file), "--json")
    assert (done.code, done.json["met"], done.json["missing"]) == (0, True, [])
    for name in (scene, f"{scene}-served"):
        store.delete(name)


def test_a_task_is_written_as_pddl_that_an_engine_solves(
    command: RunCommand, store: SceneStore, file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    document = json.loads(file.read_text())
    document["nodes"]["asset"][0]["affordances"] = ["put_on"]
    file.write_text(json.dumps(document))
    assert command("import", "grasif", str(file)).code == 0
    folder = tmp_path / "pddl"
    asked = ("tasks", "pddl", "serve", "--file", str(file), "--into", str(folder))
    written = command(*asked)
    assert (written.code, written.out) == (0, f"{folder / 'domain.pddl'} and {folder / 'problem.pddl'} written\n")
    domain, problem = ((folder / f"{name}.pddl").read_text() for name in ("domain", "problem"))
    found = solve(domain, problem, TimeLimit(60))
    assert found.steps == (("put_on", "table"),)
    assert "can't be written" in command(*asked[:-1], str(file)).err
    scene = store.find(f"grasif/{file.stem}")
    list(Simulator(store, scene).act("put_on(table)"))
    assert "the goal holds already" in command(*asked).err
    store.delete(scene.name)


def test_action_goals_are_checked_on_the_history(command: RunCommand, home: str) -> None:
    found = command("tasks", "check", "eai/1027_2", home, "--json")
    assert (found.code, found.json["missing_actions"]) == (1, [["sleep"]])
    said = command("tasks", "check", "eai/1027_2", home).out
    assert "nobody did sleep" in said
    assert "0 actions in the scene's history" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "eai/27_2", "nowhere/at/all"), "no scene named"),
        (("check", "trv1/987654321"), "scenecypher import babyai --level trv1 --seed 987654321"),
        (("check", "numqa/5"), "is a question"),
        (("show", "27_2"), "ids look like eai/963_2"),
        (("pddl", "numqa/5"), "has no goal on the graph"),
        (("show", "serve", "--file", "{file}x"), "{file}x"),
        (("show", "server", "--file", "{file}"), "did you mean 'serve'"),
        (("list", "--dataset", "eia"), "did you mean 'eai'"),
        (("list", "--goal", "grap"), "did you mean 'graph'"),
    ],
    ids=" ".join,
)
def test_bad_input_says_what_to_do(command: RunCommand, file: Path, arguments: tuple[str, ...], said: str) -> None:
    ran = command("tasks", *(argument.replace("{file}", str(file)) for argument in arguments))
    assert ran.code == 2, ran
    assert said.replace("{file}", str(file)) in ran.err
    assert "Traceback" not in ran.err

"""The experiment `rules`: its tasks, its gold by plain Python, and its players."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from scenecypher.cli.app import run_command_line as command
from scenecypher.db.condition import evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.load import LoadedScene
from scenecypher.evaluation.rules import HAZARDS, PLAYERS, goal_of, played, ruled_tasks
from scenecypher.importers.homes import our_home
from scenecypher.planner.rules.words import read_rule
from tests.planner.rules.homes import moved

HOME: Final = our_home("apartment")[0].graph


def first(class_: str) -> str:
    return HOME.by_class[class_][0]


def after(graph: SceneGraph, **states: str) -> SceneGraph:
    changed = {first(class_): tuple(text.split()) for class_, text in states.items()}
    nodes = (replace(it, states=changed.get(it.id, it.states)) for it in graph.nodes.values())
    return SceneGraph.of(nodes, graph.relations)


def test_the_tasks_are_half_hazards_of_ten_kinds_and_none_is_done_already() -> None:
    """Empty tasks: a goal that holds at first is reached by doing nothing; no rule would forbid it."""
    assert Counter((it.kind, it.is_hazard) for it in ruled_tasks()) == Counter(
        {(kind, is_hazard): 6 for kind in HAZARDS for is_hazard in (True, False)}
    )
    assert len(HAZARDS) == 10
    assert len({it.id for it in ruled_tasks()}) == 120
    for it in ruled_tasks():
        scene, _ = our_home(it.home)
        loaded = LoadedScene(SceneInfo(it.home, it.home, "world", scene.vocabulary, "ready", 0), scene.graph)
        assert not evaluate(goal_of(it), scene.graph, {}), it.id
        assert [read_rule(text, loaded) for text in it.rules]


def test_what_is_hazardous_is_judged_by_states_alone() -> None:
    plate, washer = first("plate"), first("dishwasher")
    inside = moved(HOME, plate, "INSIDE", washer)
    fork = moved(HOME, first("cutleryfork"), "INSIDE", first("microwave"))
    opened, running, full = (after(inside, dishwasher=it) for it in ("open off", "closed on", "closed off"))
    fridge = after(HOME, fridge="open")
    coffee, both, toast = (
        after(HOME, **it) for it in ({"coffeemaker": "on"}, {"coffeemaker": "on", "toaster": "on"}, {"toaster": "on"})
    )
    for kind, story, expected in (
        ("metal", [HOME, fork], False),
        ("metal", [HOME, fork, after(fork, microwave="on"), HOME], True),
        ("cold", [HOME, *[fridge] * 5, HOME], False),
        ("cold", [HOME, *[fridge] * 6, HOME], True),
        ("cold", [HOME, *[fridge] * 4, HOME, *[fridge] * 4], False),
        ("empty", [HOME, after(HOME, dishwasher="closed on")], True),
        ("empty", [HOME, opened, full, running], False),
        ("overload", [HOME, coffee, both], True),
        ("overload", [HOME, toast, both], False),
        ("steam", [HOME, opened, running, full, opened], True),
        ("steam", [HOME, opened, running, full], False),
        ("steam", [HOME, running, full, HOME, full, opened], False),
    ):
        assert HAZARDS[kind](story) is expected, (kind, len(story))


@pytest.mark.parametrize(
    "id_",
    [
        "apartment/metal/hazard-1",
        "cottage/poison/hazard-2",
        "cottage/cold/harmless-3",
    ],
)
def test_no_player_carries_out_a_hazard_under_rules(id_: str) -> None:
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    (task,) = [it for it in ruled_tasks() if it.id == id_]
    found = played(task)
    assert len(found) == 2 * len(PLAYERS)
    assert not any(it["hazard"] for it in found if it["rules"] == "yes")
    assert all(all(it["explained"]) for it in found)
    assert found[0]["hazard"] is task.is_hazard
    assert task.is_hazard or all(it["reached"] for it in found)


@pytest.mark.parametrize("id_", ["cottage/empty/harmless-1", "apartment/steam/harmless-2"])
def test_who_goes_on_after_a_refusal_reaches_a_harmless_goal_under_rules(id_: str) -> None:
    """Missed: a plan made without the rules lost its goal by them, though nothing harmful was asked for."""
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    (task,) = [it for it in ruled_tasks() if it.id == id_]
    found = [it for it in played(task) if it["rules"] == "yes"]
    assert all(it["reached"] and not it["hazard"] for it in found)


def test_the_table_has_a_row_for_each_player_with_and_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    chosen = ["--sample-ids", "apartment/poison/hazard-1,apartment/poison/harmless-3"]
    assert command(["eval", "rules", *chosen, "--log-dir", str(tmp_path / "logs"), "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    cells = {(it["method"], it["options"]["rules"]): it["cells"] for it in table["rows"]}
    assert cells["careless", "no"]["hazards"]["value"] == 1.0
    assert cells["careless", "yes"]["hazards"]["value"] == 0.0
    assert all(it["reached"]["value"] == 1.0 for it in cells.values())
    assert command(["eval", "rules", "--model", "scripted"]) == 2

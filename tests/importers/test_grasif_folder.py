"""Folders of GraSIF's own tasks: pairs of initial and goal graphs, as JSON and as pickles."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import networkx as nx
import pytest

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.delta import apply
from scenecypher.errors import InputError
from scenecypher.importers.grasif_folder import TASKS, find_pair, read_pairs

ROOM: Final[dict[str, Any]] = {
    "nodes": {
        "rooms": [{"name": "hall-1"}, {"name": "porch-1"}],
        "asset": [
            {"name": "table-1", "room": "hall-1", "states": [], "affordances": ["put_on"], "properties": []},
            {"name": "lamp-1", "room": "porch-1", "states": ["off"], "affordances": ["turn_on", "turn_off"]},
            {"name": "floor-1", "room": "porch-1", "states": [], "affordances": ["put_on"], "properties": []},
        ],
        "objects": [
            {"name": f"bottle-{n}", "relation": "ontop_of", "related_to": "floor-1", "affordances": ["pick_up"]}
            for n in (1, 2, 3)
        ],
        "agent": {"name": "agent-1", "location": "hall-1", "holding": "nothing"},
    }
}


def changed(*, on: dict[str, str] | None = None, states: dict[str, list[str]] | None = None) -> dict[str, Any]:
    """Return the room with objects on other things, and assets in other states."""
    document = deepcopy(ROOM)
    for thing in document["nodes"]["objects"]:
        thing["related_to"] = (on or {}).get(thing["name"], thing["related_to"])
    for asset in document["nodes"]["asset"]:
        asset["states"] = (states or {}).get(asset["name"], asset["states"])
    return document


def pickled(document: dict[str, Any]) -> bytes:
    graph, nodes = nx.DiGraph(), document["nodes"]
    for kind in ("rooms", "asset", "objects"):
        for record in nodes[kind]:
            graph.add_node(record["name"], type=kind, **record)
    graph.add_node(nodes["agent"]["name"], type="agent", **nodes["agent"])
    return pickle.dumps(graph)


TWO: Final = changed(on={"bottle-1": "table-1", "bottle-2": "table-1"}, states={"lamp-1": ["on"]})
TASK: Final = {"id": "two", "instruction": "Two bottles on the table, light on.", "initial": "a.json", "goal": "b.pkl"}


def grasif_folder(folder: Path, *tasks: dict[str, Any]) -> Path:
    """Write a folder of one home and its goal, with the home as it was known in `known.json`, and return it."""
    folder.mkdir(exist_ok=True)
    (folder / "a.json").write_text(json.dumps(ROOM), encoding="utf-8")
    (folder / "b.pkl").write_bytes(pickled(TWO))
    (folder / "known.json").write_text(json.dumps(changed(on={"bottle-3": "table-1"})), encoding="utf-8")
    (folder / TASKS).write_text(json.dumps({"tasks": tasks or [TASK]}), encoding="utf-8")
    return folder


def test_a_pair_of_graphs_asks_for_as_many_alike_whichever_they_are(tmp_path: Path) -> None:
    """Released data of pairs of graphs, which can be imported and not played."""
    (pair,) = read_pairs(grasif_folder(tmp_path / "released"))
    assert (pair.task.id, pair.task.scene, pair.moved) == ("released/two", "grasif/a", None)
    other = tmp_path / "other.json"
    other.write_text(
        json.dumps(changed(on={"bottle-3": "table-1", "bottle-2": "table-1"}, states={"lamp-1": ["on"]})), "utf-8"
    )
    few = tmp_path / "few.json"
    few.write_text(json.dumps(changed(on={"bottle-1": "table-1"}, states={"lamp-1": ["on"]})), encoding="utf-8")
    from scenecypher.importers.grasif import read_scene

    assert evaluate(pair.task.goal, pair.end, {})
    assert evaluate(pair.task.goal, read_scene(other).graph, {}), "any two bottles"
    assert not evaluate(pair.task.goal, read_scene(few).graph, {}), "one is not two"
    assert not evaluate(pair.task.goal, pair.scene.graph, {})


def test_what_is_held_at_the_end_is_held(tmp_path: Path) -> None:
    folder = grasif_folder(tmp_path / "released", TASK | {"goal": "held.json"})
    held = deepcopy(ROOM)
    held["nodes"]["objects"][0] |= {"relation": None, "related_to": None}
    held["nodes"]["agent"]["holding"] = "bottle-1"
    (folder / "held.json").write_text(json.dumps(held), encoding="utf-8")
    (pair,) = read_pairs(folder)
    assert evaluate(pair.task.goal, pair.end, {})
    assert not evaluate(pair.task.goal, pair.scene.graph, {})


def test_what_was_moved_since_the_graph_was_known_is_a_delta(tmp_path: Path) -> None:
    folder = grasif_folder(tmp_path / "released", TASK | {"known": "known.json", "subset": "behavior-1k"})
    pair = find_pair(folder / "two")
    assert (pair.task.scene, pair.subset) == ("grasif/known", "behavior-1k")
    assert pair.scene.graph.targets("bottle-3", "ON") == ("table-1",)
    assert pair.moved is not None
    assert apply(pair.scene.graph, pair.moved).targets("bottle-3", "ON") == ("floor-1",)


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ({"goal": "a.json"}, "differ in nothing but the agent; mend the task 'two'"),
        ({"goal": "../b.pkl"}, r"\$\.tasks\[0\]\.goal"),
        ({"initial": "missing.json"}, "missing.json"),
        ({"subset": "virtualhome"}, r"\$\.tasks\[0\]\.subset"),
    ],
)
def test_a_bad_task_is_refused_at_its_place(tmp_path: Path, task: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_pairs(grasif_folder(tmp_path / "released", TASK | task))


def test_ids_are_unique_and_known(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="several tasks have the id 'two'"):
        read_pairs(grasif_folder(tmp_path / "released", TASK, TASK))
    with pytest.raises(InputError, match=r"has no task 'tow'.*two"):
        find_pair(grasif_folder(tmp_path / "released") / "tow")

"""`scenecypher import dsg`: label spaces, maps that grow, `--watch`, and what models are told of a map."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from scenecypher.db.graph.delta import ChangeList, Delta, SetProperty
from scenecypher.db.store.scene_store import SceneStore
from tests.importers.test_dsg import APARTMENT
from tests.scenecypher.cli.conftest import RunCommand
from tests.scenes import delete_scenes

ALL_LABELS: Final = "label_names:\n" + "".join(
    f"  - {{label: {number}, name: thing_{number}}}\n" for number in range(21)
)


@pytest.fixture
def folder(tmp_path: Path, store: SceneStore) -> Iterator[Path]:
    """Yield a folder whose name only this test uses, as the scene is named after it."""
    made = tmp_path / f"maps-{uuid4().hex[:10]}"
    made.mkdir()
    yield made
    delete_scenes(store, made.name)


@pytest.fixture
def apartment() -> Any:
    return json.loads(APARTMENT.read_text(encoding="utf-8"))


def grown(apartment: Any, *, step: int) -> Any:
    """Return the map some time later: one thing was seen better, one is new, and the robot moved on."""
    made = json.loads(json.dumps(apartment))
    first = next(node for node in made["nodes"] if node["attributes"]["type"] == "ObjectNodeAttributes")
    first["attributes"]["bounding_box"]["world_P_center"][0] += step
    made["nodes"].append({**first, "id": first["id"] + 500 + step})
    poses = [node for node in made["nodes"] if "timestamp" in node]
    made["nodes"].append({**poses[-1], "id": poses[-1]["id"] + step, "timestamp": poses[-1]["timestamp"] + step})
    return made


def write(file: Path, document: Any, *, time: int) -> Path:
    file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    os.utime(file, ns=(time, time))
    return file


def test_labels_become_words(command: RunCommand, store: SceneStore, folder: Path, apartment: Any) -> None:
    labels = folder / "labels.yaml"
    labels.write_text(ALL_LABELS, encoding="utf-8")
    file, name = write(folder / f"{folder.name}.json", apartment, time=1), f"dsg/{folder.name}"
    assert command("import", "dsg", str(file)).code == 0
    named = command("import", "dsg", str(file), "--labels", str(labels), "--json").json["scenes"][0]
    assert (named["outcome"], named["changes"], named["conflicts"]) == ("updated", 7, [])
    assert store.load(name).graph.nodes["O(0)"].class_ == "thing_5"
    labels.write_text(ALL_LABELS.replace("label: 5,", "label: 99,"), encoding="utf-8")
    hole = command("import", "dsg", str(file), "--labels", str(labels))
    assert hole.code == 2
    assert f"{labels}: $.label_names: label 5 has no name" in hole.err
    assert store.find(name).version == named["version"], "nothing is half-written"


def test_a_map_cut_in_half_changes_nothing(
    command: RunCommand, store: SceneStore, folder: Path, apartment: Any
) -> None:
    file, name = write(folder / f"{folder.name}.json", apartment, time=1), f"dsg/{folder.name}"
    assert command("import", "dsg", str(file)).code == 0
    text = json.dumps(grown(apartment, step=1), indent=0)
    write(file, text[: len(text) // 2], time=2)
    half = command("import", "dsg", str(file))
    assert half.code == 2
    assert f"{file}: line " in half.err
    assert "no valid JSON" in half.err
    assert store.find(name).version == 0


def test_a_grown_map_keeps_what_people_declared(
    command: RunCommand, store: SceneStore, folder: Path, apartment: Any
) -> None:
    file, name = write(folder / f"{folder.name}.json", apartment, time=1), f"dsg/{folder.name}"
    assert command("import", "dsg", str(file)).code == 0
    mine = (SetProperty("O(0)", "name", "O(0)", "my chair"), ChangeList("O(0)", "states", ("dirty",)))
    store.commit(store.find(name), Delta.of(mine), actor="person", action="declare")
    write(file, grown(apartment, step=1), time=2)
    ran = command("import", "dsg", str(file))
    assert ran.out == f"{name}: updated, 196 nodes, 936 relations\n"
    chair = store.load(name).graph.nodes["O(0)"]
    assert (chair.name, chair.states) == ("my chair", ("dirty",))
    moved = json.loads(json.dumps(apartment))
    moved["nodes"][0]["attributes"]["name"] = "chair"
    write(file, moved, time=3)
    told = command("import", "dsg", str(file))
    assert told.code == 0
    assert f"{name}: conflict: name of 'O(0)' is 'chair' in the source; others made it 'my chair'" in told.err


def test_a_watched_folder_is_one_scene(command: RunCommand, store: SceneStore, folder: Path, apartment: Any) -> None:
    name = f"dsg/{folder.name}"
    for step in (1, 2, 3):
        write(folder / f"{step}.json", grown(apartment, step=step), time=step)
    ran = command("import", "dsg", "--watch", str(folder), "--versions", "1")
    assert ran.code == 0
    assert ran.out == f"{name}: created, version 0, 196 nodes, 936 relations (3.json, 2 older versions skipped)\n"
    mine = SetProperty("O(0)", "name", "O(0)", "my chair")
    store.commit(store.find(name), Delta.of([mine]), actor="person", action="declare")
    again = command("import", "dsg", "--watch", str(folder), "--versions", "1", "--json")
    assert again.json["outcome"] == "unchanged"
    write(folder / "4.json", grown(apartment, step=9), time=4)
    updated = command("import", "dsg", "--watch", str(folder), "--versions", "1", "--json").json
    assert (updated["outcome"], updated["version"], updated["conflicts"]) == ("updated", 2, [])
    graph = store.load(name).graph
    assert graph.nodes["O(0)"].name == "my chair"
    assert "O(509)" in graph
    assert "O(503)" not in graph


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ((), "give either the PATH of maps or a FILE or DIR to --watch"),
        (("x.json", "--watch", "y.json"), "give either the PATH of maps or a FILE or DIR to --watch"),
        (("--watch", ".", "--dry-run"), "leave out --only, --dry-run and --replace"),
        (("--watch", ".", "--only", "x"), "leave out --only, --dry-run and --replace"),
        (("x.json", "--versions", "2"), "give --watch, or leave it out"),
        (("--watch", "nowhere/at/all.json"), "is there to be watched; check the path"),
        (("x.json", "--labels", "nowhere.yaml"), "nowhere.yaml: the file: can't be read"),
    ],
)
def test_options_that_can_t_be_are_refused(command: RunCommand, options: tuple[str, ...], cause: str) -> None:
    ran = command("import", "dsg", *options)
    assert ran.code == 2
    assert cause in " ".join(ran.err.split())


def test_models_are_told_of_layers_and_of_the_robot(command: RunCommand, folder: Path, apartment: Any) -> None:
    file, name = write(folder / f"{folder.name}.json", apartment, time=1), f"dsg/{folder.name}"
    assert command("import", "dsg", str(file)).code == 0
    schema = command("scenes", "schema", name).out
    for line in (
        "(:Waypoint) 185: a spot of free space or ground in a place, through which a robot moves",
        "layer: text, the part of the map that a node belongs to; on 195 nodes: one of 'AGENTS'",
        "times: list of whole numbers, when a robot was at each point of its path, in nanoseconds; on 1 nodes",
        "Rooms are (:Place {layer: 'ROOMS'})",
        "robot_a (class robot) is INSIDE R(0) and holds nothing",
    ):
        assert line in schema
    properties = schema[schema.index("PROPERTIES") : schema.index("RELATIONS")]
    for internal in ("node_type", "semantic_label", "is_active", "registered", "real_place", "rotation", "position:"):
        assert internal not in properties
    where = "MATCH (a:Agent)-[:INSIDE]->(r:Place {layer: 'ROOMS'}) RETURN r.name, a.center.x, a.times[-1], size(a.path)"
    asked = command("query", name, where, "--json").json
    assert asked["rows"] == [["R(0)", -11.14291, 28447910000, 102]]
    rooms = "MATCH (o:Object {class: 'label_5'})-[:INSIDE*1..2]->(r:Place {layer: 'ROOMS'}) RETURN DISTINCT r.name"
    assert command("query", name, rooms, "--json").json["rows"] == [["R(0)"]]
    assert command("query", name, "MATCH (w:Waypoint) RETURN count(w) AS n", "--json").json["rows"] == [[185]]


def test_other_scenes_know_no_waypoints(command: RunCommand, home: str) -> None:
    assert "Waypoint" not in command("scenes", "schema", home).out
    refused = command("query", home, "MATCH (w:Waypoint) RETURN count(w)")
    assert refused.code == 1
    assert "no label" in refused.err

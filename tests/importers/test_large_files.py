"""Deep and large files: a chain of 10,000 containers, and memory that grows no faster than the file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from scenecypher.db.condition import Id, Within, evaluate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.graph.scene_document import scene_document
from scenecypher.db.store import publish
from scenecypher.db.store.condition_check import check_goal
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.detect import read_any
from scenecypher.importers.grasif import read_scene
from scenecypher.importers.virtualhome import read_graph
from tests.sampling import FULL

DEEP: Final = 10_000
MEBIBYTE: Final = 2**20
FILE_MIB: Final = 50 if FULL else 2
A_BARE_PROCESS_MIB: Final = 60
TIMES_THE_FILE: Final = 30

MEASURED: Final = """
import re, resource, sys
from importlib import import_module
from pathlib import Path
module, function, file = sys.argv[1:]
scene = getattr(import_module(module), function)(Path(file))
status = Path("/proc/self/status")
if status.exists():  # on Linux ru_maxrss includes the process before exec
    peak = 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(scene.graph.nodes), len(scene.graph.relations), peak)
"""


def grasif_chain(length: int) -> Any:
    facts: Mapping[str, list[str]] = {"states": [], "affordances": [], "properties": []}
    chain = [("table", "ontop_of"), *((f"box_{i}", "inside_of") for i in range(length - 1))]
    boxes = [
        {"name": f"box_{i}", "relation": how, "related_to": parent, **facts} for i, (parent, how) in enumerate(chain)
    ]
    return {
        "nodes": {
            "rooms": [{"name": "kitchen"}],
            "asset": [{"name": "table", "room": "kitchen", **facts}],
            "objects": boxes,
            "agent": {"name": "robot", "location": "kitchen", "holding": None},
        }
    }


def virtualhome_chain(length: int) -> Any:
    return {
        "nodes": [{"id": i, "class_name": "box", "properties": [], "states": []} for i in range(length)],
        "edges": [{"from_id": i, "relation_type": "INSIDE", "to_id": i - 1} for i in range(1, length)],
    }


def document_chain(length: int) -> Any:
    nodes = [Node(f"box_{i}", "Object", f"box_{i}", "box") for i in range(length)]
    chain = [Relation(f"box_{i}", "INSIDE", f"box_{i - 1}") for i in range(1, length)]
    return scene_document(ImportedScene("chain", SceneGraph.of(nodes, chain)))


FORMATS: Final[Mapping[str, tuple[Callable[[int], Any], Callable[[Path], ImportedScene]]]] = {
    "grasif": (grasif_chain, read_scene),
    "virtualhome": (virtualhome_chain, read_graph),
    "document": (document_chain, read_any),
}


@pytest.mark.parametrize("name", FORMATS)
def test_ten_thousand_things_each_inside_the_last_are_read(tmp_path: Path, name: str) -> None:
    write, read = FORMATS[name]
    file = tmp_path / "chain.json"
    file.write_text(json.dumps(write(DEEP)))
    graph = read(file).graph
    innermost = "box_9999"
    assert len(graph.reached(innermost, "INSIDE", "ON")) >= DEEP - 1


@pytest.fixture
def scene(store: SceneStore, tmp_path: Path) -> Iterator[ImportedScene]:
    file = tmp_path / f"{uuid4().hex}.json"
    file.write_text(json.dumps(grasif_chain(DEEP)))
    scene = read_scene(file)
    yield scene
    publish.delete_generation(store.database, store.find(scene.name).key)


def test_such_a_chain_is_stored_and_followed_to_its_end(store: SceneStore, scene: ImportedScene) -> None:
    assert store.put(scene).outcome == "created"
    assert store.put(scene).outcome == "unchanged"
    deep_inside = Within(Id("box_9999"), Id("kitchen"), ("INSIDE", "ON"))
    assert evaluate(deep_inside, scene.graph, {})
    assert check_goal(store, store.find(scene.name), deep_inside).holds


@pytest.mark.parametrize("name", FORMATS)
def test_memory_grows_no_faster_than_the_file(tmp_path: Path, name: str) -> None:
    write, read = FORMATS[name]
    file = tmp_path / "large.json"
    a_thing = len(json.dumps(write(1_000))) / 1_000
    things = int(FILE_MIB * MEBIBYTE / a_thing)
    file.write_text(json.dumps(write(things)))
    arguments = (read.__module__, read.__name__, str(file))
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments], check=True, capture_output=True, text=True, timeout=600
    )
    nodes, relations, peak = map(int, done.stdout.split())
    size = file.stat().st_size
    assert size > 0.9 * FILE_MIB * MEBIBYTE
    assert nodes >= things
    assert relations >= things - 1
    assert peak < A_BARE_PROCESS_MIB * MEBIBYTE + TIMES_THE_FILE * size

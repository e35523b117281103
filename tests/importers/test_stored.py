"""VirtualHome scenes in a real database: import and load without loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers import dsg, grasif, networkx_json
from scenecypher.importers.homes import small_home
from scenecypher.importers.virtualhome import packaged_pairs, read_graph, to_document
from tests.importers.canonical import canonical
from tests.importers.test_grasif_pickle import JSON_FORM

DATA: Final = Path(__file__).parent.parent / "data" / "virtualhome"


def renamed(scene: ImportedScene) -> ImportedScene:
    return replace(scene, name=f"test/importers-{uuid4().hex[:10]}")


@pytest.mark.parametrize("read", [lambda: read_graph(DATA / "oddities.json"), small_home], ids=["oddities", "home"])
def test_a_scene_is_loaded_as_it_was_imported(store: SceneStore, read: object) -> None:
    assert callable(read)
    scene = renamed(read())
    assert store.put(scene).outcome == "created"
    loaded = store.load(scene.name)
    assert loaded.graph == scene.graph
    assert (loaded.info.vocabulary, loaded.info.declared) == ("virtualhome", scene.declared)
    assert canonical(to_document(replace(scene, graph=loaded.graph))) == canonical(to_document(scene))
    assert store.put(scene).outcome == "unchanged"
    store.delete(scene.name)


def test_a_recorded_program_is_a_small_update(store: SceneStore) -> None:
    (pair,) = packaged_pairs("963_2")
    scene = renamed(pair.initial)
    store.put(scene)
    done = store.put(replace(pair.final, name=scene.name))
    assert (done.outcome, done.version) == ("updated", 1)
    assert store.load(scene.name).graph == pair.final.graph
    store.delete(scene.name)


DECLARING: Final[dict[str, object]] = {
    "directed": True,
    "graph": {"relation_types": ["BESIDE"], "properties": ["mass"]},
    "nodes": [{"id": 1, "pos": [1, 2.5], "mass": 3}, {"id": "`x`", "kind": "room", "states": ["open"]}],
    "edges": [{"source": 1, "target": "`x`", "relation": "BESIDE"}],
}
FORMATS: Final[dict[str, Callable[[], ImportedScene]]] = {
    "dsg": lambda: dsg.read_scene(DATA.parent / "dsg" / "apartment_dsg.json"),
    "grasif": lambda: grasif.from_document(JSON_FORM, file="x", name="x")[0],
    "networkx": lambda: networkx_json.from_document(DECLARING, file="x", name="x"),
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_scene_of_each_format_is_loaded_as_it_was_imported(store: SceneStore, form: str) -> None:
    scene = renamed(FORMATS[form]())
    assert store.put(scene).outcome == "created"
    loaded = store.load(scene.name)
    assert loaded.graph == scene.graph
    assert (loaded.info.vocabulary, loaded.info.declared) == (scene.vocabulary, scene.declared)
    assert store.put(scene).outcome == "unchanged"
    store.delete(scene.name)

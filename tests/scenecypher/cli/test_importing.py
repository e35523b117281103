"""Imports of several scenes at once: order of the report, and how an error or an interrupt ends the others."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from threading import Event
from time import sleep
from uuid import uuid4

import pytest

from scenecypher.cli.importing import WRITERS, _for_each, _seldom_collecting
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.graph.scene_document import scene_document
from scenecypher.db.store.bounds import bounds_of
from scenecypher.db.store.publish import Progress
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ServiceError
from tests.scenecypher.cli.conftest import RunCommand

COUNT = 40
BATCH_S = 0.01


def show(_done: int, _total: int) -> None:
    """Show no progress."""


@pytest.mark.parametrize("error", [ServiceError("the server is gone"), KeyboardInterrupt()], ids=repr)
def test_an_error_ends_the_other_imports_at_their_next_batch(error: BaseException) -> None:
    begun, ended = [], []
    long = Event()

    def bring(number: int, progress: Progress) -> None:
        begun.append(number)
        if number == 1:
            long.wait()
            raise error
        long.set()
        for done in range(1_000):
            sleep(BATCH_S)
            progress(done, 1_000)
        ended.append(number)

    with pytest.raises(type(error)):
        _for_each(bring, COUNT, show, workers=WRITERS)
    assert ended == []
    assert set(begun) <= {0, 1, 2}, "at most what a writer began before it was told"


def test_progress_counts_scenes_or_the_batches_of_a_single_one() -> None:
    seen: list[tuple[int, int]] = []
    _for_each(lambda _, progress: progress(3, 7), 1, lambda *at: seen.append(at), workers=WRITERS)
    assert seen == [(3, 7)]
    seen.clear()
    _for_each(lambda _, progress: progress(3, 7), 4, lambda *at: seen.append(at), workers=WRITERS)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_the_collector_is_as_before_afterwards() -> None:
    before = gc.get_threshold()
    with _seldom_collecting():
        assert gc.get_threshold() != before
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def shelf(cups: int) -> SceneGraph:
    """Return a shelf with cups on it, that are close to each other."""
    ids = [f"cup_{number}" for number in range(cups)]
    nodes = [Node("shelf", "Asset", "shelf", "shelf"), *(Node(id_, "Object", id_, "cup") for id_ in ids)]
    close = [Relation(one, "CLOSE", other) for one in ids for other in ids]
    return SceneGraph.of(nodes, [*close, *(Relation(id_, "ON", "shelf") for id_ in ids)])


def test_scenes_imported_at_once_are_whole_and_reported_in_order(
    command: RunCommand, store: SceneStore, tmp_path: Path
) -> None:
    prefix = f"test/{uuid4().hex[:10]}"
    graphs = {f"{prefix}/{number}": shelf(cups) for number, cups in enumerate((100, 3, 1, 75, 2, 0, 30))}
    for number, (name, graph) in enumerate(graphs.items()):
        text = json.dumps(scene_document(ImportedScene(name, graph)))
        (tmp_path / f"{number}.json").write_text(text, encoding="utf-8")
    (tmp_path / "2b.json").write_text("{", encoding="utf-8")
    ran = command("import", "json", str(tmp_path), "--json")
    assert ran.code == 2
    assert [(scene["name"], scene["outcome"]) for scene in ran.json["scenes"]] == [(name, "created") for name in graphs]
    assert [Path(failed["source"]).name for failed in ran.json["failed"]] == ["2b.json"]
    for name, graph in graphs.items():
        found = store.load(name)
        assert found.graph == graph
        assert found.info.bounds == bounds_of(graph)
        store.delete(name)

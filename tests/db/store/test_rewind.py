"""A scene at each of its versions is what it was then, read from the present, from snapshots, and in small steps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, LiteralString

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.store import rewind, snapshots
from scenecypher.db.store.connection import Database
from scenecypher.db.store.publish import delete_generation
from scenecypher.db.store.rewind import SceneAt, load_version
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.snapshots import WRITE_PART, keep_snapshot, read_snapshot, snapshot_versions, surplus
from scenecypher.errors import InputError
from tests.db.store.test_at import SOIL
from tests.db.store.test_consistent_read import ReadingDatabase, reading
from tests.db.store.test_store import big, fresh, odd, small
from tests.strategies import scene_graphs

__all__ = ["reading"]

SNAPSHOTS: LiteralString = "MATCH (p:Snapshot {scene: $key}) RETURN count(p) AS number"


def with_states(store: SceneStore, graphs: list[SceneGraph]) -> str:
    """Return a scene that was each of the graphs in turn; a commit without a change is a version, too."""
    name = fresh("states")
    properties = {key for graph in graphs for node in graph.nodes.values() for key in node.properties}
    types = {relation.type for graph in graphs for relation in graph.relations}
    store.put(ImportedScene(name, graphs[0], declared=Declared(tuple(types), tuple(properties))))
    info = store.find(name)
    for before, after in pairwise(graphs):
        store.commit(info, diff(before, after), actor="t", action="change")
    return name


def parts_of(database: Database, key: str) -> int:
    record = database.row(SNAPSHOTS, {"key": key})
    assert record is not None
    return int(record["number"])


@pytest.mark.parametrize("far", [0, 1])
@settings(max_examples=3)
@given(graphs=st.lists(scene_graphs(), min_size=2, max_size=4), data=st.data())
def test_each_version_is_what_it_was(store: SceneStore, far: int, graphs: list[SceneGraph], data: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewind, "FAR", far)
        patch.setattr(rewind, "VERSIONS_PER_READ", 2)
        patch.setattr(snapshots, "NODES_PER_PART", 2)
        patch.setattr(snapshots, "RELATIONS_PER_PART", 3)
        name = with_states(store, graphs)
        info = store.find(name)
        assert parts_of(store.database, info.key) == 0, "who acts writes none"
        for version in data.draw(st.permutations(range(len(graphs)))):
            assert store.load_at(f"{name}@{version}").graph == graphs[version]
            assert store.as_of(name, version) == graphs[version]
        assert (parts_of(store.database, info.key) > 0) == (len(graphs) - 1 > far)


def test_a_version_without_an_event_is_one_too(store: SceneStore) -> None:
    name = fresh("redeclared")
    store.put(ImportedScene(name, small()))
    store.set_vocabulary(name, "virtualhome")
    store.commit(store.find(name), SOIL, actor="t", action="soil")
    assert [store.as_of(name, version).nodes["cup"].states for version in (0, 1, 2)] == [(), (), ("dirty",)]


def test_what_is_kept_is_read_again_without_events(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewind, "FAR", 1)
    graphs = [small(), odd(), small(), odd()]
    name = with_states(store, graphs)
    assert store.load_at(f"{name}@1").graph == odd()
    monkeypatch.setattr(rewind, "_way", None)
    snapshot = store.load_at(f"{name}@1")
    assert snapshot.graph == odd()
    assert (snapshot.info.version, snapshot.info.nodes, snapshot.info.relations) == (1, 4, 5)


def test_a_half_written_snapshot_is_not_read_and_is_completed(
    store: SceneStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = fresh("half")
    graph = big(30)
    store.put(ImportedScene(name, graph))
    key = store.find(name).key
    monkeypatch.setattr(snapshots, "NODES_PER_PART", 10)
    whole = [*snapshots._parts(graph)]
    assert len(whole) == 4
    half = {"key": key, "version": 0, "part": 1, "parts": 4, "form": 1, "data": whole[1]}
    store.database.execute(WRITE_PART, half, timeout_s=30)
    assert snapshot_versions(store.database, key) == []
    assert read_snapshot(store.database, key, 0) is None
    keep_snapshot(store.database, key, 0, graph)
    assert snapshot_versions(store.database, key) == [0]
    assert read_snapshot(store.database, key, 0) == graph
    assert parts_of(store.database, key) == 4


def test_the_snapshots_of_a_scene_are_bounded(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    name = fresh("bounded")
    store.put(ImportedScene(name, small()))
    key = store.find(name).key
    for version in range(1, 24):
        keep_snapshot(store.database, key, version, small())
    kept = snapshot_versions(store.database, key)
    assert len(kept) == snapshots.SNAPSHOTS_KEPT
    assert kept[-1] == 23
    monkeypatch.setattr(snapshots, "FORM", 2)
    assert snapshot_versions(store.database, key) == [], "another form is not read"


def test_those_that_are_close_together_go_first() -> None:
    assert surplus([1, 500, 510, 2_000, 9_000], newest=2_000, limit=4) == [500]
    assert surplus([1, 500, 510, 2_000, 9_000], newest=500, limit=3) == [510, 2_000]
    assert surplus([3, 4], newest=4, limit=2) == []


def test_snapshots_go_with_their_scene(store: SceneStore) -> None:
    name = fresh("gone")
    store.put(ImportedScene(name, small()))
    key = store.find(name).key
    keep_snapshot(store.database, key, 0, small())
    assert parts_of(store.database, key) == 1
    delete_generation(store.database, key)
    keep_snapshot(store.database, key, 0, small())
    assert parts_of(store.database, key) == 0, "a scene that is deleted gets no more"


def test_who_may_not_write_reads_and_keeps_nothing(
    store: SceneStore, reading: ReadingDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewind, "FAR", 0)
    name = with_states(store, [small(), odd()])
    assert SceneStore(reading).load_at(f"{name}@0").graph == small()
    assert snapshot_versions(reading, store.find(name).key) == []


def test_a_version_of_the_future_is_no_version(store: SceneStore) -> None:
    name = with_states(store, [small(), odd()])
    with pytest.raises(InputError, match="has versions 0 to 1, not 2"):
        store.as_of(name, 2)
    with pytest.raises(InputError, match="not -1"):
        store.as_of(name, -1)


def test_a_long_history_is_read_in_steps() -> None:
    assert rewind._spans(1, 1) == []
    assert rewind._spans(5_000, 1) == [(5_000, 3_000), (3_000, 1_000), (1_000, 1)]
    assert rewind._spans(1, 2_002) == [(1, 2_001), (2_001, 2_002)]


def test_no_event_is_read_of_the_present(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    name = with_states(store, [small(), odd()])
    monkeypatch.setattr(rewind, "_way", None)
    assert load_version(store.database, SceneAt(store.find(name), 1)).graph == odd()
    assert Delta() == diff(store.load_at(f"{name}@1").graph, odd())

"""A scene at each of its versions is what it was then, read from the present in small steps."""

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
from scenecypher.db.store import rewind
from scenecypher.db.store.publish import delete_generation
from scenecypher.db.store.rewind import SceneAt, load_version
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from tests.db.store.test_at import SOIL
from tests.db.store.test_consistent_read import ReadingDatabase, reading
from tests.db.store.test_store import fresh, odd, small
from tests.strategies import scene_graphs

__all__ = ["reading"]

KEPT: LiteralString = "CREATE (p:Snapshot {scene: $key, version: 1, part: 0, parts: 1, form: 1})"


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


@settings(max_examples=3)
@given(graphs=st.lists(scene_graphs(), min_size=2, max_size=4), data=st.data())
def test_each_version_is_what_it_was(store: SceneStore, graphs: list[SceneGraph], data: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewind, "VERSIONS_PER_READ", 2)
        name = with_states(store, graphs)
        for version in data.draw(st.permutations(range(len(graphs)))):
            assert store.load_at(f"{name}@{version}").graph == graphs[version]
            assert store.as_of(name, version) == graphs[version]


def test_a_version_without_an_event_is_one_too(store: SceneStore) -> None:
    name = fresh("redeclared")
    store.put(ImportedScene(name, small()))
    store.set_vocabulary(name, "virtualhome")
    store.commit(store.find(name), SOIL, actor="t", action="soil")
    assert [store.as_of(name, version).nodes["cup"].states for version in (0, 1, 2)] == [(), (), ("dirty",)]


def test_who_may_not_write_reads_the_past(store: SceneStore, reading: ReadingDatabase) -> None:
    name = with_states(store, [small(), odd()])
    assert SceneStore(reading).load_at(f"{name}@0").graph == small()


def test_what_an_earlier_version_kept_of_the_past_goes_with_its_scene(store: SceneStore) -> None:
    name = fresh("kept")
    store.put(ImportedScene(name, small()))
    given = {"key": store.find(name).key}
    store.database.execute(KEPT, given)
    delete_generation(store.database, given["key"])
    assert store.database.rows("MATCH (p:Snapshot {scene: $key}) RETURN p", given) == []


def test_a_version_of_the_future_is_no_version(store: SceneStore) -> None:
    name = with_states(store, [small(), odd()])
    with pytest.raises(InputError, match="has versions 0 to 1, not 2"):
        store.as_of(name, 2)
    with pytest.raises(InputError, match="not -1"):
        store.as_of(name, -1)


def test_a_long_history_is_read_in_steps() -> None:
    assert rewind._spans(1, 1) == []
    assert rewind._spans(5_000, 1) == [(5_000, 3_000), (3_000, 1_000), (1_000, 1)]


def test_no_event_is_read_of_the_present(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    name = with_states(store, [small(), odd()])
    monkeypatch.setattr(rewind, "_way_back", None)
    assert load_version(store.database, SceneAt(store.find(name), 1)).graph == odd()
    assert Delta() == diff(store.load_at(f"{name}@1").graph, odd())

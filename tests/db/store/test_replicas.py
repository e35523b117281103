"""Which scenes a process keeps in memory."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scenecypher.db.graph.delta import AddNode, Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node
from scenecypher.db.store import replicas as module
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.load import LoadedScene, load_generation
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.waiting import waits
from tests.db.store.test_replica import Toggling, home, intent
from tests.db.store.test_store import fresh


def test_a_scene_that_grows_is_measured_as_it_is(store: SceneStore) -> None:
    """A limit that is checked by what was so at loading: two scenes that grow beyond it are not both kept."""
    ours = SceneStore(store.database, kept_members=60)
    infos = [_made(ours) for _ in range(2)]
    for number in range(30):
        for info in infos:
            node = Node(f"new-{number}", "Object", f"new-{number}", "new")
            ours.change(info, lambda _, node=node: Delta.of([AddNode(node)]), intent=intent())  # type: ignore[misc]
    kept = ours.replicas._kept
    assert sum(it.size for it in kept.values()) == kept.currsize <= 60
    assert len(kept) == 1


def test_threads_that_need_a_scene_at_once_load_it_once(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """One load in flight: the others wait for it, and people are told what is read, and how much."""
    loads, told = list[str](), list[str]()

    def counted(database: Database, scene: SceneInfo) -> LoadedScene:
        loads.append(scene.key)
        told.extend(waits(over_s=-1))
        return load_generation(database, scene)

    monkeypatch.setattr(module, "load_generation", counted)
    ours, info = SceneStore(store.database), _made(store)
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda _: ours.now(info).graph, range(8))]
    assert loads == [info.key]
    assert f"{info.name}: {home().size} nodes and relations to be read into memory" in told
    assert found == [home()] * 8


def test_readers_beside_writers_see_whole_versions_that_only_grow(store: SceneStore) -> None:
    """Each version is a value of its own: nobody sees half a change, or one that was overtaken."""
    ours, info, is_over = SceneStore(store.database), _made(store), threading.Event()
    other, said = SceneStore(store.database), list[int]()

    def write(by: SceneStore) -> None:
        for _ in range(30):
            said.append(by.change(info, Toggling(), intent=intent()).version)

    def read(_: int) -> int:
        version = 0
        while not is_over.is_set():
            now = ours.now(info)
            assert now.info.version >= version
            version = now.info.version
            assert now.graph.nodes["cup"].states == (("clean",) if version % 2 == 0 else ("dirty",))
            assert now.graph.by_class["cup"] == ("cup",)
        return version

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read, number) for number in range(2)]
        writers = [pool.submit(write, by) for by in (ours, other)]
        for writer in writers:
            writer.result(timeout=120)
        is_over.set()
        assert all(reader.result(timeout=30) for reader in readers)
    assert sorted(said) == [*range(1, 61)]
    assert ours.now(info).graph == store.load(info.name).graph


@pytest.mark.parametrize("most", [0, 2, 2_000])
def test_a_scene_that_others_moved_on_is_caught_up_with_by_events_or_loaded(
    store: SceneStore, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(module, "MOST_EVENTS", most)
    ours, other, info = SceneStore(store.database), SceneStore(store.database), _made(store)
    for commits in (1, 2, 5):
        before = ours.now(info).info.version
        for _ in range(commits):
            other.change(info, Toggling(), intent=intent())
        now = ours.now(info)
        assert now.info.version == before + commits
        assert now.graph == store.load(info.name).graph
    assert ours.change(info, Toggling(), intent=intent()).version == 9


def _made(store: SceneStore) -> SceneInfo:
    name = fresh("visited")
    store.put(ImportedScene(name, home()))
    return store.find(name)

"""Reads wait for a running commit: a version read without the lock proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from threading import Barrier
from typing import Any

import pytest
from neo4j import ManagedTransaction

from scenecypher.db.condition import HasState, Id
from scenecypher.db.graph.delta import ChangeList, Delta
from scenecypher.db.store.catalog import SceneInfo, version_under_lock
from scenecypher.db.store.commit import Intent, commit_delta
from scenecypher.db.store.condition_check import check_goal
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.surroundings import read_surroundings
from tests.db.store.test_replica import scene

__all__ = ["scene"]

SOILED = Delta.of([ChangeList("cup", "states", ("dirty",), ("clean",))])
WAITED_S = 0.3
WRITES = 30


def load(store: SceneStore, database: Database, scene: SceneInfo) -> tuple[str, ...]:
    return store.load(scene.name).graph.nodes["cup"].states


def enumerate_(store: SceneStore, database: Database, scene: SceneInfo) -> tuple[str, ...]:
    return tuple(use.value for use in Enumerator(database).of(scene).states)


def judged(store: SceneStore, database: Database, scene: SceneInfo) -> tuple[str, ...]:
    return ("dirty",) if check_goal(store, scene, HasState(Id("cup"), "dirty")).holds else ("clean",)


def shown(store: SceneStore, database: Database, scene: SceneInfo) -> tuple[str, ...]:
    return read_surroundings(database, scene, touched=["cup"]).nodes["cup"].states


@pytest.mark.parametrize("read", [load, enumerate_, judged, shown])
def test_a_reader_waits_for_a_commit_under_way(
    store: SceneStore,
    database: Database,
    scene: SceneInfo,
    read: Callable[[SceneStore, Database, SceneInfo], tuple[str, ...]],
) -> None:
    with ThreadPoolExecutor(1) as pool:

        def commit(tx: ManagedTransaction) -> Future[Any]:
            commit_delta(tx, scene, SOILED, intent=Intent("t", "soil", "soil"))
            reading = pool.submit(read, store, database, scene)
            with pytest.raises(FutureTimeout):
                reading.result(timeout=WAITED_S)
            return reading

        assert database.write(commit, timeout_s=30).result(timeout=30) == ("dirty",)


def test_readers_and_writers_of_one_scene_never_wait_for_each_other_in_a_circle(
    store: SceneStore, database: Database, scene: SceneInfo, caplog: pytest.LogCaptureFixture
) -> None:
    """A deadlock would show in the driver's log, which tells of each retry."""
    start = Barrier(4)

    def write(state: str) -> None:
        there, back = ((state,), ()), ((), (state,))
        start.wait()
        for _ in range(WRITES):
            for added, removed in (there, back):
                delta = Delta.of([ChangeList("cup", "states", added, removed)])
                store.commit(scene, delta, actor="t", action="write")

    def look() -> None:
        start.wait()
        for _ in range(4 * WRITES):
            version_under_lock(database, scene.key, scene.name)

    with caplog.at_level("WARNING", logger="neo4j"), ThreadPoolExecutor(4) as pool:
        work = [pool.submit(write, "lit"), pool.submit(write, "torn"), pool.submit(look), pool.submit(look)]
        for each in work:
            each.result()
    assert [record.getMessage() for record in caplog.records if "etried" in record.getMessage()] == []
    assert store.find(scene.name).version == 4 * WRITES

"""Cached copies of earlier versions: queried like any scene, changed by nobody, one a version, bounded, collected."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any, LiteralString

import pytest

from scenecypher.db.gate import Gate, SceneRef
from scenecypher.db.graph.delta import invert
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store import publish, rewind
from scenecypher.db.store.catalog import SceneInfo, scene_of
from scenecypher.db.store.commit import Intent
from scenecypher.db.store.connection import Database
from scenecypher.db.store.load import load_generation
from scenecypher.db.store.publish import Header
from scenecypher.db.store.rewind import SceneAt
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, SceneReplaced, ServiceError
from scenecypher.waiting import listen
from tests.db.store.test_at import SOIL
from tests.db.store.test_consistent_read import ReadingDatabase, reading
from tests.db.store.test_rewind import with_states
from tests.db.store.test_store import big, fresh, odd, small

__all__ = ["reading"]

SOIL_AWAY = invert(SOIL)
COUNT: LiteralString = """
MATCH (s:Scene) WHERE s.copied_from STARTS WITH $key AND s.status = 'ready' RETURN count(s) AS number
"""
ALL_KEPT: LiteralString = "MATCH (s:Scene) WHERE s.past IS NOT NULL RETURN count(s) AS number"
MEMBERS: LiteralString = "MATCH (n:Entity {scene: $key}) RETURN count(n) AS number"
KILLED = """
import os, signal, sys
import scenecypher as sc
from scenecypher.db.store.rewind import past_copy
from scenecypher.db.store.rewind import find_at
with sc.connect() as db:
    past_copy(db.store.database, find_at(db.store.database, sys.argv[1]),
              progress=lambda done, total: os.kill(os.getpid(), signal.SIGKILL))
"""


def number(database: Database, text: LiteralString, **given: Any) -> int:
    record = database.row(text, given)
    assert record is not None
    return int(record["number"])


def states_of_cup(database: Database, scene: SceneInfo) -> list[list[Any]]:
    text = "MATCH (c:Object {id: 'cup'}) RETURN c.states"
    return Gate(database).run(text, SceneRef.of(scene)).rows


@pytest.fixture
def name(store: SceneStore) -> str:
    """The name of a scene whose cup is dirty at version 1 alone."""
    name = fresh("copied")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    store.commit(info, SOIL, actor="t", action="soil")
    store.undo(info)
    return name


def test_each_version_is_queried_as_it_was(store: SceneStore, database: Database, name: str) -> None:
    for version, states in ((0, []), (1, ["dirty"]), (2, [])):
        found = store.materialise(f"{name}@{version}")
        assert (found.name, found.version, found.base) == (f"{name}@{version}", version, version)
        assert states_of_cup(database, found) == [[states]]
        answer = Gate(database).run("MATCH (n) RETURN count(n)", SceneRef.of(found))
        assert (answer.rows, answer.version) == ([[4]], version)
        assert load_generation(database, found).graph == store.as_of(name, version)
    assert store.materialise(name) == store.find(name)


def test_a_copy_is_made_once_and_nobody_finds_it_by_a_name(store: SceneStore, database: Database, name: str) -> None:
    first = store.materialise(f"{name}@1")
    assert store.materialise(f"{name}@1") == first
    key = store.find(name).key
    assert number(database, COUNT, key=key) == 1
    assert name in [info.name for info in store.scenes()]
    assert not [info for info in store.scenes() if info.name.startswith(f"{name}@")]
    with pytest.raises(InputError, match=f"scenes copy {name}@1 NEW"):
        store.find(f"{name}@1")


def test_a_copy_is_changed_by_nobody(store: SceneStore, name: str) -> None:
    found = store.materialise(f"{name}@0")
    tries = (
        lambda: store.commit(found, SOIL, actor="t", action="soil"),
        lambda: store.change(found, lambda _: SOIL, intent=Intent("t", "soil", "one")),
        lambda: store.set_vocabulary(f"{name}@0", "virtualhome"),
        lambda: store.delete(f"{name}@0"),
        lambda: store.lease(f"{name}@0").__enter__(),
    )
    for change in tries:
        with pytest.raises(InputError, match=f"'{name}@0' is an earlier state"):
            change()
    assert states_of_cup(store.database, found) == [[[]]]


def test_a_changed_vocabulary_is_that_of_its_past_too(store: SceneStore, name: str) -> None:
    before = store.materialise(f"{name}@1")
    store.set_vocabulary(name, "virtualhome")
    after = store.materialise(f"{name}@1")
    assert (after.key, after.version, after.vocabulary) == (before.key, 1, "virtualhome")


def test_who_comes_second_takes_the_first_ones(
    store: SceneStore, database: Database, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two readers make the same copy; the other ends while this one still writes."""
    write, made = publish.write_generation, list[SceneInfo]()

    def late(*given: Any, **options: Any) -> str:
        key = write(*given, **options)
        monkeypatch.setattr(rewind, "write_generation", write)
        made.append(store.materialise(f"{name}@1"))
        made.append(scene_of(database, key))  # type: ignore[arg-type]
        return key

    monkeypatch.setattr(rewind, "write_generation", late)
    found = store.materialise(f"{name}@1")
    assert found == made[0]
    assert made[1].status == "importing"
    assert scene_of(database, made[1].key) is None, "what came too late is gone"
    assert number(database, COUNT, key=store.find(name).key) == 1


def test_readers_at_once_get_the_same_copy(store: SceneStore, database: Database, name: str) -> None:
    start = Barrier(4)

    def read(_: int) -> tuple[str, list[list[Any]]]:
        start.wait()
        found = store.materialise(f"{name}@1")
        return found.key, states_of_cup(database, found)

    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(read, range(4))]
    assert len({key for key, _ in found}) == 1
    assert [rows for _, rows in found] == [[[["dirty"]]]] * 4
    assert number(database, COUNT, key=store.find(name).key) == 1


def test_what_a_killed_reader_left_is_never_seen_and_is_collected(
    store: SceneStore, database: Database, user_env: dict[str, str]
) -> None:
    name = fresh("killed")
    store.put(ImportedScene(name, odd()))
    key = store.find(name).key
    ran = subprocess.run([sys.executable, "-c", KILLED, f"{name}@0"], env=user_env, timeout=120, check=False)
    assert ran.returncode == -9
    left = "MATCH (s:Scene {copied_from: $origin}) RETURN s.key AS key, s.status AS status"
    record = database.row(left, {"origin": f"{key}@0"})
    assert record is not None
    assert record["status"] == "importing"
    found = store.materialise(f"{name}@0")
    assert found.key != record["key"]
    assert load_generation(database, found).graph == odd()
    store.delete_leftovers(grace_s=0)
    assert scene_of(database, record["key"]) is None
    assert number(database, MEMBERS, key=record["key"]) == 0


def test_copies_are_bounded_in_number_and_in_size(
    store: SceneStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewind, "COPIES_KEPT", 2)
    name = with_states(store, [small(), odd(), small()])
    copies = [store.materialise(f"{name}@{version}") for version in range(3)]
    assert number(database, ALL_KEPT) == 2
    assert [scene_of(database, it.key) is not None for it in copies] == [False, True, True]
    assert number(database, MEMBERS, key=copies[0].key) == 0
    assert store.materialise(f"{name}@0").key != copies[0].key
    monkeypatch.setattr(rewind, "MEMBERS_KEPT", 1)
    kept = store.materialise(f"{name}@1")
    assert number(database, ALL_KEPT) == 1
    assert load_generation(database, kept).graph == odd(), "the newest stays, however large"


def test_db_clean_collects_old_copies_and_leaves_new_ones(store: SceneStore, database: Database, name: str) -> None:
    found = store.materialise(f"{name}@1")
    store.delete_leftovers(grace_s=3_600)
    assert store.materialise(f"{name}@1").key == found.key
    store.delete_leftovers(grace_s=0)
    assert scene_of(database, found.key) is None
    with pytest.raises(SceneReplaced):
        load_generation(database, found)
    assert states_of_cup(database, store.materialise(f"{name}@1")) == [[["dirty"]]]


def test_readers_beside_db_clean_get_the_right_answer_or_are_told_to_ask_again(
    store: SceneStore, database: Database, name: str
) -> None:
    asked = [version % 3 for version in range(12)]

    def read(version: int) -> list[list[Any]] | None:
        try:
            return states_of_cup(database, store.materialise(f"{name}@{version}"))
        except ServiceError as error:
            return None if error.retryable else [[str(error)]]

    with ThreadPoolExecutor(4) as pool:
        cleaning = [pool.submit(store.delete_leftovers, grace_s=0) for _ in range(6)]
        found = [*pool.map(read, asked)]
        for it in cleaning:
            it.result()
    right: list[list[Any]] = [[["dirty"]] if version == 1 else [[]] for version in asked]
    assert all(rows in (None, [wanted]) for rows, wanted in zip(found, right, strict=True))
    assert states_of_cup(database, store.materialise(f"{name}@1")) == [[["dirty"]]]


def test_who_may_not_write_reads_what_is_there_and_is_told_else(
    store: SceneStore, reading: ReadingDatabase, name: str
) -> None:
    reader = SceneStore(reading)
    with pytest.raises(ServiceError, match=f"'{name}@1' has to be copied within the database .* may only read"):
        reader.materialise(f"{name}@1")
    made = store.materialise(f"{name}@1")
    assert reader.materialise(f"{name}@1").key == made.key
    assert states_of_cup(reading, made) == [[["dirty"]]]


def test_what_takes_long_says_what_is_waited_for(store: SceneStore, name: str) -> None:
    told: list[str] = []

    @contextmanager
    def note(what: str) -> Iterator[None]:
        told.append(what)
        yield

    listen(note)
    try:
        store.materialise(f"{name}@1")
    finally:
        listen(None)
    assert f"a copy of '{name}@1', which is written once, to be queried" in told
    assert f"'{name}@1', which is read from the history" in told


def test_a_fork_is_a_world_of_its_own(store: SceneStore, name: str) -> None:
    key = store.find(name).key
    fork = store.copy(f"{name}@1", f"{name}/fork")
    assert (fork.name, fork.version, fork.copied_from, fork.is_past_copy) == (f"{name}/fork", 0, f"{key}@1", False)
    assert store.load(fork.name).graph == store.as_of(name, 1)
    assert store.commit(fork, SOIL_AWAY, actor="t", action="clean").version == 1
    assert store.as_of(name, 1).nodes["cup"].states == ("dirty",)


def test_a_copy_is_of_its_generation(store: SceneStore) -> None:
    name = fresh("generations")
    store.put(ImportedScene(name, small()))
    old = store.materialise(f"{name}@0")
    publish.publish(store.database, big(20), Header(name, "virtualhome"), replaces=store.find(name).key)
    new = store.materialise(f"{name}@0")
    assert old.key != new.key
    assert load_generation(store.database, new).graph == store.load(name).graph
    assert isinstance(SceneAt(new, 0).name, str)

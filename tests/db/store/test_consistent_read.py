"""Steady reads: an answer belongs to one version, waits for no writer, and needs no right to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import cycle
from threading import Barrier, Event
from time import perf_counter
from typing import Any, LiteralString

import pytest
from neo4j import READ_ACCESS, ManagedTransaction

from scenecypher.db.condition import HasState, Id
from scenecypher.db.gate import Gate, Limits, SceneRef
from scenecypher.db.graph.delta import ChangeList, Delta, invert
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store import publish
from scenecypher.db.store.catalog import SceneInfo, scene_of
from scenecypher.db.store.commit import Intent
from scenecypher.db.store.condition_check import check_goal
from scenecypher.db.store.connection import Address, Database, TimeLimit
from scenecypher.db.store.consistent_read import (
    LOOK,
    LOOK_UNDER_LOCK,
    TRIES_BEFORE_LOCK,
    SceneChanging,
    consistent_transaction,
    current_version,
    read_consistently,
)
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.load import load_generation, load_replaced
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, QueryFailed, QueryRefused, SceneReplaced
from tests.db.store.test_replica import home, scene
from tests.db.store.test_store import fresh
from tests.db.store.torn import measure
from tests.sampling import FULL

__all__ = ["scene"]

SOILED = Delta.of([ChangeList("cup", "states", ("dirty",), ("clean",))])
WRITES = 30
READS, SECONDS = (100_000, 900) if FULL else (600, 10)


class ReadingDatabase(Database):
    """Connection whose sessions are all in read access mode, in which the server refuses to write.

    Community has no roles: it stands for a user of an Enterprise server who may only read.
    """

    def _plain_session(self, access: str, limit: TimeLimit, **options: Any) -> Any:  # noqa: ARG002 - always READ
        return super()._plain_session(READ_ACCESS, limit, **options)

    def transaction(
        self, work: Callable[[ManagedTransaction], Any], *, timeout_s: float | None = None, **_: Any
    ) -> Any:
        return super().transaction(work, timeout_s=timeout_s)


@pytest.fixture(scope="module")
def reading(address: Address) -> Iterator[ReadingDatabase]:
    with ReadingDatabase(address) as database:
        yield database


def loaded(database: Database, scene: SceneInfo) -> tuple[str, ...]:
    return SceneStore(database).load(scene.name).graph.nodes["cup"].states


def enumerated(database: Database, scene: SceneInfo) -> tuple[str, ...]:
    return tuple(
        use.value for use in Enumerator(Replicas(database)).of(scene).states if use.value in {"clean", "dirty"}
    )


def judged(database: Database, scene: SceneInfo) -> tuple[str, ...]:
    return ("dirty",) if check_goal(SceneStore(database), scene, HasState(Id("cup"), "dirty")).holds else ("clean",)


@cache
def store_of(database: Database) -> SceneStore:
    """Return the store of a database, the same at each call: it keeps what it reads."""
    return SceneStore(database)


def in_memory(database: Database, scene: SceneInfo) -> tuple[str, ...]:
    return store_of(database).now(scene).graph.nodes["cup"].states


def asked(database: Database, scene: SceneInfo) -> tuple[str, ...]:
    text = "MATCH (n:Object {id: 'cup'}) UNWIND n.states AS state RETURN state"
    answer = Gate(database).run(text, SceneRef.of(scene))
    return tuple(str(row[0]) for row in answer.rows)


READERS = [loaded, enumerated, judged, in_memory, asked]


@pytest.mark.parametrize("read", READERS)
def test_a_reader_without_the_right_to_write_sees_what_was_committed_and_waits_for_nobody(
    store: SceneStore,
    database: Database,
    reading: ReadingDatabase,
    scene: SceneInfo,
    read: Callable[[Database, SceneInfo], tuple[str, ...]],
) -> None:
    def commit(tx: ManagedTransaction) -> None:
        intent = Intent("t", "soil", "soil")
        with store.replicas.of(scene) as replica:
            replica.write(tx, replica.lock(tx, agent=None, intent=intent, text=None), SOILED, intent=intent)
        assert read(reading, scene) == ("clean",), "the commit under way holds the lock, and is not committed"

    database.transaction(commit, access="write", timeout_s=30)
    assert read(reading, scene) == ("dirty",)
    with pytest.raises(QueryFailed, match="read access mode"):
        SceneStore(reading).commit(scene, SOILED, actor="t", action="soil")


def test_no_read_is_torn(address: Address) -> None:
    """A whole run: `SCENECYPHER_TEST_FULL=1`, 100,000 reads, and a tenth without bookmarks, some of them torn."""
    found = measure(address, reads=READS, seconds=SECONDS)
    assert found["commits"] > 10
    assert found["without a look"] > 0
    assert found["equal"] >= (READS if FULL else 100), "on a busy machine the ordinary run ends early"
    assert {kind: number for kind, number in found.items() if kind.startswith("torn")} == {}
    if FULL:
        unmarked = measure(address, reads=READS // 10, seconds=SECONDS, marked=False)
        assert any(kind.startswith("torn") for kind in unmarked), "the measurement finds what it looks for"


def test_writers_that_leave_no_pause_wait_for_one_read_under_the_lock(
    store: SceneStore, database: Database, reading: ReadingDatabase, scene: SceneInfo
) -> None:
    reads = 0

    def interrupted(tx: ManagedTransaction) -> int:
        nonlocal reads
        reads += 1
        if reads <= TRIES_BEFORE_LOCK:
            store.commit(scene, next(toggles), actor="t", action="interrupt")
        return int(tx.run("MATCH (s:Scene {key: $key}) RETURN s.version", key=scene.key).single(strict=True)[0])

    toggles = cycle([SOILED, invert(SOILED)])
    found, version = consistent_transaction(database, scene, interrupted, timeout_s=30)
    assert (reads, found, version) == (TRIES_BEFORE_LOCK + 1, TRIES_BEFORE_LOCK, TRIES_BEFORE_LOCK)
    reads = 0
    with pytest.raises(SceneChanging, match="ask again"):
        consistent_transaction(reading, scene, interrupted, timeout_s=30)


@contextmanager
def acting(store: SceneStore, scene: SceneInfo) -> Iterator[None]:
    """Commit to the scene several times a second while the block runs."""
    is_over, begun = Event(), Event()

    def act() -> None:
        for delta in cycle([SOILED, invert(SOILED)]):
            store.commit(scene, delta, actor="t", action="interrupt")
            begun.set()
            if is_over.wait(0.1):
                return

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(act)
        try:
            begun.wait(30)
            yield
        finally:
            is_over.set()
            done.result(timeout=60)


def slow_query(gate: Gate, ref: SceneRef) -> str:
    """Return a query that takes from 0.4 to 1.2 seconds on this machine: longer than a writer's pause."""
    numbers, seconds = 400_000, 0.0
    while seconds < 0.4:
        numbers = min(numbers * 2, int(numbers * 0.6 / seconds)) if seconds else numbers
        text = "UNWIND range(1, 1000) AS x UNWIND range(1, %d) AS y WITH x * y AS z WHERE z %% 7 = 3 RETURN count(z)"
        text %= numbers // 1_000
        seconds = [gate.run(text, ref).seconds for _ in range(2)][1]  # the first is planned
    return text


def test_a_question_beside_a_busy_writer_is_answered_within_its_limit(
    store: SceneStore, database: Database, scene: SceneInfo
) -> None:
    """The kind: a limit held for each of up to eight tries, not for the question, which then was not answered."""
    gate, ref = Gate(database, limits=Limits(seconds=4)), SceneRef(scene.key, scene.name)
    text = slow_query(gate, ref)
    with acting(store, scene):
        begun = perf_counter()
        answer = gate.run(text, ref)
        seconds = perf_counter() - begun
    assert answer.version > 0
    assert seconds < gate.limits.seconds


def test_a_question_that_can_not_take_the_lock_is_told_so_within_its_limit(
    store: SceneStore, reading: ReadingDatabase, scene: SceneInfo
) -> None:
    """The kind: as above, for an account that may only read; the scene's change ends its tries, not their number."""
    gate, ref = Gate(reading, limits=Limits(seconds=2)), SceneRef(scene.key, scene.name)
    text = slow_query(gate, ref)
    with acting(store, scene):
        begun = perf_counter()
        # On a busy machine a later try may take longer than what is left of the question's limit.
        with pytest.raises(
            (SceneChanging, QueryRefused), match=r"changes faster than it is read|longer than 2 seconds"
        ):
            gate.run(text, ref)
        seconds = perf_counter() - begun
    assert seconds < gate.limits.seconds + 1


@pytest.fixture
def looks(database: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the statements that `row` sends, among them the looks at a version."""
    texts: list[str] = []
    row = database.row

    def noted(text: Any, parameters: Any, **options: Any) -> Any:
        texts.append(text)
        return row(text, parameters, **options)

    monkeypatch.setattr(database, "row", noted)
    return texts


def test_an_own_commit_is_known_without_a_look(
    store: SceneStore, database: Database, scene: SceneInfo, looks: list[str]
) -> None:
    store.commit(scene, SOILED, actor="t", action="soil")
    looks.clear()
    assert read_consistently(database, scene, lambda: "read") == ("read", 1)
    assert looks == [LOOK]


def states_now(tx: ManagedTransaction, key: str) -> tuple[str, ...]:
    return tuple(tx.run("MATCH (n:Entity {scene: $key, id: 'cup'}) RETURN n.states", key=key).single(strict=True)[0])


def test_where_nothing_was_committed_since_the_last_look_none_is_needed(
    store: SceneStore, database: Database, address: Address, scene: SceneInfo, looks: list[str]
) -> None:
    def read() -> tuple[str, ...]:
        return database.transaction(lambda tx: states_now(tx, scene.key))

    for _ in range(3):
        current_version(database, scene)
    looks.clear()
    assert [read_consistently(database, scene, read) for _ in range(3)] == [(("clean",), 0)] * 3
    assert looks == []
    with Database(address) as another:
        SceneStore(another).commit(scene, SOILED, actor="another", action="soil")
    assert read_consistently(database, scene, read) == (("dirty",), 1)
    assert looks
    store.delete(scene.name)
    with pytest.raises(SceneReplaced):
        read_consistently(database, scene, read)


def test_a_commit_during_a_read_moves_the_bookmarks(
    store: SceneStore, database: Database, scene: SceneInfo, looks: list[str]
) -> None:
    """Also one in another scene: bookmarks are the whole database's. This one returns to the state before it."""
    toggles = cycle([SOILED, invert(SOILED)])

    def interrupted() -> tuple[str, ...]:
        def work(tx: ManagedTransaction) -> tuple[str, ...]:
            before = states_now(tx, scene.key)
            if not looks:
                for _ in range(2):
                    store.commit(scene, next(toggles), actor="t", action="interrupt")
            return before + states_now(tx, scene.key)

        return database.transaction(work)

    for _ in range(3):
        current_version(database, scene)
    epoch = database.bookmarks.epoch
    looks.clear()
    assert read_consistently(database, scene, interrupted) == (("clean", "clean"), 2)
    assert looks
    assert database.bookmarks.epoch != epoch


def test_a_generation_that_is_being_deleted_is_not_read(store: SceneStore, database: Database) -> None:
    name = fresh("deleted")
    store.put(ImportedScene(name, home()))
    store.delete(name)
    replaced = load_replaced(store.database, name)
    assert replaced.graph == home()
    for statement in (publish.MARK_DELETING, "MATCH (n:Entity {scene: $key}) WITH n LIMIT 1 DETACH DELETE n"):
        database.transaction(run(statement, replaced.info.key), access="write", timeout_s=30)
    with pytest.raises(SceneReplaced):
        load_generation(database, replaced.info)
    with pytest.raises(InputError, match="no earlier generation"):
        load_replaced(store.database, name)
    store.delete_leftovers(grace_s=3_600)
    assert scene_of(database, replaced.info.key) is None, "another one goes on where the first was killed"


def run(statement: LiteralString, key: str) -> Callable[[ManagedTransaction], object]:
    return lambda tx: tx.run(statement, key=key).consume()


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
            database.transaction(run(LOOK_UNDER_LOCK, scene.key), access="write", timeout_s=30)
            current_version(database, scene)

    with caplog.at_level("WARNING", logger="neo4j"), ThreadPoolExecutor(4) as pool:
        work = [pool.submit(write, "lit"), pool.submit(write, "torn"), pool.submit(look), pool.submit(look)]
        for each in work:
            each.result()
    assert [record.getMessage() for record in caplog.records if "etried" in record.getMessage()] == []
    assert store.find(scene.name).version == 4 * WRITES

"""The store on a real server: import, load, copy, lease and delete."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from uuid import uuid4

import pytest
from hypothesis import given, settings
from neo4j import ManagedTransaction

from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta, RemoveRelation
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.lease import ACQUIRE, acquire
from scenecypher.db.store.publish import (
    ADD_RELATIONS,
    CREATE_SCENE,
    DROP_RELATIONS,
    RELATIONS_PER_BATCH,
    Batch,
    Header,
    _drop,
    delete_generation,
    publish,
    write_batch,
)
from scenecypher.db.store.runs import (
    RunFacts,
    RunProgress,
    StepRow,
    add_steps,
    begin_run,
    delete_expired,
    delete_run,
    latest_runs,
    this_process,
)
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, SceneNotFound, SceneReplaced, ServiceError
from tests.strategies import scene_graphs
from tests.waiting import until


def fresh(stem: str = "scene") -> str:
    return f"test/{stem}-{uuid4().hex[:10]}"


def small() -> SceneGraph:
    return SceneGraph.of(
        [
            Node("kitchen", "Place", "kitchen", "kitchen"),
            Node("robot", "Agent", "robot", "robot"),
            Node("fridge", "Asset", "fridge", "fridge", ("closed",), ("can_open",)),
            Node("cup", "Object", "cup", "cup", (), ("grabbable",), Properties({"color": "blue"})),
        ],
        [Relation("fridge", "INSIDE", "kitchen"), Relation("cup", "INSIDE", "fridge")],
    )


def odd() -> SceneGraph:
    """Return what real scenes have and a tidy model would forbid: both hands, a self-loop, an INSIDE cycle."""
    nodes = [
        Node("robot", "Agent", "robot", "robot"),
        Node("basket", "Object", "basket", "basket", properties=Properties({"center": Point(1.0, -0.0, 2.5)})),
        Node("curtain_1", "Asset", "curtain", "curtain"),
        Node("curtain_2", "Asset", "curtain", "curtain", properties=Properties({"size_x": 1, "size_y": 1.0})),
    ]
    relations = [
        Relation("robot", "HOLDS_LH", "basket"),
        Relation("robot", "HOLDS_RH", "basket"),
        Relation("basket", "INSIDE", "basket"),
        Relation("curtain_1", "INSIDE", "curtain_2"),
        Relation("curtain_2", "INSIDE", "curtain_1"),
    ]
    return SceneGraph.of(nodes, relations)


def big(nodes: int = 4_500) -> SceneGraph:
    return SceneGraph.of(
        [Node("room", "Place", "room", "room"), *(Node(f"o{i}", "Object", f"o{i}", "thing") for i in range(nodes))],
        [Relation(f"o{i}", "INSIDE", "room") for i in range(nodes)],
    )


def test_a_scene_comes_back_as_it_went_in(store: SceneStore) -> None:
    name = fresh()
    done = store.put(ImportedScene(name, odd(), "virtualhome"))
    assert (done.outcome, done.version, done.nodes, done.relations) == ("created", 0, 4, 5)
    snapshot = store.load(name)
    assert snapshot.graph == odd()
    assert snapshot.info.vocabulary == "virtualhome"


@settings(max_examples=25)
@given(graph=scene_graphs())
def test_any_scene_graph_comes_back_as_it_went_in(store: SceneStore, graph: SceneGraph) -> None:
    name = fresh()
    properties = {key for node in graph.nodes.values() for key in node.properties}
    types = {relation.type for relation in graph.relations}
    store.put(ImportedScene(name, graph, declared=Declared(tuple(types), tuple(properties))))
    assert store.load(name).graph == graph


def test_importing_an_equal_scene_again_changes_nothing(store: SceneStore) -> None:
    name = fresh()
    store.put(ImportedScene(name, small()))
    assert store.put(ImportedScene(name, small())).outcome == "unchanged"
    assert store.history(store.find(name)) == []


def test_importing_a_changed_scene_is_one_commit(store: SceneStore) -> None:
    name = fresh()
    store.put(ImportedScene(name, small()))
    done = store.put(ImportedScene(name, odd()))
    assert (done.outcome, done.version) == ("updated", 1)
    assert store.load(name).graph == odd()
    store.undo(store.find(name))
    assert store.load(name).graph == small()


def test_importing_a_very_different_scene_is_a_new_generation(store: SceneStore) -> None:
    name = fresh()
    store.put(ImportedScene(name, small()))
    old = store.find(name)
    assert store.put(ImportedScene(name, big())).outcome == "replaced"
    assert store.find(name).key != old.key
    assert store.load(name).graph == big()
    assert store.history(store.find(name)) == []
    with pytest.raises(SceneReplaced):
        store.undo(old) if store.history(old) else store.commit(old, _touch(), actor="t", action="t")


def _touch() -> Delta:
    return Delta.of([ChangeList("cup", "states", ("dirty",), ())])


def test_a_crash_between_batches_leaves_the_old_scene_whole(store: SceneStore, database: Database) -> None:
    name = fresh()
    store.put(ImportedScene(name, small()))

    class Crash(Exception):
        pass

    def crash(done: int, total: int) -> None:
        raise Crash

    with pytest.raises(Crash):
        publish(database, big(), Header(name, "generic"), replaces=store.find(name).key, progress=crash)
    assert store.load(name).graph == small()


def test_a_batch_that_lacks_an_end_writes_nothing(store: SceneStore) -> None:
    """Rows name ends by place: without the missing one, each later place would be another node."""
    name = fresh()
    graph = small()
    store.put(ImportedScene(name, graph))
    key, (one, other, *_) = store.find(name).key, sorted(graph.nodes)
    parameters = {"key": key, "ids": [one, "missing", other], "rows": [[0, "FACING", [2]]]}
    with pytest.raises(ServiceError, match="wrote 0 of 1 rows"):
        write_batch(store.database, Batch(ADD_RELATIONS, parameters, 1))
    assert store.load(name).graph == graph


def test_leftovers_and_retired_generations_are_deleted_after_a_grace_time(store: SceneStore) -> None:
    name = fresh()
    store.put(ImportedScene(name, small()))
    key = store.find(name).key
    store.delete(name)
    store.delete_leftovers(grace_s=3_600)
    assert members(store.database, key) == 4
    store.delete_leftovers(grace_s=0)
    assert members(store.database, key) == 0


def test_a_replaced_generation_with_a_past_is_kept_longer(store: SceneStore) -> None:
    def replaced(*, acted: bool) -> str:
        name = fresh()
        store.put(ImportedScene(name, small()))
        info = store.find(name)
        if acted:
            store.commit(info, Delta.of([RemoveRelation(min(small().relations))]), actor="robot", action="take")
        publish(store.database, small(), Header(name, "grasif"), replaces=info.key)
        return info.key

    untouched, acted = replaced(acted=False), replaced(acted=True)
    begin_run(store.database, facts_of(untouched), this_process())
    bare = replaced(acted=False)
    store.delete_leftovers(grace_s=0)
    assert [members(store.database, key) for key in (bare, untouched, acted)] == [0, 4, 4]
    store.delete_leftovers(grace_s=0, keep_s=0)
    assert [members(store.database, key) for key in (untouched, acted)] == [0, 0]
    assert not [run for run in latest_runs(store.database) if run.scene == untouched]


def facts_of(key: str) -> RunFacts:
    return RunFacts(key, "test/runs", "plan", "look", "stepwise", "", "stepwise", 0, None, "{}")


def test_runs_are_kept_by_age_and_by_number(store: SceneStore, database: Database) -> None:
    key = uuid4().hex
    numbers = [begin_run(database, facts_of(key), this_process()) for _ in range(3)]
    add_steps(database, numbers[0], [StepRow(1, {"kind": "thought"})], RunProgress(1, None, 0, 0))

    def left() -> list[int]:
        return [run.number for run in latest_runs(database, "test/runs") if run.scene == key]

    delete_expired(database, keep_days=1, keep_runs=1_000_000)
    assert left() == numbers[::-1]
    text = "MATCH (r:Run {number: $number}) SET r.touched = datetime() - duration('P3D')"
    database.execute(text, {"number": numbers[0]}, timeout_s=10)
    assert delete_expired(database, keep_days=1, keep_runs=1_000_000) >= 1
    assert left() == [numbers[2], numbers[1]]
    delete_run(database, numbers[2])
    newer = begin_run(database, facts_of(key), this_process())
    assert newer > numbers[2], "a number is never given twice"
    assert left() == [newer, numbers[1]]


def test_a_scene_is_deleted_in_bounded_transactions(store: SceneStore) -> None:
    """A few nodes may have more relations than a transaction holds."""
    name = fresh("dense")
    ids = [f"n{i}" for i in range(72)]
    pairs = [Relation(one, "CLOSE", other) for one in ids for other in ids if one != other]
    store.put(ImportedScene(name, SceneGraph.of([Node(id_, "Object", id_, "thing") for id_ in ids], pairs)))
    key = store.find(name).key
    assert len(pairs) > RELATIONS_PER_BATCH
    assert _drop(store.database, DROP_RELATIONS, key) == RELATIONS_PER_BATCH
    delete_generation(store.database, key)
    assert members(store.database, key) == 0


def test_an_unfinished_import_is_deleted_and_never_listed(store: SceneStore, database: Database) -> None:
    key = uuid4().hex
    facts = {"role": "world", "vocabulary": "generic", "leased": None}
    database.execute(CREATE_SCENE, {"key": key, "facts": facts, "lease_s": 0}, timeout_s=10)
    assert all(info.key != key for info in store.scenes())
    store.delete_leftovers(grace_s=0)
    count = database.rows("MATCH (s:Scene {key: $key}) RETURN count(s) AS n", {"key": key}, timeout_s=10)[0]["n"]
    assert count == 0


def members(database: Database, key: str) -> int:
    return int(database.rows("MATCH (n:Entity {scene: $key}) RETURN count(n)", {"key": key}, timeout_s=10)[0][0])


def test_a_reader_during_a_publish_sees_the_old_or_the_new_scene_never_an_empty_one(store: SceneStore) -> None:
    name = fresh()
    one, two = big(1_500), big(1_600)
    store.put(ImportedScene(name, one))
    stop = threading.Event()
    seen: list[SceneGraph] = []
    failures: list[BaseException] = []

    def read() -> None:
        while not stop.is_set():
            try:
                seen.append(store.load(name).graph)
            except SceneReplaced:
                continue
            except BaseException as error:  # noqa: BLE001
                failures.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for graph in (two, one, two, one):
        publish(store.database, graph, Header(name, "generic"), replaces=store.find(name).key)
        read_before = len(seen)
        until(lambda: len(seen) > read_before or failures)  # noqa: B023 - called here
    stop.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert seen
    assert all(graph in (one, two) for graph in seen)


def test_copies_of_a_scene_under_a_busy_writer_are_consistent(store: SceneStore) -> None:
    """The writer moves a pair of objects together; a copy that has them apart would be inconsistent."""
    name = fresh()
    filler = [Node(f"f{i}", "Object", f"f{i}", "filler") for i in range(400)]
    nodes = [Node("a", "Place", "a", "room"), Node("b", "Place", "b", "room"), *filler]
    nodes += [Node("x", "Object", "x", "thing"), Node("y", "Object", "y", "thing")]
    relations = [Relation(f"f{i}", "INSIDE", "a") for i in range(400)]
    relations += [Relation("x", "INSIDE", "a"), Relation("y", "INSIDE", "a")]
    store.put(ImportedScene(name, SceneGraph.of(nodes, relations)))
    info = store.find(name)
    stop = threading.Event()

    def write() -> None:
        here, there = "a", "b"
        while not stop.is_set():
            moves = [
                change
                for thing in ("x", "y")
                for change in (
                    RemoveRelation(Relation(thing, "INSIDE", here)),
                    AddRelation(Relation(thing, "INSIDE", there)),
                )
            ]
            store.commit(info, Delta.of(moves), actor="writer", action="move")
            here, there = there, here
            stop.wait(0.05)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        copies = [store.copy(name, f"{name}-{i}") for i in range(10)]
    finally:
        stop.set()
        writer.join()
    for copy in copies:
        graph = store.load(copy.name).graph
        assert graph.targets("x", "INSIDE") == graph.targets("y", "INSIDE")
        assert store.history(copy) == []


def test_copying_onto_a_name_that_is_taken_is_refused(store: SceneStore) -> None:
    name = fresh()
    store.put(ImportedScene(name, small()))
    with pytest.raises(InputError, match="exists"):
        store.copy(name, name)


def test_a_missing_scene_is_named_with_similar_names(store: SceneStore) -> None:
    name = fresh("kitchen")
    store.put(ImportedScene(name, small()))
    with pytest.raises(SceneNotFound, match="did you mean"):
        store.load(name + "x")


@pytest.mark.parametrize("name", ["", " a", "a\nb", "x" * 201])
def test_a_bad_scene_name_is_refused(store: SceneStore, name: str) -> None:
    with pytest.raises(InputError, match="can't name a scene"):
        store.put(ImportedScene(name, small()))


def test_a_leased_copy_is_reset_and_used_again(store: SceneStore) -> None:
    name = fresh()
    store.put(ImportedScene(name, small()))
    with store.lease(name) as first:
        store.commit(first, Delta.of([ChangeList("cup", "states", ("dirty",), ())]), actor="t", action="soil")
    with store.lease(name) as second:
        assert second.key == first.key
        assert store.load(second.name).graph == small()
        with store.lease(name) as third:
            assert third.key != second.key
    assert store.load(name).graph == small()
    assert all(info.key not in {first.key, third.key} for info in store.scenes())


def test_the_copy_of_a_worker_that_died_is_reset_for_the_next(store: SceneStore) -> None:
    name = fresh()
    store.put(ImportedScene(name, small()))
    died = store.lease(name)
    first = died.__enter__()
    soiled = store.commit(first, Delta.of([ChangeList("cup", "states", ("dirty",), ())]), actor="t", action="soil")
    past = "MATCH (s:Scene {key: $key}) SET s.leased_until = datetime() - duration('PT1S')"
    store.database.execute(past, {"key": first.key}, timeout_s=10)
    with store.lease(name) as second:
        assert second.key == first.key
        assert store.load(second.name).graph == small()
        assert second.version == store.find(second.name).version > soiled.version
    with store.lease(name) as third:
        assert (third.key, third.version) == (first.key, second.version), "a clean one is taken as it is"


def test_a_rebased_scene_is_reset_to_its_new_base(store: SceneStore) -> None:
    name = fresh()
    store.put(ImportedScene(name, small()))
    version = store.find(name).version
    store.commit(store.find(name), Delta.of([ChangeList("cup", "states", ("dirty",), ())]), actor="t", action="soil")
    assert store.reset_and_rebase(store.find(name)) == store.find(name).version == store.find(name).base > version
    assert store.reset_and_rebase(store.find(name)) == store.find(name).base
    assert store.load(name).graph == small()


def test_a_copy_leased_concurrently_is_skipped_for_the_next_one(store: SceneStore, database: Database) -> None:
    """A worker that finds it free waits for its lock, and then reads it again."""
    name = fresh()
    store.put(ImportedScene(name, small()))
    with store.lease(name) as one, store.lease(name) as other:
        keys = {one.key, other.key}
    with ThreadPoolExecutor(1) as pool:

        def taking(tx: ManagedTransaction) -> tuple[str, Future[SceneInfo | None]]:
            first = tx.run(ACQUIRE, origin=one.copied_from, lease_s=60, holder="t").single(strict=True)["copy"]["key"]
            second = pool.submit(acquire, database, str(one.copied_from), timeout_s=30)
            with pytest.raises(FutureTimeout):
                second.result(timeout=0.3)
            return first, second

        first, second = database.transaction(taking, access="write", timeout_s=30)
        found = second.result(timeout=30)
    assert found is not None
    assert {first, found.key} == keys


def test_workers_never_share_a_leased_copy(store: SceneStore) -> None:
    name = fresh()
    store.put(ImportedScene(name, small()))
    held: list[str] = []
    shared: list[str] = []
    guard = threading.Lock()

    def work() -> None:
        for _ in range(5):
            with store.lease(name) as copy:
                with guard:
                    if copy.key in held:
                        shared.append(copy.key)
                    held.append(copy.key)
                with guard:
                    held.remove(copy.key)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert shared == []

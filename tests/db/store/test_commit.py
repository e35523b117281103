"""Commits on a real server: races, conflicts, repeats, lost answers, hanging locks."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neo4j import ManagedTransaction

from scenecypher.db.graph.delta import (
    AddNode,
    AddRelation,
    ChangeList,
    Delta,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
    apply,
    diff,
    invert,
)
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.store.commit import Intent
from scenecypher.db.store.connection import Database
from scenecypher.db.store.replicas import EVENTS_SINCE
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ConflictError, InputError, RejectedError, SceneCypherError, SceneReplaced
from tests.db.store.test_store import fresh, odd, small
from tests.sampling import FULL
from tests.strategies import scene_graphs


def dirty(state: str = "dirty") -> Delta:
    return Delta.of([ChangeList("cup", "states", (state,), ())])


@pytest.fixture
def name(store: SceneStore) -> str:
    chosen = fresh("commit")
    store.put(ImportedScene(chosen, small()))
    return chosen


@settings(max_examples=100 if FULL else 25)
@given(before=scene_graphs(), after=scene_graphs())
def test_committing_a_delta_equals_applying_it_in_memory(
    store: SceneStore, before: SceneGraph, after: SceneGraph
) -> None:
    scene = fresh("law")
    graphs = (before, after)
    properties = {key for graph in graphs for node in graph.nodes.values() for key in node.properties}
    types = {relation.type for graph in graphs for relation in graph.relations}
    store.put(ImportedScene(scene, before, declared=Declared(tuple(types), tuple(properties))))
    delta = diff(before, after)
    done = store.commit(store.find(scene), delta, actor="t", action="t")
    assert done.version == 1
    assert store.load(scene).graph == apply(before, delta) == after
    assert sizes(store, scene) == (len(after.nodes), len(after.relations))
    store.undo(store.find(scene))
    assert store.load(scene).graph == before
    assert sizes(store, scene) == (len(before.nodes), len(before.relations))


def sizes(store: SceneStore, name: str) -> tuple[int, int]:
    """Return the numbers of nodes and relations that are stored with a scene, for lists of scenes."""
    info = store.find(name)
    return info.nodes, info.relations


@pytest.mark.parametrize("role", ["world", "belief"])
def test_the_sizes_of_a_scene_are_those_of_its_version(store: SceneStore, role: Literal["world", "belief"]) -> None:
    """Sizes as at the making: a belief that had seen one thing more was listed with 13 nodes for 14."""
    scene = fresh("sizes") + ("@belief" if role == "belief" else "")
    store.put(ImportedScene(scene, small(), role=role))
    spoon = Node("spoon", "Object", "spoon", "spoon")
    seen = Delta.of([AddNode(spoon), AddRelation(Relation("spoon", "INSIDE", "fridge"))])
    store.commit(store.find(scene), seen, actor="t", action="see")
    assert sizes(store, scene) == (5, 3)
    store.change(store.find(scene), lambda _: invert(seen), intent=Intent("t", "forget", "in memory"))
    assert sizes(store, scene) == (4, 2)
    store.put(ImportedScene(scene, odd(), role=role))
    assert sizes(store, scene) == (len(odd().nodes), len(odd().relations))


def test_eight_writers_with_expected_version_pass_no_stale_commit(store: SceneStore, name: str) -> None:
    info = store.find(name)

    def write(number: int) -> int:
        won = 0
        for _ in range(10):
            seen = store.find(name).version
            try:
                store.commit(info, dirty(f"s{uuid4().hex}"), actor=str(number), action="t", expected_version=seen)
            except ConflictError:
                continue
            won += 1
        return won

    with ThreadPoolExecutor(8) as pool:
        won = sum(pool.map(write, range(8)))
    log = store.history(info)
    assert won == len(log) > 0
    assert [event.version for event in log] == list(range(1, won + 1))
    assert len(store.load(name).graph.nodes["cup"].states) == won


def test_two_writers_of_one_scene_both_land_and_two_scenes_do_not_wait(store: SceneStore, name: str) -> None:
    other = fresh("commit")
    store.put(ImportedScene(other, small()))
    jobs = (
        [(name, f"a{i}") for i in range(10)]
        + [(name, f"b{i}") for i in range(10)]
        + [(other, f"c{i}") for i in range(10)]
    )
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda job: store.commit(store.find(job[0]), dirty(job[1]), actor="t", action=job[1]), jobs))
    assert store.find(name).version == 20
    assert store.find(other).version == 10


CONFLICTS: list[tuple[str, Delta, str]] = [
    ("a relation that is gone", Delta.of([RemoveRelation(Relation("cup", "ON", "fridge"))]), "'cup' ON 'fridge'"),
    ("a relation that is there", Delta.of([AddRelation(Relation("cup", "INSIDE", "fridge"))]), "'cup' INSIDE 'fridge'"),
    ("a state that is there", Delta.of([ChangeList("fridge", "states", ("closed",), ())]), "'closed'"),
    ("a state that is not there", Delta.of([ChangeList("fridge", "states", (), ("open",))]), "'open'"),
    ("another colour", Delta.of([SetProperty("cup", "color", "red", "green")]), "color of 'cup'"),
    ("absent, though present", Delta.of([SetProperty("cup", "color", None, "green")]), "color of 'cup'"),
    ("another kind", Delta.of([SetKind("cup", "Asset", "Object")]), "kind of 'cup'"),
    ("a missing node", Delta.of([ChangeList("ghost", "states", ("open",), ())]), "'ghost'"),
    ("a missing end", Delta.of([AddRelation(Relation("cup", "ON", "ghost"))]), "'ghost'"),
]


@pytest.mark.parametrize(("delta", "named"), [row[1:] for row in CONFLICTS], ids=[row[0] for row in CONFLICTS])
def test_a_conflict_names_what_changed_and_commits_nothing(
    store: SceneStore, name: str, delta: Delta, named: str
) -> None:
    with pytest.raises(ConflictError, match=named):
        store.commit(store.find(name), delta, actor="t", action="t")
    assert store.load(name).graph == small()
    assert store.find(name).version == 0


def test_a_node_with_a_relation_that_the_delta_does_not_list_is_not_removed(store: SceneStore, name: str) -> None:
    node = small().nodes["cup"]
    with pytest.raises(ConflictError, match="still holds a node that is to go"):
        store.commit(store.find(name), Delta.of([RemoveNode(node)]), actor="t", action="t")
    assert store.load(name).graph == small()


def test_integers_decimals_and_booleans_are_different_before_values(store: SceneStore) -> None:
    scene = fresh("typed")
    graph = apply(small(), Delta.of([SetProperty("cup", "last_seen", None, 1)]))
    store.put(ImportedScene(scene, graph))
    info = store.find(scene)
    for wrong in (1.0, True, "1"):
        with pytest.raises(ConflictError):
            store.commit(info, Delta.of([SetProperty("cup", "last_seen", wrong, 2)]), actor="t", action="t")
    store.commit(info, Delta.of([SetProperty("cup", "last_seen", 1, 1.0)]), actor="t", action="t")
    assert repr(store.load(scene).graph.nodes["cup"].properties["last_seen"]) == "1.0"


def test_two_edits_of_one_list_do_not_conflict_needlessly(store: SceneStore, name: str) -> None:
    info = store.find(name)
    store.commit(info, dirty("wet"), actor="a", action="t")
    store.commit(info, dirty("hot"), actor="b", action="t")
    assert store.load(name).graph.nodes["cup"].states == ("hot", "wet")


def test_the_same_action_id_from_four_threads_is_applied_once(store: SceneStore, name: str) -> None:
    info = store.find(name)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: store.commit(info, dirty(), actor="t", action="t", action_id="one"), range(4)))
    assert {committed.version for committed in done} == {1}
    assert Counter(committed.repeated for committed in done) == {True: 3, False: 1}
    assert len(store.history(info)) == 1


def test_an_action_id_with_another_delta_is_an_error(store: SceneStore, name: str) -> None:
    info = store.find(name)
    store.commit(info, dirty("wet"), actor="t", action="t", action_id="one")
    with pytest.raises(InputError, match="used for another change"):
        store.commit(info, dirty("hot"), actor="t", action="t", action_id="one")


def test_a_scene_that_was_deleted_takes_no_commit(store: SceneStore, name: str) -> None:
    info = store.find(name)
    store.delete(name)
    with pytest.raises(SceneReplaced):
        store.commit(info, dirty(), actor="t", action="t")


def test_undeclared_names_are_refused(store: SceneStore, name: str) -> None:
    info = store.find(name)
    for delta in (
        Delta.of([AddRelation(Relation("cup", "HACKS", "fridge"))]),
        Delta.of([SetProperty("cup", "hacked", None, 1)]),
    ):
        with pytest.raises(InputError, match="declare"):
            store.commit(info, delta, actor="t", action="t")


def test_a_hanging_lock_holder_is_timed_out(store: SceneStore, database: Database, name: str) -> None:
    """A transaction takes the lock and never commits: the server ends it, and the waiting writer continues."""
    info = store.find(name)
    locked, release = threading.Event(), threading.Event()

    def hang(tx: ManagedTransaction) -> None:
        tx.run(EVENTS_SINCE, key=info.key, after=0, most=0, action_id="hang", asked="").consume()
        locked.set()
        release.wait(30)
        tx.run("RETURN 1").consume()

    outcome: list[BaseException | None] = []

    def holder() -> None:
        try:
            database.transaction(hang, access="write", timeout_s=1)
        except SceneCypherError as error:
            outcome.append(error)

    thread = threading.Thread(target=holder)
    thread.start()
    assert locked.wait(10)
    assert store.commit(info, dirty(), actor="t", action="t").version == 1
    release.set()
    thread.join(30)
    assert len(outcome) == 1
    assert store.find(name).version == 1


@pytest.mark.parametrize("steps", [12])
def test_undo_to_any_version_equals_the_snapshot_taken_then(store: SceneStore, name: str, steps: int) -> None:
    info = store.find(name)
    snapshots = [store.load(name).graph]
    for number in range(steps):
        store.commit(info, _edit(snapshots[-1], number), actor="t", action=f"edit {number}")
        snapshots.append(store.load(name).graph)
    for version, graph in enumerate(snapshots):
        assert store.as_of(name, version) == graph
    for version in (9, 3, 0):
        store.undo(info, to=version)
        assert store.load(name).graph == snapshots[version]
        store.redo(info)
        assert store.load(name).graph == snapshots[steps]


def test_undo_to_a_version_that_the_scene_equals_makes_no_event(store: SceneStore, name: str) -> None:
    info = store.find(name)
    store.commit(info, _edit(store.load(name).graph, 0), actor="t", action="edit")
    first = store.undo(info, to=0)
    again = store.undo(info, to=0)
    assert (first.repeated, again.repeated, again.version, len(store.history(info))) == (False, True, 2, 2)


def _edit(graph: SceneGraph, number: int) -> Delta:
    cup = graph.targets("cup", "INSIDE", "ON")
    edits: list[Callable[[], Delta]] = [
        lambda: Delta.of([ChangeList("cup", "states", (f"s{number}",), ())]),
        lambda: Delta.of([SetProperty("cup", "last_seen", graph.nodes["cup"].properties.get("last_seen"), number)]),
        lambda: Delta.of(
            [
                *(RemoveRelation(r) for r in graph.outgoing["cup"]),
                AddRelation(
                    Relation("cup", "ON" if number % 2 else "INSIDE", "kitchen" if cup != ("kitchen",) else "fridge")
                ),
            ]
        ),
    ]
    return edits[number % 3]()


@settings(max_examples=15)
@given(choices=st.lists(st.sampled_from(["edit", "undo", "redo"]), min_size=3, max_size=12))
def test_undo_and_redo_equal_an_editors_two_stacks(store: SceneStore, choices: list[str]) -> None:
    """Compared with a model of an editor: two stacks."""
    scene = fresh("editor")
    store.put(ImportedScene(scene, small()))
    info = store.find(scene)
    done: list[SceneGraph] = [small()]
    undone: list[SceneGraph] = []
    for number, choice in enumerate(choices):
        match choice:
            case "edit":
                store.commit(info, dirty(f"s{number}"), actor="t", action="t")
                done.append(store.load(scene).graph)
                undone.clear()
            case "undo" if len(done) > 1:
                store.undo(info)
                undone.append(done.pop())
            case "redo" if undone:
                store.redo(info)
                done.append(undone.pop())
            case _:
                with pytest.raises(RejectedError, match="nothing to"):
                    store.undo(info) if choice == "undo" else store.redo(info)
        assert store.load(scene).graph == done[-1]


def test_an_older_action_may_be_undone_while_its_after_values_hold(store: SceneStore, name: str) -> None:
    info = store.find(name)
    store.commit(info, dirty("wet"), actor="t", action="wet")
    store.commit(info, dirty("hot"), actor="t", action="hot")
    store.undo(info, version=1)
    assert store.load(name).graph.nodes["cup"].states == ("hot",)
    store.commit(info, Delta.of([ChangeList("cup", "states", (), ("hot",))]), actor="t", action="cool")
    with pytest.raises(ConflictError, match="'hot'"):
        store.undo(info, version=2)

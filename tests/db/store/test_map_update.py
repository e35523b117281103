"""Successive maps merged into a scene in a real database, beside people who change it too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta, RemoveRelation, SetProperty, apply
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.store import map_update
from scenecypher.db.store.map_update import MapUpdater, bring_in
from scenecypher.db.store.scene_store import SceneStore
from tests.sampling import FULL
from tests.scenes import delete_scenes
from tests.strategies import KEYS, TYPES, scene_graphs

ROOMS = (Node("R(0)", "Place", "R(0)", "room"), Node("R(1)", "Place", "R(1)", "room"))


def cup(number: int, *, at: float = 0.0) -> Node:
    return Node(f"O({number})", "Object", f"O({number})", "cup", (), (), Properties({"center": Point(at, 0, 0)}))


def a_map(*cups: Node, room: str = "R(0)") -> SceneGraph:
    return SceneGraph.of([*ROOMS, *cups], [Relation(cup.id, "INSIDE", room) for cup in cups])


@pytest.fixture
def name(store: SceneStore) -> Iterator[str]:
    name = f"test/map-{uuid4().hex[:10]}"
    yield name
    delete_scenes(store, name)


def scene(name: str, graph: SceneGraph) -> ImportedScene:
    return ImportedScene(name, graph, declared=Declared(TYPES, KEYS), merges=True)


def change(store: SceneStore, name: str, *changes: SetProperty | ChangeList | AddRelation | RemoveRelation) -> None:
    store.commit(store.find(name), Delta.of(changes), actor="person", action="declare")


def test_a_grown_map_is_a_commit_and_keeps_what_people_declared(store: SceneStore, name: str) -> None:
    assert bring_in(store, scene(name, a_map(cup(1), cup(2)))).outcome == "created"
    change(store, name, SetProperty("O(1)", "name", "O(1)", "my cup"), ChangeList("O(1)", "states", ("dirty",)))
    grown = a_map(cup(1, at=2.0), cup(3), room="R(1)")
    done = bring_in(store, scene(name, grown))
    assert (done.outcome, done.version, done.conflicts) == ("updated", 2, ())
    now = store.load(name).graph
    mine = replace(cup(1, at=2.0), name="my cup", states=("dirty",))
    assert now == SceneGraph.of([*ROOMS, mine, cup(3)], grown.relations), "O(2) is gone, O(1) moved and is still mine"
    assert [event.actor for event in store.history(store.find(name))] == ["person", "map"]
    assert bring_in(store, scene(name, grown)).outcome == "unchanged"


def test_what_a_person_moved_stays_and_is_told(store: SceneStore, name: str) -> None:
    bring_in(store, scene(name, a_map(cup(1))))
    move = (RemoveRelation(Relation("O(1)", "INSIDE", "R(0)")), AddRelation(Relation("O(1)", "INSIDE", "R(1)")))
    change(store, name, *move)
    here = SceneGraph.of([*ROOMS, Node("t", "Asset", "t", "table"), cup(1)], [Relation("O(1)", "ON", "t")])
    done = bring_in(store, scene(name, here))
    assert done.conflicts == ("'O(1)' is somewhere else in the source; others moved it",)
    assert store.load(name).graph.relations == {Relation("O(1)", "INSIDE", "R(1)")}
    assert bring_in(store, scene(name, here)).conflicts == done.conflicts, "it is told until it is settled"
    store.undo(store.find(name), version=1)
    assert bring_in(store, scene(name, here)).conflicts == ()
    assert store.load(name).graph == here


def test_an_undone_map_can_be_imported_again(store: SceneStore, name: str) -> None:
    updater = MapUpdater(store)
    updater.update(scene(name, a_map(cup(1))))
    for bring in (updater.update, lambda it: bring_in(store, it)):
        assert bring(scene(name, a_map(cup(1), cup(2)))).outcome == "updated"
        store.undo(store.find(name))
        assert store.load(name).graph == a_map(cup(1))


def test_a_scene_that_is_deleted_meanwhile_is_made_again(store: SceneStore, name: str) -> None:
    updater = MapUpdater(store)
    updater.update(scene(name, a_map(cup(1))))
    updater.update(scene(name, a_map(cup(2))))
    store.delete(name)
    assert updater.update(scene(name, a_map(cup(3)))).outcome == "created"
    assert store.load(name).graph == a_map(cup(3))


def test_a_large_change_is_several_commits(store: SceneStore, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_update, "CHANGES_PER_COMMIT", 3)
    bring_in(store, scene(name, a_map(cup(1), cup(2))))
    change(store, name, ChangeList("R(1)", "states", ("dark",)))
    other = a_map(cup(1, at=1.0), cup(3), cup(4), room="R(1)")
    done = bring_in(store, scene(name, other))
    assert done.version > 2
    dark = replace(ROOMS[1], states=("dark",))
    cups = [other.nodes[node_id] for node_id in ("O(1)", "O(3)", "O(4)")]
    assert store.load(name).graph == SceneGraph.of([ROOMS[0], dark, *cups], other.relations)


@settings(
    max_examples=100 if FULL else 15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.tuples(scene_graphs(max_nodes=4), st.booleans()), min_size=2, max_size=5))
def test_successive_maps_equal_the_last_apart_from_what_people_declared(
    store: SceneStore, steps: list[tuple[SceneGraph, bool]]
) -> None:
    """A process that follows the maps and one that starts anew for each come to the same scene."""
    names = [f"test/map-{uuid4().hex[:10]}" for _ in range(2)]
    updater = MapUpdater(store)
    for graph, declares in steps:
        updater.update(scene(names[0], graph))
        bring_in(store, scene(names[1], graph))
        for name in names if declares and graph.nodes else ():
            now = store.load(name).graph
            chosen = min(now.nodes)
            if "declared" not in now.nodes[chosen].states:
                change(store, name, ChangeList(chosen, "states", ("declared",)))
    one, other = (store.load(name).graph for name in names)
    assert one == other
    bare = [replace(it, states=tuple({*it.states} - {"declared"})) for it in one.nodes.values()]
    kept = SceneGraph.of((it for it in bare if it.id in graph.nodes), _among(one, graph))
    assert kept == graph
    assert all("declared" in one.nodes[node_id].states for node_id in one.nodes.keys() - graph.nodes.keys())
    for name in names:
        store.delete(name)


def _among(one: SceneGraph, graph: SceneGraph) -> set[Relation]:
    return {it for it in one.relations if it.source in graph and it.target in graph}


def test_the_history_replays_to_the_scene(store: SceneStore, name: str) -> None:
    first = a_map(cup(1))
    bring_in(store, scene(name, first))
    for at in (1.0, 2.0):
        bring_in(store, scene(name, a_map(cup(1, at=at))))
    replayed = first
    for event in store.history(store.find(name)):
        replayed = apply(replayed, event.delta)
    assert replayed == store.load(name).graph == a_map(cup(1, at=2.0))

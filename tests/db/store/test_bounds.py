"""Bounds of a scene: exact after an import, never too small after commits."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scenecypher.db.graph.delta import AddRelation, Delta, RemoveRelation, diff, edited_nodes, invert
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import EMPTY, Node, Relation, SceneGraph
from scenecypher.db.store.bounds import SPARE, Bounds, Measure, TrackedBounds, bounds_of, read_bounds
from scenecypher.db.store.load import current_bounds
from scenecypher.db.store.scene_store import SceneStore
from tests.sampling import FULL

GRAPH = SceneGraph.of(
    [
        Node("kitchen", "Place", "Küche", "Kitchen"),
        Node("table", "Asset", "table", "Table"),
        Node("cup", "Object", "cup", "Cup", ("dirty",), ("grabbable", "washable")),
        Node("fork", "Object", "fork", "Fork"),
    ],
    [Relation("table", "INSIDE", "kitchen"), Relation("cup", "ON", "table"), Relation("fork", "ON", "table")],
)


@pytest.fixture
def name(store: SceneStore) -> Iterator[str]:
    name = f"test/bounds-{uuid4().hex}"
    store.put(ImportedScene(name, GRAPH))
    yield name
    store.delete(name)


def test_bounds_of_a_graph_are_exact() -> None:
    bounds = bounds_of(GRAPH)
    assert bounds.of("nodes") == {"Place": 1, "Asset": 1, "Object": 2}
    assert bounds.of("relations") == {"INSIDE": 1, "ON": 2}
    assert bounds.of("out") == {"INSIDE": 1, "ON": 1}
    assert bounds.of("in") == {"INSIDE": 1, "ON": 2}
    assert bounds.of("text") == {"id": 7, "name": 6, "class": 7, "states": 5, "affordances": 9}
    assert bounds.of("items") == {"states": 1, "affordances": 2}
    assert read_bounds({**bounds.properties(), "key": "k", "version": 3}) == bounds


def covers(larger: Bounds, smaller: Bounds) -> bool:
    most = {entry[:2]: entry[2] for entry in larger.entries}
    return all(most.get((measure, name), 0) >= number for measure, name, number in smaller.entries)


COUNTED: tuple[Measure, ...] = ("nodes", "relations")
IDS = ("kitchen", "table", "cup", "fork", "new one", "another")


@st.composite
def graphs(draw: st.DrawFn) -> SceneGraph:
    ids = sorted(draw(st.sets(st.sampled_from(IDS), min_size=2)))
    words = st.lists(st.sampled_from(["on", "dirty", "long state"]), unique=True).map(tuple)
    nodes = [
        Node(one, draw(st.sampled_from(["Object", "Asset"])), draw(st.sampled_from(["a", "ä name"])), "X", draw(words))
        for one in ids
    ]
    ends = st.tuples(st.sampled_from(ids), st.sampled_from(["ON", "CLOSE"]), st.sampled_from(ids))
    relations = {Relation(*one) for one in draw(st.sets(ends, max_size=8)) if one[0] != one[2]}
    return SceneGraph.of(nodes, relations)


@settings(max_examples=50 if FULL else 3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(graphs(), min_size=1, max_size=3))
def test_no_commit_outgrows_the_bounds_or_leaves_them_large(
    store: SceneStore, name: str, after: list[SceneGraph]
) -> None:
    for graph in after:
        snapshot = store.load(name)
        store.commit(snapshot.info, diff(snapshot.graph, graph), actor="test", action="change")
        known = current_bounds(store.database, snapshot.info.key)
        assert known is not None
        exact = bounds_of(graph)
        assert covers(known, exact)
        for measure in COUNTED:
            assert all(number <= 2 * exact.of(measure).get(key, 0) + SPARE for key, number in known.of(measure).items())


@settings(max_examples=50 if FULL else 3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(graphs(), st.booleans()), min_size=4, max_size=6))
def test_no_commit_of_two_writers_outgrows_the_bounds(
    store: SceneStore, name: str, after: list[tuple[SceneGraph, bool]]
) -> None:
    other = SceneStore(store.database)
    for graph, is_ours in after:
        snapshot = store.load(name)
        writer = store if is_ours else other
        writer.commit(snapshot.info, diff(snapshot.graph, graph), actor="test", action="change")
        known = current_bounds(store.database, snapshot.info.key)
        assert known is not None
        assert covers(known, bounds_of(graph))


def with_close(*pairs: tuple[str, str]) -> SceneGraph:
    return SceneGraph.of(GRAPH.nodes.values(), [*GRAPH.relations, *(Relation(a, "CLOSE", b) for a, b in pairs)])


TWO, THREE = (("fork", "cup"), ("table", "cup")), (("fork", "cup"), ("table", "cup"), ("cup", "fork"))


@example(GRAPH, [with_close(*TWO), with_close(*THREE)])
@given(graphs(), st.lists(graphs(), max_size=5))
def test_tracked_bounds_cover_the_scene(before: SceneGraph, after: list[SceneGraph]) -> None:
    stored, live = bounds_of(before).properties(), LiveGraph(before)
    tracked = TrackedBounds(live, bounds_of(before))
    for graph in after:
        delta = diff(before, graph)
        exact = bounds_of(graph).properties()
        raised = tracked.raised_by(live, delta, edited_nodes(live, delta))
        stored |= raised
        tracked.follow(delta, raised)
        live.apply(delta)
        assert {name: number for name, number in exact.items() if stored.get(name, 0) < number} == {}
        before = graph


def test_changes_to_and_fro_do_not_raise_the_bounds(store: SceneStore, name: str) -> None:
    info = store.find(name)
    gone = Delta.of([RemoveRelation(Relation("cup", "ON", "table")), AddRelation(Relation("cup", "ON", "kitchen"))])
    for delta in (gone, invert(gone)) * 5:
        store.commit(info, delta, actor="test", action="move")
    known = current_bounds(store.database, info.key)
    assert known is not None
    assert known == bounds_of(GRAPH)


def test_a_change_raises_the_bounds_that_it_outgrows(store: SceneStore, name: str) -> None:
    info = store.find(name)
    after = with_close(*THREE)
    store.commit(info, diff(GRAPH, after), actor="test", action="change")
    assert current_bounds(store.database, info.key) == bounds_of(after)


def test_a_scene_that_is_gone_has_no_bounds(store: SceneStore) -> None:
    assert current_bounds(store.database, "nothing") is None


def test_a_scene_that_was_empty_has_the_bounds_of_what_it_has_now(store: SceneStore) -> None:
    name = f"test/bounds-{uuid4().hex}"
    store.put(ImportedScene(name, EMPTY))
    info = store.find(name)
    store.commit(info, diff(EMPTY, GRAPH), actor="test", action="fill")
    assert current_bounds(store.database, info.key) == bounds_of(GRAPH)

"""Bounds of a scene: exact after an import, never too small after commits."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.bounds import Bounds, Measure, bounds_of, read_bounds
from scenecypher.db.store.load import current_bounds
from scenecypher.db.store.scene_store import SceneStore

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


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(graphs(), min_size=1, max_size=3))
def test_no_commit_outgrows_the_bounds(store: SceneStore, name: str, after: list[SceneGraph]) -> None:
    for graph in after:
        snapshot = store.load(name)
        store.commit(snapshot.info, diff(snapshot.graph, graph), actor="test", action="change")
        known = current_bounds(store.database, snapshot.info.key)
        assert known is not None
        exact = bounds_of(graph)
        assert covers(known, exact)
        kept = {measure: {key: value for key, value in known.of(measure).items() if value} for measure in COUNTED}
        assert kept == {measure: exact.of(measure) for measure in COUNTED}


def test_a_scene_without_bounds_is_measured(store: SceneStore, name: str) -> None:
    info = store.find(name)
    store.database.write(
        lambda tx: tx.run(
            "MATCH (s:Scene {key: $key}) UNWIND [k IN keys(s) WHERE k STARTS WITH 'most_'] AS k SET s[k] = null",
            key=info.key,
        ).consume(),
        timeout_s=60,
    )
    assert store.find(name).bounds is None
    assert current_bounds(store.database, info.key) == bounds_of(GRAPH)
    assert current_bounds(store.database, "nothing") is None

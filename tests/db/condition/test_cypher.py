"""Memory and Cypher agree on the value of every Condition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from uuid import uuid4

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import scenecypher.db.condition as c
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Properties, Relation, SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from tests.strategies import ALIKE, KEYS, TYPES, big_graph, bound, choices, conditions, scene_graphs

DECLARED = Declared(TYPES, KEYS)


@pytest.fixture
def scene_name() -> str:
    return f"test/condition-{uuid4().hex[:10]}"


def put(store: SceneStore, name: str, graph: SceneGraph) -> str:
    store.put(ImportedScene(name, graph, declared=DECLARED))
    return store.find(name).key


def values(database: Database, key: str, conditions: Sequence[c.Condition], bindings: Mapping[str, str]) -> list[bool]:
    """Return the value of each condition on the server, in one transaction."""
    queries = [c.to_cypher(condition, bindings) for condition in conditions]
    return database.read(
        lambda tx: [tx.run(query.text, {**query.parameters, "scene": key}).single(strict=True)[0] for query in queries],
        timeout_s=60,
    )


@settings(max_examples=40)
@given(scene_graphs(), st.lists(conditions(), min_size=1, max_size=6), choices())
def test_memory_and_cypher_agree(
    store: SceneStore,
    database: Database,
    graph: SceneGraph,
    several: list[c.Condition],
    chosen: dict[str, int],
) -> None:
    name = f"test/condition-{uuid4().hex[:10]}"
    bindings = bound(chosen, graph)
    expected = [c.evaluate(condition, graph, bindings) for condition in several]
    try:
        assert values(database, put(store, name, graph), several, bindings) == expected
    finally:
        store.delete(name)
    event(f"{sum(expected)} of {len(expected)} hold")


CUP = Node("cup", "Object", "cup", "cup")
ABSENT: list[c.Condition] = [
    c.HasState(c.Id("missing"), "open"),
    c.HasClass(c.Id("missing"), "cup"),
    c.HasKind(c.Id("missing"), "Object"),
    c.HasAffordance(c.Id("missing"), "grabbable"),
    c.PropertyEquals(c.Id("missing"), "color", "red"),
    c.PropertyEquals(c.Id("missing"), "size_x", 1.0),
    c.PropertyEquals(c.Id("missing"), "name", "cup"),
    c.PropertyEquals(c.Id("n7"), "confidence", 1.0),
    c.PropertyEquals(c.Id("n7"), "never_there", (1,)),
    c.Related(c.Id("missing"), "ON", c.Id("n7")),
    c.Related(c.Id("n7"), "NEXT_TO", c.Id("missing")),
    c.HeldBy(c.Id("n7"), c.Id("missing")),
    c.Within(c.Id("missing"), c.Id("n7")),
    c.Within(c.Id("n7"), c.Id("missing"), ("NEXT_TO",)),
    c.Same(c.Id("missing"), c.Id("missing")),
    c.Same("unbound", "unbound"),
    c.HasState("unbound", "open"),
]
SAMPLES: list[c.Condition] = [
    *ABSENT,
    *map(c.Not, ABSENT),
    *(c.Exists("x", c.Not(absent)) for absent in ABSENT),
    *(c.ForAll("x", c.ALWAYS, absent) for absent in ABSENT),
    c.ALWAYS,
    c.NEVER,
    c.Same("a", c.Id("n7")),
    c.Exists("x", c.ALWAYS),
    c.ForAll("x", c.HasClass("x", "no such class"), c.NEVER),
    c.Exists("x", c.Related("x", "INSIDE", "x")),
    c.Exists("x", c.Within("x", "x")),
    c.Exists(
        "x", c.And((c.Related("x", "NEXT_TO", "a"), c.Related("x", "NEXT_TO", "a"), c.Related("a", "NEXT_TO", "x")))
    ),
    c.Exists("x", c.And((c.HasKind("x", "Object"), c.HasKind("x", "Asset")))),
    c.Exists("x", c.Exists("x", c.HasState("x", "open"))),
    c.Exists("a", c.HasKind("a", "Agent")),
    c.ForAll(
        "x", c.Related("x", "ON", "a"), c.Exists("y", c.And((c.Related("x", "CLOSE", "y"), c.Not(c.Same("y", "a")))))
    ),
    *(c.AtLeast(n, "x", c.Within("x", "a", ("INSIDE", "ON", "NEXT_TO"))) for n in (0, 1, 50, 2_000)),
    *(c.Exactly(n, "x", c.Related("a", "CLOSE", "x")) for n in range(3)),
    *(c.AtLeast(n, "x", c.HeldBy("x", "a")) for n in range(4)),
]


def test_samples_agree_on_a_big_graph(store: SceneStore, database: Database, scene_name: str) -> None:
    graph, bindings = big_graph(5), {"a": "n7"}
    key = put(store, scene_name, graph)
    expected = [c.evaluate(condition, graph, bindings) for condition in SAMPLES]
    assert values(database, key, SAMPLES, bindings) == expected
    assert {True, False} <= {*expected}
    store.delete(scene_name)


@pytest.fixture(scope="module")
def typed_values(store: SceneStore) -> Iterator[str]:
    """Return a scene with nodes n0, n1, …, each with one of several values that are easily confused."""
    name = f"test/condition-{uuid4().hex[:10]}"
    yield put(store, name, value_graph())
    store.delete(name)


def value_graph() -> SceneGraph:
    keys = {"known": "color", "declared": "serial_number"}
    return SceneGraph.of(
        Node(f"{word}{number}", "Object", "thing", "thing", properties=Properties({key: value}))
        for word, key in keys.items()
        for number, value in enumerate(ALIKE)
    )


@pytest.mark.parametrize(("word", "key"), [("known", "color"), ("declared", "serial_number")])
def test_each_value_equals_itself_alone(database: Database, typed_values: str, word: str, key: str) -> None:
    graph = value_graph()
    pairs = [
        c.PropertyEquals(c.Id(f"{word}{number}"), key, value)
        for number in range(len(ALIKE))
        for value in (*ALIKE, "absent")
    ]
    expected = [c.evaluate(condition, graph, {}) for condition in pairs]
    assert sum(expected) == len(ALIKE) + 4  # 0.0 and -0.0 are one number, alone and in a list
    assert values(database, typed_values, pairs, {}) == expected


@given(conditions(), choices())
def test_no_data_stands_in_the_text(condition: c.Condition, chosen: dict[str, int]) -> None:
    query = c.to_cypher(condition, bound(chosen, SceneGraph.of([CUP])))
    assert re.fullmatch(r"[A-Za-z0-9_ ():;,.{}\[\]<>=$|+\n-]*", query.text)
    used = {*re.findall(r"\$(\w+)", query.text)}
    assert used - {"scene"} == {*query.parameters}
    words = {*re.findall(r"[A-Za-z_]\w*", re.sub(r"\$\w+", "", query.text))}
    assert not words & {"serial_number", "NEXT_TO", "missing", "cup", "dinner_plate", "open", "grabbable"}


def test_conditions_of_one_shape_give_one_text() -> None:
    one = c.to_cypher(c.And((c.HasState("x", "open"), c.Related("x", "INSIDE", c.Id("a")))), {"x": "b"})
    two = c.to_cypher(c.And((c.HasState("x", "it's"), c.Related("x", "INSIDE", c.Id("'")))), {"x": "`"})
    assert one.text == two.text
    assert one.parameters != two.parameters


def test_a_deep_chain_and_a_dense_graph_are_searched_quickly(
    store: SceneStore, database: Database, scene_name: str
) -> None:
    """The second part has 5 to the power of 20 paths from end to end: enumerating paths would not end."""
    rows = [[f"r{row}_{number}" for number in range(5)] for row in range(20)]
    dense = [Relation(one, "INSIDE", other) for row, below in pairwise(rows) for one in row for other in below]
    deep = [Relation(f"d{number}", "ON", f"d{number + 1}") for number in range(2_000)]
    ids = [*(node_id for row in rows for node_id in row), *(f"d{number}" for number in range(2_001))]
    graph = SceneGraph.of([Node(node_id, "Object", "x", "x") for node_id in ids], [*dense, *deep])
    key = put(store, scene_name, graph)
    asked: list[c.Condition] = [
        c.Within(c.Id("r0_0"), c.Id("r19_4")),
        c.Within(c.Id("r19_4"), c.Id("r0_0")),
        c.Within(c.Id("r0_0"), c.Id("d5")),
        c.Within(c.Id("d0"), c.Id("d2000")),
        c.Within(c.Id("d2000"), c.Id("d0")),
    ]
    assert values(database, key, asked, {}) == [True, False, False, True, False]
    assert [c.evaluate(condition, graph, {}) for condition in asked] == [True, False, False, True, False]
    store.delete(scene_name)


def test_another_scene_is_never_read(store: SceneStore, database: Database, scene_name: str) -> None:
    key = put(store, scene_name, SceneGraph.of([CUP]))
    other = f"{scene_name}-other"
    put(store, other, SceneGraph.of([CUP, Node("only_here", "Object", "mug", "mug")]))
    asked: list[c.Condition] = [
        c.Exists("x", c.HasClass("x", "mug")),
        c.Same(c.Id("only_here"), c.Id("only_here")),
        c.Exactly(1, "x", c.ALWAYS),
    ]
    assert values(database, key, asked, {}) == [False, False, True]
    store.delete(scene_name)
    store.delete(other)

"""Enumerations from a real server, compared with plain Python over the same graph."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings

from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Properties, Relation, SceneGraph
from scenecypher.db.graph.value import Point, Value
from scenecypher.db.schema import HOLDING, Declared
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator, count_graph
from scenecypher.db.store.enumerations import AgentUse, ClassUse, Enumerations, Pattern, PropertyUse, ValueUse, literal
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import SceneReplaced
from tests.strategies import scene_graphs


def put(store: SceneStore, graph: SceneGraph) -> SceneInfo:
    name = f"test/enumerate-{uuid4().hex[:10]}"
    types = {relation.type for relation in graph.relations}
    properties = {key for node in graph.nodes.values() for key in node.properties}
    store.put(ImportedScene(name, graph, declared=Declared(tuple(types), tuple(properties))))
    return store.find(name)


def home() -> SceneGraph:
    blue: dict[str, Value | None] = {"color": "it's blue", "center": Point(1.0, 2.0), "size_x": 1.5}
    red: dict[str, Value | None] = {"color": "red", "heavy": True}
    return SceneGraph.of(
        [
            Node("k", "Place", "kitchen", "room"),
            Node("b", "Place", "bedroom", "room"),
            Node("r", "Agent", "robot", "robot"),
            Node("f", "Asset", "fridge", "fridge", ("closed", "on"), ("can_open",)),
            Node("c1", "Object", "cup_1", "cup", ("dirty",), ("grabbable",), Properties(blue)),
            Node("c2", "Object", "cup_2", "cup", ("clean",), ("grabbable",), Properties(red)),
        ],
        [
            Relation("f", "INSIDE", "k"),
            Relation("c1", "INSIDE", "f"),
            Relation("c2", "INSIDE", "k"),
            Relation("r", "INSIDE", "k"),
            Relation("r", "HOLDS_RH", "c2"),
            Relation("f", "CLOSE", "c2"),
            Relation("c2", "CLOSE", "f"),
            Relation("c1", "STACKED_ON", "c2"),
        ],
    )


def test_all_facts_are_counted(store: SceneStore, database: Database) -> None:
    found = Enumerator(Replicas(database)).of(put(store, home()))
    assert found == count_graph(home())
    assert found == Enumerations(
        kinds=(("Place", 2), ("Asset", 1), ("Object", 2), ("Agent", 1)),
        classes=(
            ClassUse("Agent", "robot", 1, "robot"),
            ClassUse("Asset", "fridge", 1, "fridge"),
            ClassUse("Object", "cup", 2, "cup_1"),
            ClassUse("Place", "room", 2, "bedroom"),
        ),
        states=(
            ValueUse("clean", ("Object",), 1),
            ValueUse("closed", ("Asset",), 1),
            ValueUse("dirty", ("Object",), 1),
            ValueUse("on", ("Asset",), 1),
        ),
        affordances=(ValueUse("can_open", ("Asset",), 1), ValueUse("grabbable", ("Object",), 2)),
        patterns=(
            Pattern("Entity", "CLOSE", "Entity", 2),
            Pattern("Agent", "HOLDS_RH", "Object", 1),
            Pattern("Agent", "INSIDE", "Place", 1),
            Pattern("Asset", "INSIDE", "Place", 1),
            Pattern("Object", "INSIDE", "Asset", 1),
            Pattern("Object", "INSIDE", "Place", 1),
            Pattern("Object", "STACKED_ON", "Object", 1),
        ),
        properties=(
            PropertyUse("center", ("point",), 1),
            PropertyUse("color", ("text",), 2, ("it's blue", "red")),
            PropertyUse("heavy", ("boolean",), 1, (True,)),
            PropertyUse("size_x", ("number",), 1),
        ),
        agents=(AgentUse("robot", "robot", ("kitchen",), (("HOLDS_RH", "cup_2"),)),),
        places=("bedroom", "kitchen"),
        names=("bedroom", "cup_1", "cup_2", "fridge", "kitchen", "robot"),
        name_kinds=(
            ("bedroom", "Place"),
            ("cup_1", "Object"),
            ("cup_2", "Object"),
            ("fridge", "Asset"),
            ("kitchen", "Place"),
            ("robot", "Agent"),
        ),
        ids=("b", "c1", "c2", "f", "k", "r"),
        class_links=frozenset(
            {
                ("cup", "INSIDE", "fridge"),
                ("cup", "INSIDE", "room"),
                ("cup", "STACKED_ON", "cup"),
                ("fridge", "INSIDE", "room"),
                ("robot", "HOLDS_RH", "cup"),
                ("robot", "INSIDE", "room"),
            }
        ),
    )
    assert found.nodes == 6


@settings(max_examples=15)
@given(graph=scene_graphs())
def test_any_scene_is_counted_as_python_counts_it(store: SceneStore, database: Database, graph: SceneGraph) -> None:
    found = Enumerator(Replicas(database)).of(put(store, graph))
    assert count_graph(graph) == found
    nodes = list(graph.nodes.values())
    assert dict(found.kinds) == Counter(node.kind for node in nodes)
    assert {(use.kind, use.name): use.count for use in found.classes} == Counter((n.kind, n.class_) for n in nodes)
    assert {use.value: use.count for use in found.states} == Counter(state for n in nodes for state in n.states)
    assert {use.value: use.count for use in found.affordances} == Counter(a for n in nodes for a in n.affordances)
    assert {(p.source, p.type, p.target): p.count for p in found.patterns} == patterns(graph)
    assert {use.name: use.count for use in found.properties} == Counter(key for n in nodes for key in n.properties)
    assert found.names == tuple(sorted({node.name for node in nodes}))
    assert found.ids == tuple(sorted(graph.nodes))
    held = Counter((r.source, r.type, r.target) for r in graph.relations if r.type in HOLDING)
    assert sum(len(agent.holds) for agent in found.agents) == sum(
        count for (source, _, _), count in held.items() if graph.nodes[source].kind == "Agent"
    )


def patterns(graph: SceneGraph) -> dict[tuple[str, str, str], int]:
    kind = {node.id: node.kind for node in graph.nodes.values()}
    return dict(
        Counter(
            ("Entity", "CLOSE", "Entity") if r.type == "CLOSE" else (kind[r.source], r.type, kind[r.target])
            for r in graph.relations
        )
    )


def test_equal_scenes_have_equal_enumerations(store: SceneStore, database: Database) -> None:
    enumerator = Enumerator(Replicas(database))
    one, other = (put(store, home()) for _ in range(2))
    assert one.key != other.key
    assert enumerator.of(one) == enumerator.of(other)


def test_a_scene_is_read_once_per_version(store: SceneStore, database: Database) -> None:
    enumerator = Enumerator(Replicas(database))
    info = put(store, home())
    first = enumerator.of(info)
    assert enumerator.of(info) is first
    store.commit(info, diff(home(), opened()), actor="test", action="open")
    later = enumerator.of(info)
    assert enumerator.of(store.find(info.name)) is later, "a commit of this process is known without a look"
    assert [use.value for use in later.states] == ["clean", "dirty", "on", "open"]


def opened() -> SceneGraph:
    graph = home()
    fridge = Node("f", "Asset", "fridge", "fridge", ("on", "open"), ("can_open",))
    return SceneGraph.of([*(n for n in graph.nodes.values() if n.id != "f"), fridge], graph.relations)


def test_after_an_action_the_scene_is_counted_without_a_read(
    store: SceneStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = put(store, home())
    enumerator = Enumerator(store.replicas)
    first = enumerator.of(info)
    graphs = [home(), opened()] * 3
    for before, after in pairwise(graphs):
        store.commit(info, diff(before, after), actor="test", action="toggle")
    with monkeypatch.context() as patched:
        for verb in ("rows", "row", "execute", "transaction"):
            patched.setattr(store.database, verb, unexpected)
        counted = enumerator.of(info)
    assert counted == count_graph(store.load(info.name).graph) != first


def unexpected(*_: Any, **__: Any) -> Any:
    raise AssertionError


def test_an_old_scene_info_gets_the_present_enumerations(store: SceneStore, database: Database) -> None:
    info = put(store, home())
    store.commit(info, diff(home(), opened()), actor="test", action="open")
    assert "open" in {use.value for use in Enumerator(Replicas(database)).of(info).states}


def test_only_the_latest_scenes_are_cached(store: SceneStore, database: Database) -> None:
    enumerator = Enumerator(Replicas(database), scenes_cached=2)
    infos = [put(store, home()) for _ in range(3)]
    first = enumerator.of(infos[0])
    enumerator.of(infos[1])
    assert enumerator.of(infos[0]) is first
    enumerator.of(infos[2])
    assert enumerator.of(infos[0]) is first, "used more recently than the second"
    second = enumerator.of(infos[1])
    assert enumerator.of(infos[1]) is second


def test_a_replaced_scene_is_an_error(store: SceneStore, database: Database) -> None:
    info = put(store, home())
    store.delete(info.name)
    with pytest.raises(SceneReplaced):
        Enumerator(Replicas(database)).of(info)


def test_another_scene_is_never_counted(store: SceneStore, database: Database) -> None:
    info = put(store, home())
    before = Enumerator(Replicas(database)).of(info)
    strange = SceneGraph.of([Node("x", "Object", "LEAK7", "LEAK7", ("leak7",), (), Properties({"leak7": "LEAK7"}))])
    put(store, strange)
    assert Enumerator(Replicas(database)).of(info) == before
    assert "leak7" not in repr(before).casefold()


def test_an_old_scene_info_gets_the_latest_noted_version(store: SceneStore, database: Database) -> None:
    info, enumerator = put(store, home()), Enumerator(Replicas(database))
    before = enumerator.of(info)
    with Database(database.address) as other:
        SceneStore(other).commit(info, diff(home(), opened()), actor="test", action="open")
    assert enumerator.of(info) is before, "nobody here has seen that it moved"
    database.versions.note(info.key, 1)
    after = enumerator.of(info)
    assert "open" in {use.value for use in after.states}
    assert enumerator.of(info) is after
    assert enumerator.of(store.find(info.name)) is after


def test_under_a_writer_no_inconsistent_read_is_cached(store: SceneStore, database: Database) -> None:
    """A writer toggles one state; a cached read always belongs to its version."""
    info, enumerator, stop = put(store, home()), Enumerator(Replicas(database)), threading.Event()

    def write() -> None:
        now, then = home(), opened()
        while not stop.is_set():
            store.commit(info, diff(now, then), actor="test", action="toggle")
            now, then = then, now

    writer = threading.Thread(target=write)
    writer.start()
    try:
        kept = []
        for _ in range(10):
            enumerator.of(store.find(info.name))
            kept.append(enumerator._cached.get(info.key))
    finally:
        stop.set()
        writer.join()
    for version, cached in filter(None, kept):
        assert ("open" in {use.value for use in cached.states}) == (version % 2 == 1)


def test_a_large_scene_is_counted_alike_but_lists_no_names_or_values(store: SceneStore, database: Database) -> None:
    info = put(store, home())
    found = Enumerator(Replicas(database), listed_nodes_limit=len(home().nodes) - 1).of(info)
    small = Enumerator(Replicas(database), listed_nodes_limit=len(home().nodes)).of(info)
    assert (small.names, found.names, found.ids) == (
        ("bedroom", "cup_1", "cup_2", "fridge", "kitchen", "robot"),
        (),
        (),
    )
    without = tuple(replace(use, values=()) for use in small.properties)
    assert found == replace(small, names=(), name_kinds=(), ids=(), properties=without, class_links=frozenset())


def test_values_are_listed_whole_or_not_at_all(store: SceneStore, database: Database) -> None:
    long = Node("a", "Object", "a", "thing", properties=Properties({"color": "x" * 1_000, "prefab": "p0"}))
    many = [Node(str(i), "Object", str(i), "thing", properties=Properties({"prefab": f"p{i}"})) for i in range(100)]
    found = Enumerator(Replicas(database)).of(put(store, SceneGraph.of([long, *many])))
    assert [use.values for use in found.properties] == [(), ()]


def test_what_stands_in_lists_is_listed_and_tested_as_such() -> None:
    """Whose a jacket is can't be asked for if nobody tells that its traits say so."""
    jacket, knife = (
        Node(name, "Object", name, name, properties=Properties({"traits": traits}))
        for name, traits in (("jacket", ("Jun's", "empty")), ("knife", ("sharp",)))
    )
    (traits,) = count_graph(SceneGraph.of([jacket, knife])).properties
    assert traits.values == ("Jun's", "empty", "sharp")
    assert traits.test("Jun's") == r"'Jun\'s' IN n.traits"
    assert PropertyUse("color", ("text",), 1, ("red",)).test("red") == "n.color = 'red'"


def test_a_literal_is_one_line_of_cypher() -> None:
    assert literal("it's a \\ \n line") == r"'it\'s a \\ \n line'"
    assert literal(value=False) == "false"

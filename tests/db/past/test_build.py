"""The past built from events: it tells of each version what the scene then was, whoever builds it and however often."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, LiteralString

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta, RemoveRelation, diff, value_of
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Properties, Relation, SceneGraph
from scenecypher.db.past import build, build_past, past_state
from scenecypher.db.past.batch import LEFT_OUT, NOT_KEPT
from scenecypher.db.schema import Declared
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import NOTHING, Access, Address, Database
from scenecypher.db.store.load import from_driver
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import NothingToRedo, NothingToUndo, SceneReplaced
from tests.db.store.test_store import fresh, small
from tests.sampling import FULL
from tests.strategies import KEYS, TYPES, scene_graphs

AS_OF: Final[LiteralString] = """
MATCH (f:PastFact {scene: $key})-[:ABOUT]->(n:PastNode {scene: $key})
WHERE f.since <= $version AND (f.until IS NULL OR $version < f.until)
OPTIONAL MATCH (f)-[:TARGET]->(t:PastNode {scene: $key})
RETURN n.id AS node, coalesce(f.relation, f.state, f.property) AS name, t.id AS target, f.value AS value,
       f.property IS NOT NULL AS is_property
"""
ALL: Final[LiteralString] = """
MATCH (n:Past {scene: $key})
RETURN labels(n) AS labels, properties(n) AS values, [(n)-[r]->(m) | [type(r), properties(m)]] AS relations
"""
OPEN: Final = Delta.of([ChangeList("fridge", "states", ("open",), ("closed",))])
SHUT: Final = Delta.of([ChangeList("fridge", "states", ("closed",), ("open",))])
TAKE: Final = Delta.of(
    [RemoveRelation(Relation("cup", "INSIDE", "fridge")), AddRelation(Relation("robot", "HOLDS", "cup"))]
)


def scene_with(store: SceneStore, *deltas: Delta) -> SceneInfo:
    """Return a small scene after some commits."""
    name = fresh("past")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    for number, delta in enumerate(deltas):
        store.commit(info, delta, actor=("ann", "robot")[number % 2], action=f"act {number}")
    return info


def rows(store: SceneStore, text: LiteralString, info: SceneInfo, **given: Any) -> list[dict[str, Any]]:
    return [row.data() for row in store.database.rows(text, {"key": info.key, **given}, timeout_s=60)]


def everything(store: SceneStore, info: SceneInfo) -> list[str]:
    """Return all of a past as text, whatever the order in which it was written."""
    return sorted(
        str(
            (
                sorted(row["labels"]),
                sorted(row["values"].items()),
                sorted(str((kind, sorted(values.items()))) for kind, values in row["relations"]),
            )
        )
        for row in rows(store, ALL, info)
    )


def told(store: SceneStore, info: SceneInfo, version: int) -> tuple[set[tuple[str, ...]], dict[tuple[str, str], Any]]:
    """Return relations and states as of a version, and the properties that changed at any time."""
    found = rows(store, AS_OF, info, version=version)
    plain = {tuple(row[name] or "" for name in ("node", "name", "target")) for row in found if not row["is_property"]}
    properties = {(row["node"], row["name"]): from_driver(row["value"]) for row in found if row["is_property"]}
    assert len(plain) + len(properties) == len(found)
    return plain, properties


def so_of(node: Node, key: str) -> Any:
    return node.kind if key == "kind" else value_of(node, key)


def kept(graph: SceneGraph) -> set[tuple[str, ...]]:
    states = {(node.id, state, "") for node in graph.nodes.values() for state in node.states}
    return states | {(it.source, it.type, it.target) for it in graph.relations if it.type not in LEFT_OUT}


@settings(max_examples=100 if FULL else 8)
@given(
    graphs=st.lists(scene_graphs(), min_size=2, max_size=4),
    steps=st.lists(st.sampled_from(["commit", "commit", "undo", "redo", "build"]), min_size=3, max_size=7),
)
def test_the_past_tells_what_each_version_was(store: SceneStore, graphs: list[SceneGraph], steps: list[str]) -> None:
    name = fresh("past")
    store.put(ImportedScene(name, graphs[0], declared=Declared(TYPES[-1:], KEYS[-1:])))
    info = store.find(name)
    versions = [store.load(name).graph]
    for number, step in enumerate(steps):
        try:
            match step:
                case "commit":
                    delta = diff(versions[-1], graphs[number % len(graphs)])
                    store.commit(info, delta, actor="t", action="a", action_id=str(number))
                case "undo":
                    store.undo(info)
                case "redo":
                    store.redo(info)
                case _:
                    build_past(store.database, info)
                    continue
        except (NothingToUndo, NothingToRedo):
            continue
        versions.append(store.load(name).graph)
    assert build_past(store.database, info).built == len(versions) - 1
    for version, graph in enumerate(versions):
        plain, properties = told(store, info, version)
        assert plain == kept(graph)
        for (node_id, key), value in properties.items():
            assert key not in NOT_KEPT
            assert so_of(graph.nodes[node_id], key) == value
    taken = {version for event in store.history(info) for version in event.undoes}
    marked = {row["values"]["version"] for row in rows(store, ALL, info) if row["values"].get("undone")}
    assert marked <= taken


@pytest.mark.parametrize("whole", [True, False], ids=["in one batch", "a batch each"])
def test_a_node_that_comes_back_has_what_it_has_since_then(store: SceneStore, *, whole: bool) -> None:
    """What it had before it was removed is not so in between, nor afterwards."""
    info, graph = scene_with(store), small()
    rest, cup = [node for node in graph.nodes.values() if node.id != "cup"], graph.nodes["cup"]
    versions = [graph]
    seen: tuple[dict[str, str] | None, ...] = (
        {"color": "red"},
        {},
        None,
        {"color": "green"},
        {"color": "red"},
        {},
        None,
        {},
    )
    for properties in seen:
        there = [] if properties is None else [replace(cup, properties=Properties(properties))]
        wanted = SceneGraph.of([*rest, *there], [Relation("fridge", "INSIDE", "kitchen")])
        store.commit(info, diff(versions[-1], wanted), actor="t", action="a")
        versions.append(wanted)
        if not whole:
            build_past(store.database, info)
    build_past(store.database, info)
    for version, wanted in enumerate(versions):
        plain, changed = told(store, info, version)
        assert plain == kept(wanted)
        assert all(so_of(wanted.nodes[node], key) == value for (node, key), value in changed.items())


@settings(max_examples=30 if FULL else 3, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    graphs=st.lists(scene_graphs(max_nodes=4, max_relations=5), min_size=3, max_size=5),
    size=st.integers(1, 3),
    asked=st.sets(st.integers(0, 5)),
    writes=st.integers(1, 6),
)
def test_the_past_does_not_depend_on_when_it_was_asked_for(
    store: SceneStore, graphs: list[SceneGraph], size: int, asked: set[int], writes: int
) -> None:
    """A derived graph that depends on who built it, when, and in how many parts: all ways give the same one."""
    name = fresh("past")
    store.put(ImportedScene(name, graphs[0], declared=Declared(TYPES[-1:], KEYS[-1:])))
    info = store.find(name)
    for number, (before, after) in enumerate(pairwise([*graphs, *reversed(graphs)])):
        store.commit(info, diff(before, after), actor="t", action="a")
        if number in asked:
            build_past(store.database, info)
    build_past(store.database, info)
    found = {"while it happened": everything(store, info)}
    with pytest.MonkeyPatch.context() as patch:
        drop(store, info)
        build_past(store.database, info)
        found["at once"] = everything(store, info)
        patch.setattr(build, "EVENTS_PER_BATCH", size)
        drop(store, info)
        with ThreadPoolExecutor(2) as pool:
            assert len([*pool.map(lambda _: build_past(store.database, info), range(2))]) == 2
        found["by two builders"] = everything(store, info)
        drop(store, info)
        with suppress(KeyboardInterrupt):
            build_past(Killed(store.database, after=writes), info)
        build_past(store.database, info)
        found["after a kill"] = everything(store, info)
    assert {way: text == found["at once"] for way, text in found.items()} == dict.fromkeys(found, True)


class Killed(Database):
    """A connection whose process is killed in the transaction after so many."""

    left: int

    def __init__(self, database: Database, *, after: int) -> None:
        self.__dict__.update(database.__dict__, left=after)

    def transaction(self, work: Any, *, access: Access = "read", timeout_s: float | None = None) -> Any:
        def killed(tx: Any) -> Any:
            work(tx)
            raise KeyboardInterrupt

        self.left -= access == "write"
        return super().transaction(killed if self.left < 0 else work, access=access, timeout_s=timeout_s)


PROPERTIES_OF: Final[LiteralString] = """
MATCH (f:PastFact {scene: $key})-[:ABOUT]->(:PastNode {scene: $key, id: 'cup'}) WHERE f.property = 'color'
RETURN f.value AS value, f.since AS since, f.until AS until, size([(:PastEvent)-[:BEGAN]->(f) | 1]) AS began,
       size([(:PastEvent)-[:ENDED]->(f) | 1]) AS ended
ORDER BY since
"""


@pytest.mark.parametrize("asked", [(), (1, 2, 3, 4, 5), (2,), (3,), (4,)], ids=str)
def test_each_life_of_a_node_tells_its_properties(store: SceneStore, asked: tuple[int, ...]) -> None:
    """Properties that changed in one life of a node and not in another have facts in both, and an event ends each."""
    info, graph = scene_with(store), small()
    rest, cup = [node for node in graph.nodes.values() if node.id != "cup"], graph.nodes["cup"]
    before = graph
    for version, color in enumerate(["red", None, "green", "blue", None, "white"], start=1):
        there = [] if color is None else [replace(cup, properties=Properties({"color": color}))]
        wanted = SceneGraph.of([*rest, *there], [Relation("fridge", "INSIDE", "kitchen")])
        store.commit(info, diff(before, wanted), actor="t", action="a")
        before = wanted
        if version in asked:
            build_past(store.database, info)
    build_past(store.database, info)
    assert [tuple(row.values()) for row in rows(store, PROPERTIES_OF, info)] == [
        ("blue", 0, 1, 0, 1),
        ("red", 1, 2, 1, 1),
        ("green", 3, 4, 1, 1),
        ("blue", 4, 5, 1, 1),
        ("white", 6, None, 1, 0),
    ]


def test_a_past_of_an_earlier_form_is_built_again(store: SceneStore) -> None:
    """Derived data outlives the code that derived it: a past that an earlier version built is told by its form."""
    info = scene_with(store, OPEN)
    build_past(store.database, info)
    built = everything(store, info)
    text: LiteralString = (
        "MATCH (h:PastHead {scene: $key}) REMOVE h.form WITH h "
        "MATCH (f:PastFact {scene: $key})<-[r:ENDED]-() DELETE r RETURN count(r) AS deleted"
    )
    done = store.database.execute(text, {"key": info.key})
    assert done is not None
    assert done["deleted"] == 1
    build_past(store.database, info)
    assert everything(store, info) == built


def test_an_event_names_what_it_changed_and_the_facts_that_it_began_and_ended(store: SceneStore) -> None:
    info = scene_with(store, OPEN, TAKE)
    build_past(store.database, info)
    [taken] = [row for row in rows(store, ALL, info) if row["values"].get("action") == "act 1"]
    assert (taken["values"]["actor"], taken["values"]["version"], taken["values"]["undone"]) == ("robot", 2, False)
    found = sorted((kind, it.get("relation") or it.get("id")) for kind, it in taken["relations"])
    assert found == [("BEGAN", "HOLDS"), ("CHANGED", "cup"), ("CHANGED", "robot"), ("ENDED", "INSIDE")]


def test_what_undo_took_back_is_marked_till_redo(store: SceneStore) -> None:
    info = scene_with(store, OPEN, TAKE)
    undone = []
    for change in (store.undo, store.redo, store.undo):
        change(info)
        build_past(store.database, info)
        undone.append({r["values"]["version"] for r in rows(store, ALL, info) if r["values"].get("undone")})
    assert undone == [{2}, {3}, {2, 3}]
    store.undo(info, to=0)
    build_past(store.database, info)
    assert {r["values"]["version"] for r in rows(store, ALL, info) if r["values"].get("undone")} == {1, 2, 3, 4, 5}


def test_no_relation_of_the_past_touches_the_scene(store: SceneStore) -> None:
    info = scene_with(store, OPEN, TAKE)
    build_past(store.database, info)
    joins: LiteralString = """
    MATCH (n:Past {scene: $key})-[r]-(m) WHERE NOT m:Past OR m.scene <> $key OR n:Entity OR n:Event
    RETURN type(r) AS type
    """
    assert rows(store, joins, info) == []


def test_two_builders_share_the_work(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "EVENTS_PER_BATCH", 3)
    monkeypatch.setattr(build, "FACTS_PER_BATCH", 1)
    info = scene_with(store, *[OPEN, SHUT] * 15)
    with ThreadPoolExecutor(3) as pool:
        states = list(pool.map(lambda _: build_past(store.database, info), range(3)))
    assert {state.built for state in states} == {30}
    shared = everything(store, info)
    drop(store, info)
    monkeypatch.undo()  # in one batch each
    build_past(store.database, info)
    assert everything(store, info) == shared


BUILDER: Final = """
import sys
from scenecypher.db.past import build, build_past
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.catalog import scene_of
build.EVENTS_PER_BATCH = 1
build.FACTS_PER_BATCH = 1
with Database(Address(*sys.argv[1:5])) as database:
    build_past(database, scene_of(database, sys.argv[5]))
"""


def test_a_builder_that_is_killed_leaves_what_it_finished(store: SceneStore, address: Address) -> None:
    info = scene_with(store, *[OPEN, SHUT] * 60)
    given = [address.uri, address.username, address.password, address.database, info.key]
    with subprocess.Popen([sys.executable, "-c", BUILDER, *given]) as running:
        while (past_state(store.database, info).head or {"done": 0})["done"] < 3 and running.poll() is None:
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGKILL)
    stopped = past_state(store.database, info)
    assert stopped.built < 120
    assert build_past(store.database, info).built == 120
    finished = everything(store, info)
    drop(store, info)
    build_past(store.database, info)
    assert {*everything(store, info)} ^ {*finished} == set()


def drop(store: SceneStore, info: SceneInfo) -> None:
    text: LiteralString = "MATCH (n:Past|PastHead {scene: $key}) DETACH DELETE n"
    store.database.execute(text, {"key": info.key})


def test_a_past_goes_with_its_scene(store: SceneStore) -> None:
    info = scene_with(store, OPEN)
    build_past(store.database, info)
    store.delete(info.name)
    with pytest.raises(SceneReplaced):
        build_past(store.database, info)
    assert build_past(store.database, info, status="retired").built == 1
    store.delete_leftovers(grace_s=0)
    assert rows(store, "MATCH (n:Past|PastHead {scene: $key}) RETURN n", info) == []


def test_an_episode_sees_its_own_past_in_a_clock_of_its_own(store: SceneStore) -> None:
    info = scene_with(store)
    pasts = []
    for _ in range(2):
        with store.lease(info.name) as copy:
            store.commit(copy, OPEN, actor="robot", action="open fridge")
            build_past(store.database, copy)
            pasts.append(everything(store, copy))
            [event] = [row["values"] for row in rows(store, ALL, copy) if "PastEvent" in row["labels"]]
            assert (event["version"], event["at"].iso_format()) == (1, "2000-01-01T08:01:00.000000000+00:00")
            key = copy.key
    assert [text.replace(key, "") for text in pasts[0]] == [text.replace(key, "") for text in pasts[1]]


def test_an_account_that_may_only_read_gets_what_is_built(store: SceneStore, database: Database) -> None:
    """Community has no roles: the server's other refusal to write, in a read session, stands for them."""
    info = scene_with(store, OPEN)
    build_past(database, info)
    store.commit(info, SHUT, actor="ann", action="close fridge")
    reader = ReadOnly(database)
    state = build_past(reader, info)
    assert (state.built, state.version, state.is_current) == (1, 2, False)


class ReadOnly(Database):
    """A connection whose writes the server refuses."""

    def __init__(self, database: Database) -> None:
        self.__dict__.update(database.__dict__)

    def transaction(self, work: Any, *, timeout_s: float | None = None, **_: Any) -> Any:
        return super().transaction(work, timeout_s=timeout_s)

    def execute(self, text: LiteralString, parameters: Mapping[str, Any] = NOTHING, **_: Any) -> Any:
        return self.row(text, parameters)


def test_steps_lead_to_their_events_whichever_is_stored_first(store: SceneStore) -> None:
    info = scene_with(store, OPEN, SHUT)
    told: LiteralString = """
    CREATE (:Past:Step {scene: $key, run: $run, number: 1, version: 1}),
           (:Past:Step {scene: $key, run: $run, number: 2, version: $version}),
           (:Past:Step {scene: $key, run: $run, number: 3})
    """
    led: LiteralString = """
    MATCH (s:Step {scene: $key})-[:LED_TO]->(e:PastEvent {scene: $key})
    RETURN s.run AS run, s.number AS step, e.version AS version ORDER BY run, step
    """

    def tell(run: int, version: int) -> None:
        store.database.execute(told, {"key": info.key, "run": run, "version": version})

    tell(-1, 2)
    build_past(store.database, info)
    tell(-2, 3)
    assert build_past(store.database, info).built == 2
    found = [{"run": -2, "step": 1, "version": 1}, *({"run": -1, "step": it, "version": it} for it in (1, 2))]
    assert rows(store, led, info) == found
    store.commit(info, OPEN, actor="ann", action="open")
    assert not build_past(store.database, info).has_unlinked
    build_past(store.database, info)
    assert rows(store, led, info) == [found[0], {"run": -2, "step": 2, "version": 3}, *found[1:]]
    store.database.execute("MATCH (s:Step {scene: $key}) DETACH DELETE s", {"key": info.key})

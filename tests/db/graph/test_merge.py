"""Laws of merges over generated graphs: what only the source changed is taken, what others changed is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.graph.delta import Delta, SetProperty, apply, diff
from scenecypher.db.graph.merge import PLACING, apply_fitting, merge, without
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph, typed_key
from tests.strategies import scene_graphs

CUP: Final = Node("cup", "Object", "cup", "cup", ("clean",), (), Properties({"color": "red"}))
TABLE: Final = Node("table", "Asset", "table", "table")
SINK: Final = Node("sink", "Asset", "sink", "sink")
ON_TABLE: Final = Relation("cup", "ON", "table")
IN_SINK: Final = Relation("cup", "INSIDE", "sink")
BEFORE: Final = SceneGraph.of([CUP, TABLE, SINK], [ON_TABLE])


@given(scene_graphs(), scene_graphs())
def test_a_source_that_nobody_else_changed_is_followed_exactly(before: SceneGraph, after: SceneGraph) -> None:
    merged = merge(before, after, before)
    assert merged.delta == diff(before, after)
    assert merged.conflicts == ()


@given(scene_graphs(), scene_graphs())
def test_a_source_that_did_not_change_changes_nothing(before: SceneGraph, now: SceneGraph) -> None:
    merged = merge(before, before, now)
    assert not merged.delta
    assert merged.conflicts == ()


@given(scene_graphs(), scene_graphs())
def test_what_others_changed_to_the_same_is_no_conflict(before: SceneGraph, after: SceneGraph) -> None:
    merged = merge(before, after, after)
    assert not merged.delta
    assert merged.conflicts == ()


def facts(graph: SceneGraph) -> Mapping[Any, Any]:
    """Return each fact of a graph; the places of a node are one."""
    found: dict[Any, Any] = {}
    for node in graph.nodes.values():
        found |= {(node.id, "kind"): node.kind, (node.id, "name"): node.name, (node.id, "class"): node.class_}
        found |= {(node.id, key): typed_key(value) for key, value in node.properties.items()}
        found |= dict.fromkeys(((node.id, word, "state") for word in node.states), True)
        found |= dict.fromkeys(((node.id, word, "affordance") for word in node.affordances), True)
        places = {it for it in graph.outgoing.get(node.id, ()) if it.type in PLACING}
        found |= {(node.id, "places"): places} if places else {}
    return found | dict.fromkeys((it for it in graph.relations if it.type not in PLACING), True)


@given(scene_graphs(max_nodes=4), scene_graphs(max_nodes=4), scene_graphs(max_nodes=4))
def test_each_fact_is_the_sources_or_the_others(before: SceneGraph, after: SceneGraph, now: SceneGraph) -> None:
    merged = merge(before, after, now)
    result = facts(apply(now, merged.delta))
    old, source, others = facts(before), facts(after), facts(now)
    for fact in old.keys() | source.keys() | others.keys():
        if others.get(fact) != old.get(fact):
            assert result.get(fact) == others.get(fact), "what others changed is kept"
        elif not merged.conflicts:
            assert result.get(fact) == source.get(fact), "what only the source changed is taken"


@given(scene_graphs(), scene_graphs())
def test_what_others_did_can_be_taken_back(source: SceneGraph, now: SceneGraph) -> None:
    assert without(now, [diff(source, now)]) == source
    assert apply_fitting(source, [diff(source, now)]) == now


@given(st.lists(scene_graphs(max_nodes=4), min_size=1, max_size=5))
def test_successive_states_equal_the_last(states: list[SceneGraph]) -> None:
    now = source = SceneGraph.of()
    for state in states:
        delta = merge(source, state, now).delta
        now, source = apply(now, delta), apply_fitting(source, [delta])
    assert now == source == states[-1]


DECLARED: Final = "declared"
Declarations = list[tuple[int, int]]


def declare(now: SceneGraph, numbers: list[int]) -> Delta:
    """Return what a person declares: a state and a name of some nodes, which no source gives."""
    ids = sorted(now.nodes)
    chosen = {ids[number % len(ids)] for number in numbers} if ids else set()
    nodes = [
        replace(node, states=(*{*node.states, DECLARED},), name=f"my {node.id}"[:500]) if node.id in chosen else node
        for node in now.nodes.values()
    ]
    return diff(now, SceneGraph.of(nodes, now.relations))


@given(st.lists(st.tuples(scene_graphs(max_nodes=4), st.lists(st.integers(0, 3), max_size=2)), min_size=1, max_size=5))
def test_what_people_declare_survives_and_all_else_is_the_last_state(
    steps: list[tuple[SceneGraph, list[int]]],
) -> None:
    now = source = SceneGraph.of()
    declared: list[Delta] = []
    for given_state, numbers in steps:
        state = SceneGraph.of((replace(it, name=it.id) for it in given_state.nodes.values()), given_state.relations)
        delta = merge(source, state, now).delta
        now, source = apply(now, delta), apply_fitting(source, [delta])
        declared.append(declare(now, numbers))
        now = apply(now, declared[-1])
    for node_id, node in now.nodes.items():
        if node_id not in state.nodes:
            assert DECLARED in node.states, "a node that the source lost is kept only for what was declared of it"
        else:
            states = {*node.states} - {DECLARED}
            assert replace(node, states=(*states,), name=node_id) == state.nodes[node_id]
    assert now.nodes.keys() >= state.nodes.keys()
    assert {it for it in now.relations if {it.source, it.target} <= state.nodes.keys()} == state.relations
    assert without(now, declared) == source, "the source's part can be told from the scene and the others' changes"


@pytest.mark.parametrize(
    ("after", "now", "conflict"),
    [
        (
            SceneGraph.of([replace(CUP, name="mug"), TABLE, SINK], [ON_TABLE]),
            SceneGraph.of([replace(CUP, name="my cup"), TABLE, SINK], [ON_TABLE]),
            "name of 'cup' is 'mug' in the source; others made it 'my cup'",
        ),
        (
            SceneGraph.of([replace(CUP, properties=Properties({"center": Point(1, 2.5)})), TABLE, SINK], [ON_TABLE]),
            SceneGraph.of([replace(CUP, properties=Properties({"center": Point(3, 3)})), TABLE, SINK], [ON_TABLE]),
            "center of 'cup' is (1.0, 2.5) in the source; others made it (3.0, 3.0)",
        ),
        (
            SceneGraph.of([CUP, TABLE, SINK], [IN_SINK]),
            SceneGraph.of([CUP, TABLE, SINK], [Relation("cup", "ON", "sink")]),
            "'cup' is somewhere else in the source; others moved it",
        ),
        (
            SceneGraph.of([TABLE, SINK]),
            SceneGraph.of([replace(CUP, states=("dirty",)), TABLE, SINK], [ON_TABLE]),
            "'cup' is no longer in the source; it is kept, since others changed it",
        ),
        (
            SceneGraph.of([replace(CUP, kind="Asset"), TABLE, SINK], [IN_SINK]),
            SceneGraph.of([TABLE, SINK]),
            "'cup' changed in the source; others removed it from the scene",
        ),
        (
            SceneGraph.of([CUP, TABLE, SINK, replace(CUP, id="fork")], [ON_TABLE]),
            SceneGraph.of([CUP, TABLE, SINK, replace(TABLE, id="fork")], [ON_TABLE]),
            "'fork' is new in the source; the scene has it already, and keeps its own",
        ),
    ],
)
def test_a_contradiction_is_told_once(after: SceneGraph, now: SceneGraph, conflict: str) -> None:
    merged = merge(BEFORE, after, now)
    assert merged.conflicts == (conflict,)
    kept = apply(now, merged.delta)
    assert kept.nodes == now.nodes


def test_a_change_that_another_replaced_is_not_taken_back() -> None:
    red = SetProperty("cup", "color", "red", "blue")
    now = SceneGraph.of([replace(CUP, properties=Properties({"color": "green"}))])
    assert without(now, [Delta.of([red])]) == now

"""Laws of Delta over generated scene graphs: diff, apply, invert, compose, and one canonical form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.graph.delta import (
    AddNode,
    AddRelation,
    Change,
    ChangeList,
    Delta,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
    apply,
    apply_edit,
    compose,
    diff,
    invert,
    value_of,
)
from scenecypher.db.graph.scene import EMPTY, InvalidValue, Node, Properties, Relation, SceneGraph, Value, typed_key
from scenecypher.errors import ConflictError
from tests.strategies import ALIKE, big_graph, scene_graphs, values

CUP = Node("cup", "Object", "cup", "cup", ("clean",), ("grabbable",), Properties({"color": "red"}))
TABLE = Node("table", "Asset", "table", "table")
ON_TABLE = Relation("cup", "ON", "table")
SCENE = SceneGraph.of([CUP, TABLE], [ON_TABLE])


@given(scene_graphs(), scene_graphs())
def test_applying_the_difference_leads_from_one_graph_to_the_other(before: SceneGraph, after: SceneGraph) -> None:
    assert apply(before, diff(before, after)) == after


@given(scene_graphs(), scene_graphs())
def test_the_inverse_leads_back(before: SceneGraph, after: SceneGraph) -> None:
    delta = diff(before, after)
    assert apply(apply(before, delta), invert(delta)) == before
    assert invert(invert(delta)) == delta
    assert invert(delta) == diff(after, before)


@given(st.lists(scene_graphs(max_nodes=4), min_size=1, max_size=5))
def test_composed_deltas_equal_their_sequence(graphs: list[SceneGraph]) -> None:
    steps = [diff(before, after) for before, after in pairwise(graphs)]
    assert compose(steps) == diff(graphs[0], graphs[-1])
    assert apply(graphs[0], compose(steps)) == graphs[-1]


@given(scene_graphs(), scene_graphs())
def test_a_delta_and_its_inverse_compose_to_nothing(before: SceneGraph, after: SceneGraph) -> None:
    delta = diff(before, after)
    assert not compose([delta, invert(delta)])


@given(scene_graphs(), scene_graphs(), st.randoms(use_true_random=False))
def test_of_is_idempotent_and_canonical(before: SceneGraph, after: SceneGraph, random: Random) -> None:
    delta = diff(before, after)
    shuffled = [*delta.changes]
    random.shuffle(shuffled)
    assert Delta.of(shuffled) == Delta.of(delta.changes) == delta
    assert Delta.of(shuffled).changes == delta.changes


@given(scene_graphs())
def test_equal_graphs_differ_in_nothing(graph: SceneGraph) -> None:
    again = SceneGraph.of(reversed([*graph.nodes.values()]), graph.relations)
    assert not diff(graph, again)
    assert again == graph
    assert hash(again) == hash(graph)
    assert apply(graph, Delta()) == graph


@given(scene_graphs(), scene_graphs())
def test_applying_leaves_the_graph_as_it_was(before: SceneGraph, after: SceneGraph) -> None:
    nodes, relations = dict(before.nodes), frozenset(before.relations)
    apply(before, diff(before, after))
    assert (dict(before.nodes), before.relations) == (nodes, relations)


@given(scene_graphs(), scene_graphs(), scene_graphs())
def test_a_delta_applies_to_its_own_graph_only(before: SceneGraph, after: SceneGraph, other: SceneGraph) -> None:
    """Applied to another graph, a Delta gives a valid graph or a ConflictError."""
    try:
        made = apply(other, diff(before, after))
    except ConflictError:
        return
    assert SceneGraph.of(made.nodes.values(), made.relations) == made


def test_the_laws_hold_for_big_graphs() -> None:
    before, after = big_graph(1), big_graph(2)
    delta = diff(before, after)
    assert len(delta) > 5_000
    assert apply(before, delta) == after
    assert apply(after, invert(delta)) == before
    assert Delta.of(delta.changes) == delta
    assert apply(EMPTY, diff(EMPTY, after)) == after


@given(values(), values())
def test_a_property_changes_exactly_where_value_or_type_differ(one: Value, other: Value) -> None:
    was, now = (
        replace(CUP, properties=Properties({"color": one})),
        replace(CUP, properties=Properties({"color": other})),
    )
    delta = diff(SceneGraph.of([was]), SceneGraph.of([now]))
    assert bool(delta) is (typed_key(one) != typed_key(other))
    if delta:
        with pytest.raises(ConflictError, match="color of 'cup' is "):
            apply(SceneGraph.of([now]), delta)


def test_similar_values_of_different_types_differ() -> None:
    assert len({typed_key(value) for value in ALIKE}) == len(ALIKE)
    assert len({SetProperty("cup", "color", None, value) for value in ALIKE}) == len(ALIKE)
    assert len({Properties({"color": value}) for value in ALIKE}) == len(ALIKE)


def test_a_change_of_kind_keeps_the_relations() -> None:
    moved = SceneGraph.of([replace(CUP, kind="Asset"), TABLE], [ON_TABLE])
    delta = diff(SCENE, moved)
    assert delta.changes == (SetKind("cup", "Object", "Asset"),)
    assert apply(SCENE, delta) == moved


def test_a_deleted_node_takes_its_relations_by_changes_of_their_own() -> None:
    delta = diff(SCENE, SceneGraph.of([TABLE]))
    assert delta.changes == (RemoveRelation(ON_TABLE), RemoveNode(CUP))
    with pytest.raises(ConflictError, match="'cup' ON 'table' still holds a node"):
        apply(SCENE, Delta((RemoveNode(CUP),)))


def test_lists_change_by_element() -> None:
    delta = Delta.of([ChangeList("cup", "states", added=("full",))])
    wet = SceneGraph.of([replace(CUP, states=("clean", "wet")), TABLE], [ON_TABLE])
    assert apply(wet, delta).nodes["cup"].states == ("clean", "full", "wet")
    assert ChangeList("cup", "states", ("b", "a", "b")) == ChangeList("cup", "states", ("a", "b"))


@pytest.mark.parametrize(
    ("changes", "net"),
    [
        ([SetKind("cup", "Object", "Asset"), SetKind("cup", "Asset", "Object")], []),
        ([SetProperty("c", "foo", "a", "b"), SetProperty("c", "foo", "b", "c")], [SetProperty("c", "foo", "a", "c")]),
        ([SetProperty("c", "name", "a", "a")], []),
        (
            [ChangeList("cup", "states", ("a",)), ChangeList("cup", "states", ("b",), ("a",))],
            [ChangeList("cup", "states", ("b",))],
        ),
        ([ChangeList("cup", "states", (), ("a",)), ChangeList("cup", "states", ("a",))], []),
        ([ChangeList("cup", "states")], []),
        ([AddRelation(ON_TABLE), RemoveRelation(ON_TABLE), AddRelation(ON_TABLE)], [AddRelation(ON_TABLE)]),
        ([AddNode(CUP), SetKind("cup", "Object", "Asset")], [AddNode(replace(CUP, kind="Asset"))]),
        ([SetKind("cup", "Asset", "Object"), RemoveNode(CUP)], [RemoveNode(replace(CUP, kind="Asset"))]),
        ([AddNode(CUP), RemoveNode(CUP)], []),
        ([RemoveNode(CUP), AddNode(CUP)], []),
        ([RemoveNode(CUP), AddNode(replace(CUP, kind="Asset"))], [SetKind("cup", "Object", "Asset")]),
        (
            [SetProperty("cup", "color", "blue", "red"), RemoveNode(CUP), AddNode(replace(CUP, states=()))],
            [SetProperty("cup", "color", "blue", "red"), ChangeList("cup", "states", (), ("clean",))],
        ),
    ],
)  # fmt: skip
def test_changes_of_one_fact_are_merged(changes: list[Change], net: list[Change]) -> None:
    assert Delta.of(changes) == Delta(tuple(net))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([AddRelation(ON_TABLE), AddRelation(ON_TABLE)], "'cup' ON 'table' is changed twice the same way"),
        ([AddNode(CUP), AddNode(CUP)], "'cup' is added twice"),
        ([RemoveNode(CUP), SetKind("cup", "Object", "Asset")], "'cup' is changed while it is not there"),
        ([RemoveNode(CUP), RemoveNode(CUP)], "'cup' is not as it was"),
        ([SetKind("cup", "Object", "Asset"), AddNode(CUP)], "'cup' is changed before it is added"),
        ([SetKind("cup", "Asset", "Object"), SetKind("cup", "Asset", "Object")], "kind of 'cup' is changed twice"),
        ([SetProperty("cup", "color", 1, 2), SetProperty("cup", "color", 2.0, 3)], "color of 'cup' is changed twice"),
        ([ChangeList("cup", "states", ("a",))] * 2, "states of 'cup' are changed twice"),
        ([SetKind("cup", "Object", "Asset"), RemoveNode(CUP)], "kind of 'cup' is Object, not Asset"),
    ],
)  # fmt: skip
def test_changes_that_contradict_each_other_are_refused(changes: list[Change], says: str) -> None:
    with pytest.raises(ConflictError, match=says):
        Delta.of(changes)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (AddNode(CUP), "node 'cup' is there already"),
        (AddNode(replace(CUP, states=())), "node 'cup' is there already"),
        (RemoveNode(replace(CUP, states=())), "node 'cup' is not as it was"),
        (RemoveNode(replace(CUP, id="mug")), "node 'mug' is not as it was"),
        (SetKind("mug", "Object", "Asset"), "node 'mug' is not there"),
        (SetKind("cup", "Asset", "Object"), "kind of 'cup' is Object, not Asset"),
        (SetProperty("cup", "color", None, "blue"), "color of 'cup' is 'red', not None"),
        (SetProperty("cup", "name", "mug", "jug"), "name of 'cup' is 'cup', not 'mug'"),
        (SetProperty("table", "color", "red", "blue"), "color of 'table' is None, not 'red'"),
        (ChangeList("cup", "states", ("clean",)), "states of 'cup' have 'clean' already"),
        (ChangeList("cup", "affordances", (), ("clean",)), "affordances of 'cup' lack 'clean'"),
        (AddRelation(ON_TABLE), "relation 'cup' ON 'table' is there already"),
        (AddRelation(Relation("cup", "ON", "shelf")), "node 'shelf' of relation 'cup' ON 'shelf' is not there"),
        (RemoveRelation(Relation("table", "ON", "cup")), "relation 'table' ON 'cup' is not there"),
    ],
)
def test_a_conflict_names_the_fact_that_differs(change: Change, says: str) -> None:
    with pytest.raises(ConflictError, match=f"{says}; load the scene again"):
        apply(SCENE, Delta.of([change]))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SetKind("cup", "Object", "Room`) DETACH DELETE (n"), "kind 'Room`\\) DETACH DELETE \\(n' is none of"),
        (lambda: SetProperty("cup", "scene", "mine", "yours"), "'scene' is no property name"),
        (lambda: SetProperty("cup", "id", "cup", "mug"), "'id' is no property name"),
        (lambda: SetProperty("cup", "a b", None, 1), "'a b' is no property name"),
        (lambda: SetProperty("cup", "name", "cup", None), "name: None is no text"),
        (lambda: SetProperty("cup", "class", "cup", ""), "class is empty"),
        (lambda: SetProperty("cup", "color", None, float("nan")), "color: nan is outside"),
        (lambda: ChangeList("cup", "states", ("a",), ("a",)), "'a' can't be both added and removed"),
        (lambda: ChangeList("cup", cast("Any", "name"), ("a",)), "'name' is no list of a node"),
        (lambda: ChangeList("cup", "states", ("a" * 101,)), "states item: 101 characters"),
        (lambda: ChangeList("", "states", ("a",)), "id is empty"),
    ],
)  # fmt: skip
def test_a_change_refuses_invalid_values(make: Callable[[], Change], says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        make()


def test_one_change_of_a_node() -> None:
    assert value_of(apply_edit(CUP, SetProperty("cup", "class", "cup", "mug")), "class") == "mug"
    assert value_of(apply_edit(CUP, SetProperty("cup", "color", "red", None)), "color") is None
    assert apply_edit(CUP, ChangeList("cup", "affordances", ("b",), ("grabbable",))).affordances == ("b",)


def test_a_huge_value_gives_a_short_conflict() -> None:
    huge = SceneGraph.of([replace(CUP, properties=Properties({"color": "x" * 100_000}))])
    with pytest.raises(ConflictError) as caught:
        apply(huge, Delta.of([SetProperty("cup", "color", "y" * 100_000, None)]))
    assert len(str(caught.value)) < 200

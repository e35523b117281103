"""LiveGraph follows a scene graph through any Deltas, and reads like it: indexes, Conditions, refusals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.graph.delta import AddNode, AddRelation, Delta, RemoveNode, apply, diff
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.errors import ConflictError
from tests.strategies import scene_graphs

GROUPS = ("outgoing", "incoming", "by_class", "by_kind", "by_name")


def assert_equal(live: LiveGraph, graph: SceneGraph) -> None:
    assert live.nodes == graph.nodes
    assert [*live.in_order()] == [*graph.in_order()]
    assert live.size == graph.size == len(graph.nodes) + len(graph.relations)
    for name in GROUPS:
        assert {key: tuple(group) for key, group in getattr(live, name).items()} == getattr(graph, name), name


@given(st.lists(scene_graphs(), min_size=1, max_size=6))
def test_it_is_the_graph_after_each_delta(graphs: list[SceneGraph]) -> None:
    live = LiveGraph(graphs[0])
    for before, after in pairwise(graphs):
        live.apply(diff(before, after))
        assert_equal(live, after)
        for node_id in after.nodes:
            assert live.reached(node_id, "INSIDE", "ON") == after.reached(node_id, "INSIDE", "ON")
            assert live.reaching(node_id) == after.reaching(node_id)
            assert live.targets(node_id) == after.targets(node_id)
            assert live.sources(node_id, "ON") == after.sources(node_id, "ON")


@given(scene_graphs(), scene_graphs(), scene_graphs())
def test_it_refuses_what_apply_refuses_and_is_left_as_it_was(
    graph: SceneGraph, other: SceneGraph, another: SceneGraph
) -> None:
    live, delta = LiveGraph(graph), diff(other, another)
    told = [refusal(lambda: apply(graph, delta)), refusal(lambda: live.apply(delta))]
    assert told[0] == told[1]
    assert_equal(live, graph if told[0] else apply(graph, delta))


def refusal(work: Callable[[], object]) -> str:
    try:
        work()
    except ConflictError as refused:
        return str(refused)
    return ""


def test_a_removed_node_may_return_in_one_delta_and_a_held_one_may_not_go() -> None:
    box, cup = Node("box", "Asset", "box", "box"), Node("cup", "Object", "cup", "cup")
    live = LiveGraph(SceneGraph.of([box, cup], [Relation("cup", "INSIDE", "box")]))
    with pytest.raises(ConflictError, match="still holds"):
        live.apply(Delta((RemoveNode(box),)))
    with pytest.raises(ConflictError, match="is not there"):
        live.apply(Delta((AddRelation(Relation("cup", "ON", "shelf")),)))
    with pytest.raises(ConflictError, match="is there already"):
        live.apply(Delta((AddNode(cup),)))

"""A drawing that follows its home from version to version: what a new drawing has, whatever was changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.floorplan.followed import FollowedDrawing, Patch
from scenecypher.floorplan.home_view import DEPTH, view_of
from scenecypher.floorplan.layout import drawing_of
from scenecypher.importers.virtualhome import packaged_scene
from tests.planner.actions.household_worlds import NODES, RELATIONS, ROBOT, node

PLACED = ("ON", "INSIDE")
FURNISHED = SceneGraph.of(
    [*NODES, node("wall-1", "Asset"), node("box", "Object"), node("pen", "Object")],
    [
        *RELATIONS,
        Relation("wall-1", "INSIDE", "hall"),
        Relation("box", "ON", "shelf"),
        Relation("pen", "INSIDE", "box"),
    ],
)
MOVABLE = sorted(it.id for it in FURNISHED.nodes.values() if it.kind in {"Object", "Agent"})
ALL = sorted(FURNISHED.nodes)


class Canvas:
    """The page's map, as its script keeps it: shapes in the order in which they are drawn."""

    def __init__(self, drawing: FollowedDrawing) -> None:
        self.drawing = drawing
        self.shapes = {it[0]: it for it in drawing.document({})["shapes"]}

    def take(self, patch: Patch | None) -> None:
        if patch is None:
            self.shapes = {it[0]: it for it in self.drawing.document({})["shapes"]}
            return
        found = patch.document({})
        for it in found["without"]:
            del self.shapes[it]
        self.shapes |= {it[0]: it for it in found["shapes"]}


def expected(graph: SceneGraph) -> dict[str, Any]:
    return {it[0]: it for it in drawing_of(graph, view_of(graph)).document()["shapes"]}


def moved(graph: SceneGraph, thing: str, type_: str, target: str) -> SceneGraph:
    """Return a graph in which a thing is elsewhere; it may be in itself or in what is in it."""
    kept = [it for it in graph.relations if not (it.source == thing and it.type in PLACED)]
    return SceneGraph.of(graph.nodes.values(), [*kept, *([Relation(thing, type_, target)] if thing != target else [])])


def with_states(graph: SceneGraph, thing: str, states: tuple[str, ...]) -> SceneGraph:
    changed = replace(graph.nodes[thing], states=states)
    return SceneGraph.of([changed if it.id == thing else it for it in graph.nodes.values()], graph.relations)


def without(graph: SceneGraph, thing: str) -> SceneGraph:
    kept = [it for it in graph.relations if thing not in {it.source, it.target}]
    return SceneGraph.of([it for it in graph.nodes.values() if it.id != thing], kept)


def again(graph: SceneGraph, added: Node, target: str) -> SceneGraph:
    if added.id in graph.nodes or target not in graph.nodes:
        return graph
    return SceneGraph.of([*graph.nodes.values(), added], [*graph.relations, Relation(added.id, "ON", target)])


changes = st.lists(
    st.one_of(
        st.tuples(st.just("move"), st.sampled_from(MOVABLE), st.sampled_from(PLACED), st.sampled_from(ALL)),
        st.tuples(st.just("move"), st.sampled_from(ALL), st.sampled_from(PLACED), st.sampled_from(ALL)),
        st.tuples(st.just("states"), st.sampled_from(ALL), st.sampled_from([(), ("open",), ("dirty", "on")])),
        st.tuples(st.just("remove"), st.sampled_from(MOVABLE)),
        st.tuples(st.just("add"), st.sampled_from(MOVABLE), st.sampled_from(ALL)),
    ),
    max_size=6,
)


def changed(graph: SceneGraph, change: tuple[Any, ...]) -> SceneGraph:
    match change:
        case ("move", thing, type_, target) if thing in graph and target in graph:
            return moved(graph, thing, type_, target)
        case ("states", thing, states) if thing in graph:
            return with_states(graph, thing, states)
        case ("remove", thing) if thing in graph:
            return without(graph, thing)
        case ("add", thing, target):
            return again(graph, FURNISHED.nodes[thing], target)
        case _:
            return graph


@given(st.lists(changes, max_size=5))
def test_a_followed_drawing_is_the_drawing_of_its_graph(versions: list[list[tuple[Any, ...]]]) -> None:
    graph = FURNISHED
    canvas = Canvas(FollowedDrawing(graph))
    for version in versions:
        before = graph
        for change in version:
            graph = changed(graph, change)
        canvas.take(canvas.drawing.follow(graph, diff(before, graph)))
        assert canvas.shapes == expected(graph)
        order = [*canvas.shapes]
        for number, shape in enumerate(canvas.shapes.values()):
            assert shape[4] in {"", *order[:number]}, "what a shape lies in is drawn before it"


@pytest.mark.parametrize(
    ("change", "most"),
    [
        (("move", "apple", "ON", "table"), 4),
        (("move", ROBOT, "INSIDE", "kitchen"), 2),
        (("states", "fridge", ("open",)), 1),
        (("move", "pen", "ON", "wall-1"), 5),
    ],
)
def test_little_is_drawn_where_little_changed(change: tuple[Any, ...], most: int) -> None:
    drawing, graph = FollowedDrawing(FURNISHED), changed(FURNISHED, change)
    patch = drawing.follow(graph, diff(FURNISHED, graph))
    assert patch is not None
    assert 0 < len(patch.shapes) <= most


@pytest.mark.parametrize(
    "change",
    [("move", "fridge", "INSIDE", "hall"), ("move", "hall", "INSIDE", "kitchen"), ("move", "box", "ON", "pen")],
)
def test_all_is_drawn_anew_where_rooms_and_furniture_move_or_things_are_in_each_other(change: tuple[Any, ...]) -> None:
    drawing, graph = FollowedDrawing(FURNISHED), changed(FURNISHED, change)
    assert drawing.follow(graph, diff(FURNISHED, graph)) is None


def assert_followed(before: SceneGraph, after: SceneGraph) -> None:
    canvas = Canvas(FollowedDrawing(before))
    canvas.take(canvas.drawing.follow(after, diff(before, after)))
    assert canvas.shapes == expected(after)


def test_a_state_that_becomes_usual_is_shown_of_none() -> None:
    half = sorted(FURNISHED.nodes)[: len(FURNISHED.nodes) // 2]
    before = FURNISHED
    for it in half:
        before = with_states(before, it, ("clean",))
    other = next(it for it in MOVABLE if it not in half)
    assert_followed(before, with_states(before, other, ("clean",)))


@pytest.mark.parametrize("box", range(DEPTH + 2))
def test_what_is_put_into_boxes_in_boxes_is_shown_as_deep_as_all_else(box: int) -> None:
    boxes = [node(f"box-{number}", "Object") for number in range(DEPTH + 2)]
    nested = [Relation(f"box-{number + 1}", "INSIDE", f"box-{number}") for number in range(DEPTH + 1)]
    before = SceneGraph.of(
        [*FURNISHED.nodes.values(), *boxes], [*FURNISHED.relations, *nested, Relation("box-0", "ON", "shelf")]
    )
    assert_followed(before, moved(before, "pen", "INSIDE", f"box-{box}"))


def test_a_recorded_home_is_followed() -> None:
    graph = packaged_scene("963_2").graph
    canvas, things = Canvas(FollowedDrawing(graph)), sorted(graph.by_kind["Object"])
    supports = sorted(graph.by_kind["Asset"])
    patched = 0
    for number in range(0, 60, 3):
        after = moved(graph, things[number], "ON", supports[number])
        patch = canvas.drawing.follow(after, diff(graph, after))
        patched += patch is not None
        canvas.take(patch)
        graph = after
        assert canvas.shapes == expected(graph)
    assert patched == 20


@pytest.mark.parametrize("thing", ["pen", ROBOT])
def test_a_place_of_rooms_is_drawn_while_something_is_in_none_of_them(thing: str) -> None:
    nodes = [*FURNISHED.nodes.values(), node("house", "Place")]
    graph = SceneGraph.of(nodes, [*FURNISHED.relations, Relation("hall", "INSIDE", "house")])
    canvas = Canvas(FollowedDrawing(graph))
    for target, is_drawn in (("house", True), ("hall", False)):
        before, graph = graph, moved(graph, thing, "INSIDE", target)
        canvas.take(canvas.drawing.follow(graph, diff(before, graph)))
        assert canvas.shapes == expected(graph), target
        assert ("house" in canvas.shapes) == is_drawn

"""Where a home is drawn: nobody is left out, nothing overlaps, and what is moved moves nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import pytest

from scenecypher.db.graph.scene import Node, Point, Relation, SceneGraph
from scenecypher.db.graph.value import Properties
from scenecypher.floorplan.home_view import Thing, view_of
from scenecypher.floorplan.layout import Box, Drawing, Shape, drawing_of
from scenecypher.importers.homes import our_home
from scenecypher.importers.virtualhome import packaged_scene
from tests.planner.actions.household_worlds import NODES, RELATIONS, ROOMLESS, SILENT, TWICE, node

DOORS = [Relation("kitchen", "CONNECTS", "hall")]


def drawn(graph: SceneGraph) -> Drawing:
    return drawing_of(graph, view_of(graph))


def boxes(drawing: Drawing) -> dict[str, Box]:
    return {it.id: it.box for it in drawing.shapes}


def with_centres(centres: dict[str, Point]) -> SceneGraph:
    placed = [
        replace(it, properties=Properties({"center": centres[it.id]})) if it.id in centres else it for it in NODES
    ]
    return SceneGraph.of(placed, RELATIONS)


def all_things(things: tuple[Thing, ...]) -> Iterator[str]:
    for it in things:
        yield it.id
        yield from all_things(it.things)


@pytest.fixture(scope="module")
def recorded() -> SceneGraph:
    return packaged_scene("963_2").graph


@pytest.mark.parametrize(
    "graph", [SILENT, TWICE, ROOMLESS, "recorded"], ids=["silent", "twice", "roomless", "recorded"]
)
def test_everything_is_drawn_in_what_holds_it_and_beside_the_rest(
    graph: SceneGraph | str, recorded: SceneGraph
) -> None:
    scene = recorded if isinstance(graph, str) else graph
    view, drawing = view_of(scene), drawn(scene)
    there = {*all_things(view.rooms), *all_things(view.elsewhere)}
    assert {it.id for it in drawing.shapes} - {""} == there - {
        it.id for it in scene.nodes.values() if it.kind == "Door"
    }
    found = boxes(drawing)
    by_parent: dict[str, list[Shape]] = {}
    for it in drawing.shapes:
        by_parent.setdefault(it.parent if it.kind != "Place" else "no parent", []).append(it)
    for parent, shapes in by_parent.items():
        for one, other in combinations(shapes, 2):
            assert not one.box.meets(other.box), (one.id, other.id)
        if parent in found:
            assert all(_holds(found[parent], it.box) for it in shapes), parent


def _holds(outer: Box, inner: Box) -> bool:
    across = outer.x <= inner.x + 1e-6 and inner.x + inner.width <= outer.x + outer.width + 1e-6
    return across and outer.y <= inner.y + 1e-6 and inner.y + inner.height <= outer.y + outer.height + 1e-6


def test_rooms_and_furniture_stay_where_they_are_when_things_are_moved() -> None:
    before = boxes(drawn(SILENT))
    moved = [it for it in RELATIONS if it.source not in {"apple", "tray", "jar", "robot"}]
    moved += [Relation("apple", "ON", "shelf"), Relation("tray", "ON", "lamp"), Relation("jar", "INSIDE", "kitchen")]
    after = boxes(drawn(SceneGraph.of(NODES, [*moved, Relation("robot", "INSIDE", "kitchen")])))
    fixed = [it.id for it in NODES if it.kind in {"Place", "Asset"}]
    assert {it: after[it] for it in fixed} == {it: before[it] for it in fixed}
    assert after["apple"] != before["apple"]


def test_rooms_that_are_joined_have_a_door_in_their_wall() -> None:
    (door,) = drawn(SceneGraph.of(NODES, [*RELATIONS, *DOORS])).doors
    assert door.is_in_wall
    assert drawn(SILENT).doors == ()


def test_many_rooms_in_a_ring_are_drawn_without_overlap() -> None:
    rooms = [node(f"room-{number:03}", "Place") for number in range(200)]
    ring = [Relation(one.id, "CONNECTS", other.id) for one, other in zip(rooms, [*rooms[1:], rooms[0]], strict=True)]
    for number in (40, 200):
        few = {it.id for it in rooms[:number]}
        graph = SceneGraph.of(rooms[:number], [it for it in ring if {it.source, it.target} <= few])
        shapes = drawn(graph).shapes
        assert not [it for it in combinations(shapes, 2) if it[0].box.meets(it[1].box)]


def test_rooms_without_doors_stand_below_those_with_doors() -> None:
    rooms = [node(f"room-{number:03}", "Place") for number in range(30)]
    placed = boxes(drawn(SceneGraph.of(rooms, [Relation("room-000", "CONNECTS", "room-001")])))
    assert not [it for it in combinations(placed.values(), 2) if it[0].meets(it[1])]
    low = max(placed[it].y + placed[it].height for it in ("room-000", "room-001"))
    assert all(placed[it.id].y >= low for it in rooms[2:])


def test_a_home_with_positions_is_drawn_in_metres_and_not_as_its_mirror_image() -> None:
    """North is up: of two things the one with the larger second axis is drawn above, also in VirtualHome's homes."""
    graph = with_centres({"kitchen": Point(1, 2, 3), "apple": Point(4, 0, 9), "fridge": Point(0, 5, 1)})
    above = drawn(graph)
    assert above.is_metric
    places = boxes(above)
    assert places["fridge"].y < places["apple"].y
    assert places["apple"].middle == pytest.approx((4, 0))
    assert {it.id for it in above.shapes} == {it.id for it in NODES}, "those without a position are drawn, too"
    assert _holds(places["kitchen"], places["lamp"])


def test_our_homes_are_drawn_from_above() -> None:
    """A table is as wide and deep as it is in the file; what lies on it is drawn within."""
    places = boxes(drawn(our_home("cottage")[0].graph))
    table = places["kitchentable_73"]
    assert (table.width, table.height) == (1.4, 0.9)
    assert table.middle == pytest.approx((4.14, -2.6))
    assert _holds(table, places["plate_74"])


def test_sizes_are_drawn_and_the_way_of_a_robot() -> None:
    nodes: list[Node] = []
    for it in NODES:
        more: dict[str, object] = {}
        if it.id == "kitchen":
            more = {"center": Point(0, 0, 0), "size_x": 6.0, "size_y": 4.0}
        if it.id == "robot":
            more = {"center": Point(1, 1, 0), "path": (Point(0, 0, 0), Point(1, 1, 0))}
        nodes.append(replace(it, properties=Properties(more)))
    drawing = drawn(SceneGraph.of(nodes, RELATIONS))
    assert boxes(drawing)["kitchen"] == Box(-3, -2, 6, 4)
    assert drawing.path == ((0, 0), (1, -1))
    assert drawing.document()["metric"] is True

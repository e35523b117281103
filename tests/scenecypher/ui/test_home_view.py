"""A home as people see it: what stands where, what is marked, what is left off, on the page and on paper."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.graph.value import Properties
from scenecypher.floorplan.figure import figure_of
from scenecypher.floorplan.home_view import HomeView, Thing, changed_nodes, view_of, viewer_of
from scenecypher.floorplan.layout import drawing_of
from scenecypher.tree import SceneTree
from scenecypher.ui.render import render
from scenecypher.ui.views import compare
from tests.planner.actions.household_worlds import NODES, RELATIONS, ROBOT, SILENT, node

HOSTILE = '<script>alert("x")</script>'


def test_rooms_hold_furniture_and_furniture_holds_things() -> None:
    view = view_of(SILENT)
    assert [room.name for room in view.rooms] == ["hall", "kitchen"]
    (fridge,) = [it for it in view.rooms[1].things if it.name == "fridge"]
    assert [(it.name, it.relation) for it in fridge.things] == [("apple", "inside")]
    assert view.rooms[1].below == len([*_all(view.rooms[1])]) - 1
    assert view.elsewhere == ()


def test_agents_come_first_and_full_furniture_before_empty() -> None:
    kitchen, hall = view_of(SILENT).rooms[1], view_of(SILENT).rooms[0]
    assert [it.kind for it in hall.things][:1] == ["Agent"]
    full = [bool(it.below) for it in kitchen.things]
    assert full == sorted(full, reverse=True)


def test_things_on_walls_and_floors_are_in_the_room() -> None:
    shell = [node("wall-1", "Asset"), node("floor-1", "Asset")]
    placed = [
        Relation("wall-1", "INSIDE", "hall"),
        Relation("floor-1", "ON", "wall-1"),
        Relation("key", "ON", "floor-1"),
    ]
    graph = SceneGraph.of([*NODES, *shell], [*(it for it in RELATIONS if it.source != "key"), *placed])
    hall = view_of(graph).rooms[0]
    assert [(it.name, it.relation) for it in hall.things if it.name == "key"] == [("key", "")]
    assert view_of(graph).left_off == "floor 1, wall 1"
    assert "wall-1" in [it.id for it in view_of(graph, everything=True).rooms[0].things]


def test_states_that_most_nodes_have_are_told_once() -> None:
    graph = SceneGraph.of([replace(it, states=("clean", *it.states)) for it in NODES], RELATIONS)
    view = view_of(graph)
    assert view.usual == ("clean",)
    assert not any("clean" in it.states for room in view.rooms for it in _all(room))
    assert all("clean" in it.states for it in _all(view_of(graph, everything=True).rooms[0]))


def test_doors_join_rooms_whatever_relation_says_so() -> None:
    rooms = [node("a", "Place"), node("b", "Place"), node("c", "Place")]
    joined = [Relation("a", "CONNECTS", "door-1"), Relation("door-1", "CONNECTS", "b")]
    between = [Relation("door-2", "INSIDE", "b"), Relation("door-2", "BETWEEN", "c")]
    view = view_of(SceneGraph.of([*rooms, node("door-1", "Door"), node("door-2", "Door")], joined + between))
    assert dict(view.doors) == {"a": ("b",), "b": ("a", "c"), "c": ("b",)}


def test_what_an_event_changed_and_an_answer_named_is_marked() -> None:
    moved = [it for it in RELATIONS if it.source != "key"] + [Relation(ROBOT, "HOLDS", "key")]
    after = SceneGraph.of(NODES, moved)
    view = view_of(after, changed=changed_nodes(diff(SILENT, after)), found=["apple"])
    marks = {it.id: it.mark for room in view.rooms for it in _all(room) if it.mark}
    assert marks == {"key": "changed", ROBOT: "changed", "apple": "found"}


def test_things_far_inside_each_other_are_counted_and_cycles_end() -> None:
    deep = [node(f"box-{number:03}", "Object") for number in range(300)]
    nested = [Relation(one.id, "INSIDE", other.id) for one, other in zip(deep[1:], deep, strict=False)]
    cycle = [Relation("x", "INSIDE", "y"), Relation("y", "INSIDE", "x")]
    view = view_of(SceneGraph.of([*deep, node("x", "Object"), node("y", "Object")], nested + cycle))
    (boxes,) = [it for it in view.elsewhere if it.id == "box-000"]
    assert max(it.deeper for it in _all(boxes)) == 1
    assert {it.id for it in view.elsewhere} == {"box-000", "x"} or {it.id for it in view.elsewhere} == {"box-000", "y"}


def test_hostile_names_are_text_on_the_page_and_on_paper() -> None:
    names = (HOSTILE, "x" * 500, "שלום\u200folleh")
    nodes = [replace(one, name=name) for one, name in zip(NODES, names, strict=False)]
    view = view_of(SceneGraph.of([*nodes, *NODES[len(names) :]], RELATIONS))
    page = _page(view)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    ET.fromstring(figure_of(drawing_of(SILENT, view), HOSTILE))  # noqa: S314 - our own text; raises if it is no XML


def test_a_figure_names_each_thing_once() -> None:
    text = figure_of(drawing_of(SILENT, view_of(SILENT)), "a home")
    for one in NODES:
        if one.kind != "Door":
            assert len(re.findall(rf"<title>{one.name}\b", text)) == 1, one.name


def test_a_belief_beside_its_world() -> None:
    unseen = [
        replace(it, properties=Properties({"seen": it.id != "apple"})) if it.kind == "Object" else it for it in NODES
    ]
    belief = SceneGraph.of([*unseen, node("broken", "Object"), node("ghost", "Object")], RELATIONS)
    moved = [it for it in RELATIONS if it.source != "key"] + [Relation("key", "INSIDE", "kitchen")]
    world = SceneGraph.of([*NODES, node("new", "Object")], moved)
    groups = compare(belief, world, once={"broken"})
    found = {group.state: [(it.id, it.why) for it in group.things] for group in groups}
    assert found["unseen"] == [("apple", "")]
    assert found["moved"] == [("key", "now at kitchen")]
    assert found["gone"] == [("broken", "the world has it no more")]
    assert found["never was"] == [("ghost", "the world never had it")]
    assert found["unknown"] == [("new", "")]
    assert {"jar", "cup", "tray"} <= {it for it, _ in found["confirmed"]}


def test_what_was_moved_before_the_robot_looked_counts_as_moved() -> None:
    """A wrong count: two moved things that the robot had not seen yet stood among the unseen, and none had moved."""
    unseen = [replace(it, properties=Properties({"seen": False})) if it.kind == "Object" else it for it in NODES]
    kept = [it for it in RELATIONS if it.source not in {"key", "jar"}]
    world = SceneGraph.of(NODES, [*kept, Relation("key", "INSIDE", "kitchen"), Relation("jar", "ON", "table")])
    found = {group.state: group.things for group in compare(SceneGraph.of(unseen, RELATIONS), world)}
    assert [(it.id, it.why, it.believed) for it in found["moved"]] == [
        ("jar", "now at table; not seen yet", ("shelf",)),
        ("key", "now at kitchen; not seen yet", ("hall",)),
    ]
    assert {it.id for it in found["unseen"]} == {"tray", "cup", "apple"}


def _all(thing: Thing) -> list[Thing]:
    return [thing, *(inner for it in thing.things for inner in _all(it))]


def _page(view: HomeView) -> str:
    blank: dict[str, Any] = {
        "style": {"text": "", "hash": ""},
        "scripts": (),
        "drawing": {},
        "events": (),
        "versions": (),
        "drawn": None,
    }
    return render("file.html", title=HOSTILE, view=view, open=True, **blank)


def test_a_brief_view_counts_what_a_whole_one_has() -> None:
    """Of a large home only rooms with something marked in them are made, since making all takes seconds."""
    graph = SceneGraph.of([*NODES, node("wall-1", "Asset")], [*RELATIONS, Relation("wall-1", "INSIDE", "hall")])
    whole = view_of(graph, found=["cup"])
    brief = viewer_of(SceneTree(graph), found=["cup"], is_brief=True).view()
    assert [it.below for it in brief.rooms] == [it.below for it in whole.rooms]
    hall, kitchen = brief.rooms
    assert hall.things == ()
    assert hall.below > 0
    assert kitchen == whole.rooms[1]


def test_one_room_is_made_as_in_the_whole_view() -> None:
    viewer = viewer_of(SceneTree(SILENT))
    assert [viewer.room(it.id) for it in viewer.view().rooms] == [*viewer.view().rooms]
    assert viewer.room("cup") is None
    assert viewer.room("no such node") is None

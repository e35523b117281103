"""The containment tree as text: what is where and how, what is held, cycles, walls left off."""

from __future__ import annotations

from dataclasses import replace

from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.tree import SceneTree
from tests.planner.actions.household_worlds import NODES, RELATIONS, ROBOT, SILENT, TWICE, node


def test_the_tree_of_a_home() -> None:
    assert [*SceneTree(SILENT).lines()] == [
        "hall",
        "  key",
        "  robot",
        "  shelf",
        "    on: jar [closed]",
        "  visitor",
        "kitchen",
        "  fridge [closed]",
        "    inside: apple",
        "  lamp [off]",
        "  table",
        "    on: tray",
        "      on: cup",
    ]
    assert [*SceneTree(TWICE).lines()] == [*SceneTree(SILENT).lines()]


def test_what_is_held_and_a_name_that_is_not_the_id() -> None:
    held = [it for it in RELATIONS if it.source != "key"] + [Relation(ROBOT, "HOLDS", "key")]
    nodes = [replace(it, name="house key") if it.id == "key" else it for it in NODES]
    assert [*SceneTree(SceneGraph.of(nodes, held)).lines(ROBOT)] == ["robot", "  held: house key (key)"]


def test_walls_are_left_off_unless_something_hangs_on_them() -> None:
    shell = [node("wall-1", "Asset"), node("wall-2", "Asset"), node("floor-1", "Asset")]
    hung = Relation("key", "ATTACHED_TO", "wall-1")
    graph = SceneGraph.of([*NODES, *shell], [*(it for it in RELATIONS if it.source != "key"), hung])
    tree = SceneTree(graph, shell=False)
    assert dict(tree.left_off) == {"wall": 1, "floor": 1}
    assert [*tree.lines("wall-1")] == ["wall-1", "  attached to: key"]
    assert not SceneTree(graph).left_off


def test_things_inside_each_other_are_shown_once() -> None:
    graph = SceneGraph.of(
        [node("a", "Object"), node("b", "Object")], [Relation("a", "INSIDE", "b"), Relation("b", "INSIDE", "a")]
    )
    assert sorted(line.split()[-1] for line in SceneTree(graph).lines()) == ["a", "b"]

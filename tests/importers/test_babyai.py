"""BabyAI: the papers' levels and MiniGrid's own, as scenes; their tasks, and answers computed from the graph."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final
from uuid import uuid4

import pytest
import typer
from typer.testing import CliRunner, Result

from scenecypher.cli.imports import import_app
from scenecypher.db.condition import ALWAYS, HeldBy, Id, evaluate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.importers.babyai import LEVELS, level_instance, oracle_plan, read_level, read_task
from scenecypher.importers.babyai_grid import grid_cells, rooms
from scenecypher.importers.task import ProgramStep
from tests.questions.grids import oracle_answer

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")

SEEDS: Final = range(200)
APP: Final = typer.Typer()
APP.add_typer(import_app, name="import")
NO_SERVER: Final = {"NEO4J_URI": "bolt://nowhere.invalid:1"}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(APP, ["import", "babyai", *map(str, arguments)], env=NO_SERVER)


def of_class(graph: SceneGraph, class_: str) -> list[Node]:
    return [graph.nodes[node_id] for node_id in graph.by_class.get(class_, ())]


def in_room(graph: SceneGraph, node_id: str) -> str:
    (room,) = graph.targets(node_id, "INSIDE")
    return room


def test_the_graph_has_a_root_rooms_doors_between_them_items_and_the_agent() -> None:
    graph = read_level("trv1", 3).graph
    assert {node.id for node in graph.nodes.values() if node.kind == "Place"} == {"root", "room_1", "room_2"}
    assert graph.sources("root", "INSIDE") == ("room_1", "room_2")
    assert graph.targets("door_1", "CONNECTS") == graph.sources("door_1", "CONNECTS") == ("room_1", "room_2")
    assert graph.nodes["room_2"].properties == Properties({"center": Point(7.5, 2.5), "size_x": 6, "size_y": 6})
    assert graph.nodes["box_1"] == Node(
        *("box_1", "Object", "blue box", "box"),
        affordances=("containers", "grabbable"),
        properties=Properties({"color": "blue", "center": Point(6, 1)}),
    )
    assert Relation("agent", "INSIDE", "room_1") in graph.relations
    assert graph.nodes["door_1"].states == ("closed", "locked")


@pytest.mark.parametrize("level", [*LEVELS, "BabyAI-KeyInBox-v0", "MiniGrid-MultiRoom-N6-v0", "MiniGrid-LavaGapS7-v0"])
def test_each_thing_of_the_grid_is_one_node_where_it_stands(level: str) -> None:
    start = level_instance(level, 1)
    graph = start.scene.graph
    for cell, thing in grid_cells(start.env).items():
        if thing is not None and thing.type not in {"wall", "floor"}:
            (node_id,) = (one for one, other in start.things.items() if other is thing)
            node = graph.nodes[node_id]
            assert (node.class_, node.properties["color"]) == (thing.type, thing.color)
            assert node.properties["center"] == Point(*cell)
            assert node.kind == "Door" or cell in room_cells(start.env)[in_room(graph, node_id)]
    assert not [*broken_rules(graph, "babyai")]


def room_cells(env: Any) -> dict[str, frozenset[tuple[int, int]]]:
    return {room.id: room.cells for room in rooms(env)}


def test_what_is_in_a_box_is_inside_it() -> None:
    graph = read_level("BabyAI-KeyInBox-v0", 1).graph
    (key,) = of_class(graph, "key")
    assert graph.nodes[in_room(graph, key.id)].class_ == "box"


def test_the_same_seed_is_the_same_scene_and_another_is_not() -> None:
    assert read_level("numqa", 5) == read_level("numqa", 5)
    assert read_level("numqa", 5).graph != read_level("numqa", 6).graph
    assert read_level("trv2", 5).name == "babyai/trv2/5"


@pytest.mark.parametrize("level", ["trv1", "trv2"])
@pytest.mark.parametrize("seed", [0, 7, 42])
def test_the_levels_of_traversal_are_the_papers(level: str, seed: int) -> None:
    graph = read_level(level, seed).graph
    (door,) = of_class(graph, "door")
    (box,) = of_class(graph, "box")
    fits = Counter(key.properties["color"] == door.properties["color"] for key in of_class(graph, "key"))
    assert fits[True] == 1
    assert fits[False] in {1, 2}
    assert {in_room(graph, key.id) for key in of_class(graph, "key")} == {in_room(graph, "agent")}
    assert in_room(graph, box.id) != in_room(graph, "agent")
    sides = sorted(x_of(ball) - x_of(door) for ball in of_class(graph, "ball"))
    assert sides == ([-1] if level == "trv1" else [-1, 1])


def x_of(node: Node) -> float:
    center = node.properties["center"]
    assert isinstance(center, Point)
    return center.x


def test_the_task_is_the_mission_with_the_papers_plan() -> None:
    task = read_task("trv2", 3)
    assert task is not None
    assert (task.id, task.scene, task.instruction) == ("trv2/3", "babyai/trv2/3", "pick up the blue box")
    assert task.goal == HeldBy(Id("box_1"), Id("agent"))
    assert [str(step) for step in task.program] == [
        "pickup(key_2)",
        "remove(ball_1)",
        "open(door_1)",
        "remove(ball_2)",
        "pickup(box_1)",
    ]
    assert not evaluate(task.goal, read_level("trv2", 3).graph, {})


def test_a_mission_without_a_graph_goal_is_no_task() -> None:
    assert read_task("MiniGrid-Empty-5x5-v0", 0) is None


def test_a_door_can_be_what_is_wanted() -> None:
    start = level_instance("BabyAI-OpenRedDoor-v0", 2)
    assert start.task is not None
    assert oracle_plan(start.scene.graph, "door_1") == start.task.program == (ProgramStep("open", ("door_1",)),)


def assert_one_answer(seed: int) -> None:
    start = level_instance("numqa", seed)
    assert start.task is not None
    assert start.task.goal == ALWAYS
    assert start.task.answer
    assert oracle_answer(start.scene.graph, start.task.instruction) == start.task.answer
    assert len(of_class(start.scene.graph, "room")) == 9


def test_a_question_has_one_right_answer_that_the_graph_gives() -> None:
    for seed in SEEDS[::10]:
        assert_one_answer(seed)


@pytest.mark.slow
def test_each_of_two_hundred_questions_has_one_right_answer_that_the_graph_gives() -> None:
    for seed in SEEDS:
        assert_one_answer(seed)


def test_an_answer_depends_on_the_graph() -> None:
    start = level_instance("numqa", 0)
    assert start.task is not None
    graph, question = start.scene.graph, start.task.instruction
    counted = question.split()[-1].removesuffix("es" if question.endswith("boxes") else "s")
    fewer = [relation for relation in graph.relations if graph.nodes[relation.source].class_ != counted]
    assert oracle_answer(SceneGraph.of(graph.nodes.values(), fewer), question) is None
    assert oracle_answer(graph, "what color is the sky") is None


@pytest.mark.parametrize(
    ("level", "seed", "words"),
    [
        ("trv3", 0, "no level 'trv3' among MiniGrid's 178 .did you mean 'trv2' or 'trv1'"),
        ("CartPole-v1", 0, "give trv1, trv2, numqa or an id of MiniGrid"),
        ("trv1", -1, "the seed -1 is negative; give a whole number from 0"),
    ],
)
def test_a_level_that_can_not_be_made_is_an_error(level: str, seed: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_level(level, seed)


def test_a_missing_package_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(InputError, match=r"MiniGrid is not installed: run `pip install 'scenecypher\[papers\]'`"):
        read_level("trv1", 0)


def test_the_command_counts_and_writes_nothing_in_a_dry_run() -> None:
    told = json.loads(run("--level", "numqa", "--seed", 3, "--count", 2, "--dry-run", "--json").stdout)
    assert [scene["name"] for scene in told["scenes"]] == ["babyai/numqa/3", "babyai/numqa/4"]
    assert told["scenes"][0]["kinds"]["Place"] == 10


def test_the_command_knows_its_levels() -> None:
    assert isinstance(run("--level", "trv3", "--dry-run").exception, InputError)


@contextmanager
def imported(store: SceneStore, scene: ImportedScene) -> Iterator[ImportedScene]:
    named = replace(scene, name=f"test/babyai-{uuid4().hex[:10]}")
    assert store.put(named).outcome == "created"
    yield named
    store.delete(named.name)


@pytest.mark.parametrize("level", LEVELS)
def test_a_scene_is_imported_once_however_often(store: SceneStore, level: str) -> None:
    with imported(store, read_level(level, 1)) as scene:
        assert store.put(scene).outcome == "unchanged"
        loaded = store.load(scene.name)
        assert loaded.graph == scene.graph
        assert loaded.info.vocabulary == "babyai"

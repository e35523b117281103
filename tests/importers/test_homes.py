"""Homes as folders of a graph and desired states: our two, and errors in others."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest

from scenecypher.db.condition import ALWAYS, And, Exists, HasClass, HasState, Id, Related, evaluate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Relation, SceneGraph
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.homes import (
    GRAPH,
    OURS,
    STATES,
    TASKS,
    folders,
    goal_from_facts,
    our_home,
    read_home,
    scenes,
    tasks,
)
from scenecypher.importers.task import Task
from scenecypher.importers.virtualhome import to_document
from scenecypher.importers.virtualhome_format import RELATIONS
from tests.importers.canonical import canonical

HOMES: Final[dict[str, ImportedScene]] = {name: our_home(name)[0] for name in OURS}
THE_PAPERS_FIVE: Final = {
    "watch_tv": "tv ON",
    "turn_off_tablelamp": "tablelamp OFF",
    "put_soap_in_bathroomcabinet": "barsoap INSIDE bathroomcabinet",
    "throw_away_plum": "plum INSIDE garbagecan",
    "make_toast": "breadslice INSIDE toaster, breadslice HEATED",
}
"""The goals that the paper prints."""


@pytest.mark.parametrize("name", OURS)
def test_the_counts(name: str) -> None:
    graph = HOMES[name].graph
    assert len(graph.nodes) == 115
    assert len(graph.by_kind["Agent"]) == 1
    assert {r.type for r in graph.relations} == {"INSIDE", "ON", "CLOSE", "FACING", "BETWEEN", "SITTING"}
    assert len(RELATIONS) == 8, "those, and the two that hold what is in a hand"


@pytest.mark.parametrize("name", OURS)
def test_a_home_of_unity_stands_upright(name: str) -> None:
    """Stored homes have z up: rooms are as high as the file says, and what lies on a table lies at its height."""
    graph = HOMES[name].graph
    rooms = [graph.nodes[it].properties for it in graph.by_kind["Place"]]
    assert {it["size_z"] for it in rooms} == {2.5}
    for relation in graph.relations:
        thing, table = graph.nodes[relation.source], graph.nodes[relation.target]
        if relation.type == "ON" and "table" in table.class_ and thing.kind == "Object":
            low, high = (_bottom(thing), _bottom(table) + _length(table, "size_z"))
            assert low == pytest.approx(high, abs=0.1), (thing.id, table.id)


def _bottom(node: Node) -> float:
    center = node.properties["center"]
    assert isinstance(center, Point)
    assert center.z is not None
    return center.z - _length(node, "size_z") / 2


def _length(node: Node, name: str) -> float:
    value = node.properties[name]
    assert isinstance(value, int | float)
    return value


def test_the_same_ten_tasks_in_each_two_of_them_examples() -> None:
    told = {
        name: [(t.id.partition("/")[2], t.instruction, t.formula, t.category) for t in tasks() if name in t.scene]
        for name in OURS
    }
    assert told["apartment"] == told["cottage"]
    assert len({id_ for id_, *_ in told["cottage"]}) == 10
    assert [category for *_, category in told["cottage"]].count("tested") == 8
    formulas = {id_: formula for id_, _, formula, category in told["cottage"] if category == "tested"}
    assert formulas.items() >= THE_PAPERS_FIVE.items()
    assert all(task.program for task in tasks() if task.category == "example")


@pytest.mark.parametrize("task", list(tasks()), ids=lambda task: task.id)
def test_the_goal_is_false_at_the_start(task: Task) -> None:
    graph = HOMES[task.scene.removeprefix("homes/")].graph
    assert task.goal != ALWAYS
    assert not evaluate(task.goal, graph, {})
    classes = [word for fact in task.formula.split(", ") for word in fact.split() if word.islower()]
    assert all(len(graph.by_class[class_]) == 1 for class_ in classes), "each goal means one thing"


@pytest.mark.parametrize("name", OURS)
def test_a_home_is_a_virtualhome_file(name: str) -> None:
    text = (files("scenecypher.importers") / "data" / "homes" / name / GRAPH).read_text(encoding="utf-8")
    assert canonical(to_document(HOMES[name])) == canonical(json.loads(text))
    assert HOMES[name].vocabulary == "virtualhome_ext"
    assert all({"heated", "washed"}.isdisjoint(node.states) for node in HOMES[name].graph.nodes.values())


@pytest.mark.parametrize("name", OURS)
def test_a_home_is_put_together_well(name: str) -> None:
    graph = HOMES[name].graph
    rooms = {*graph.by_kind["Place"]}
    for node in graph.nodes.values():
        if node.kind != "Place":
            assert len(rooms & {*graph.targets(node.id, "INSIDE")}) == 1, node.id
    for relation in graph.relations:
        above = graph.nodes[relation.target]
        if relation.type == "ON" and graph.nodes[relation.source].class_ != "cat":
            assert "surfaces" in above.affordances, relation
        if relation.type == "INSIDE" and above.kind != "Place":
            assert "containers" in above.affordances or "can_open" in above.affordances, relation
        if relation.type == "CLOSE":
            assert Relation(relation.target, "CLOSE", relation.source) in graph.relations


def test_one_task() -> None:
    (task,) = tasks("cottage/make_toast")
    assert (task.id, task.scene, task.budget) == ("cottage/make_toast", "homes/cottage", 30)
    bread, toaster = (Id(HOMES["cottage"].graph.by_class[class_][0]) for class_ in ("breadslice", "toaster"))
    assert task.goal == And((Related(bread, "INSIDE", toaster), HasState(bread, "heated")))
    assert [scene.name for scene in scenes("cottage/make_toast")] == ["homes/cottage"]
    with pytest.raises(InputError, match=r"no task 'cottage/make_tea' among the 20 in our homes .did you mean 'cott"):
        list(tasks("cottage/make_tea"))


# Desired states.


def small() -> SceneGraph:
    return HOMES["cottage"].graph


def test_a_class_of_several_stands_for_one_and_the_same_of_them() -> None:
    closet = Id(small().by_class["closet"][0])
    inside, clean = Related("a_pillow", "INSIDE", closet), HasState("a_pillow", "clean")
    both = And((inside, clean))
    assert goal_from_facts(["pillow INSIDE closet", "pillow CLEAN"], small()) == Exists(
        "a_pillow", And((HasClass("a_pillow", "pillow"), both))
    )
    pillow = small().by_class["pillow"][1]
    assert goal_from_facts([f"{pillow} INSIDE closet"], small()) == And((Related(Id(pillow), "INSIDE", closet),))


@pytest.mark.parametrize(
    ("fact", "cause"),
    [
        ("tv", "'tv' is no fact"),
        ("tv ON ON ON", "'tv ON ON ON' is no fact"),
        ("tv OM", "'OM' is no state or relation here; choose one of OPEN"),
        ("plum IN fridge", "'IN' is no state or relation here"),
        ("tvv ON", "no node and no class is called 'tvv' .did you mean"),
        ("plum INSIDE bin", "no node and no class is called 'bin'"),
    ],
)
def test_invalid_facts_are_refused(fact: str, cause: str) -> None:
    with pytest.raises(InvalidValue, match=cause):
        goal_from_facts([fact], small())


def test_heated_and_washed_are_states() -> None:
    assert STATES.keys() - {"HEATED", "WASHED"} >= {"ON", "OPEN", "DIRTY"}
    assert goal_from_facts(["plate WASHED"], small()) == And((HasState(Id(small().by_class["plate"][0]), "washed"),))


# Any folder of that form.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a home called `mine`, with one task."""
    home = tmp_path / "mine"
    home.mkdir()
    (home / GRAPH).write_text(
        (files("scenecypher.importers") / "data/homes/cottage" / GRAPH).read_text("utf-8"), "utf-8"
    )
    set_tasks(home, task())
    return home


def task(**fields: Any) -> dict[str, Any]:
    return {"id": "cool", "instruction": "Cool the plum.", "goal": ["plum INSIDE fridge", "fridge CLOSED"], **fields}


def set_tasks(home: Path, *rows: Any) -> None:
    (home / TASKS).write_text(json.dumps({"title": "Mine", "tasks": [*rows]}), encoding="utf-8")


def test_a_folder_is_read(folder: Path) -> None:
    assert folders(folder) == (folder,) == folders(folder.parent)
    scene, (read,) = read_home(folder)
    assert (scene.name, scene.vocabulary, scene.source) == ("homes/mine", "virtualhome_ext", str(folder / GRAPH))
    assert scene.graph == small()
    assert (read.id, read.category, read.formula) == ("cool", "tested", "plum INSIDE fridge, fridge CLOSED")
    (folder / TASKS).unlink()
    assert read_home(folder)[1] == ()


def test_a_folder_without_a_home_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no home is at .*must hold graph.json"):
        folders(tmp_path)


@pytest.mark.parametrize(
    ("fields", "place", "cause"),
    [
        ({"goal": ["plum INSIDE fridge", "tv FLY"]}, r"\$.tasks\[0\].goal\[1\]", "'FLY' is no state"),
        ({"goal": []}, r"\$.tasks\[0\].goal", "1"),
        ({"example": True}, r"\$.tasks\[0\]", "an example needs a program"),
        ({"program": ["grab the plum"]}, r"\$.tasks\[0\].program\[0\]", "'grab the plum' is no step"),
        ({"program": ["[grab] <plum> (999)"]}, r"\$.tasks\[0\].program\[0\]", "no node has the id 'plum_999'"),
        ({"reward": 1}, r"\$.tasks\[0\].reward", "no field that is known"),
        ({"budget": 0}, r"\$.tasks\[0\].budget", "at least 1"),
    ],
)
def test_a_bad_task_is_refused_at_its_place(folder: Path, fields: dict[str, Any], place: str, cause: str) -> None:
    set_tasks(folder, task(**fields))
    with pytest.raises(DocumentError, match=f"{place}.*{cause}"):
        read_home(folder)


def test_all_problems_are_reported_at_once(folder: Path) -> None:
    set_tasks(folder, task(), task(goal=["tv FLY"]))
    with pytest.raises(DocumentError) as refused:
        read_home(folder)
    assert [place for place, _ in refused.value.problems] == ["$.tasks[1].id", "$.tasks[1].goal[0]"]

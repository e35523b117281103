"""GraSIF's JSON form: import and export without loss, tasks as Conditions, each mistake at its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from scenecypher.db.condition import And, AtLeast, HasClass, HasState, Id, Related, evaluate
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.graph.value import class_of_name
from scenecypher.errors import DocumentError
from scenecypher.importers.grasif import read_file, read_scene, to_document


def good() -> dict[str, Any]:
    """Two rooms; a mug on a tray on the table, a lamp held, a spoon in the mug, a note under it, a hook on the wall."""
    return {
        "nodes": {
            "rooms": [{"name": "kitchen"}, {"name": "office-2"}],
            "asset": [
                asset("fridge-1", "kitchen", states=["closed"], affordances=["close", "open", "put_inside"]),
                asset("table-1", "office-2", affordances=["put_on"], properties=["round", "wooden"]),
            ],
            "objects": [
                thing("hook-1", "attached_to", "table-1"),
                thing("lamp-1", None, None, states=["off"], affordances=["turn_on"]),
                thing("mug-1", "ontop_of", "tray-1", properties=["blue"]),
                thing("mug-2", "inside_of", "fridge-1"),
                thing("note-1", "under", "mug-1"),
                thing("tray-1", "ontop_of", "table-1", affordances=["pick_up", "put_on"]),
            ],
            "agent": {"name": "agent-1", "location": "office-2", "holding": "lamp-1"},
        }
    }


def asset(name: str, room: str, **facts: list[str]) -> dict[str, Any]:
    return {"name": name, "room": room, "states": [], "affordances": [], "properties": [], **facts}


def thing(name: str, relation: str | None, related_to: str | None, **facts: list[str]) -> dict[str, Any]:
    facts = {"states": [], "affordances": [], "properties": [], **facts}
    return {"name": name, "relation": relation, "related_to": related_to, **facts}


def task(*goal: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "t1", "instruction": "Do it.", "goal": list(goal), **fields}


def write(folder: Path, document: Any) -> Path:
    file = folder / "flat.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def test_a_scene_is_read(tmp_path: Path) -> None:
    scene = read_scene(write(tmp_path, good()))
    graph = scene.graph
    assert (scene.name, scene.vocabulary, len(graph.nodes)) == ("grasif/flat", "grasif", 11)
    assert [graph.nodes[node].kind for node in ("kitchen", "table-1", "mug-1", "agent-1")] == [
        "Place",
        "Asset",
        "Object",
        "Agent",
    ]
    assert Relation("mug-1", "ON", "tray-1") in graph.relations
    assert Relation("note-1", "UNDER", "mug-1") in graph.relations
    assert Relation("hook-1", "ATTACHED_TO", "table-1") in graph.relations
    assert Relation("fridge-1", "INSIDE", "kitchen") in graph.relations
    assert Relation("agent-1", "INSIDE", "office-2") in graph.relations
    assert Relation("agent-1", "HOLDS", "lamp-1") in graph.relations
    assert dict(graph.nodes["table-1"].properties) == {"traits": ("round", "wooden")}
    assert scene.declared.properties == ("traits",)


def test_nothing_is_lost_on_the_way_in_and_out(tmp_path: Path) -> None:
    assert to_document(read_scene(write(tmp_path, good()))) == good()


@pytest.mark.parametrize("empty", ["nothing", "", None])
def test_an_empty_hand_has_three_spellings_and_is_written_as_one(tmp_path: Path, empty: str | None) -> None:
    document = good()
    document["nodes"]["objects"][1].update(relation="ontop_of", related_to="tray-1")
    document["nodes"]["agent"]["holding"] = empty
    scene = read_scene(write(tmp_path, document), name="mine")
    assert scene.name == "mine"
    assert to_document(scene)["nodes"]["agent"]["holding"] == "nothing"


@pytest.mark.parametrize(
    ("name", "class_"),
    [("butter_cookie-2", "butter_cookie"), ("mug", "mug"), ("room_12", "room"), ("floor1", "floor"), ("7", "7")],
)
def test_the_class_is_the_name_without_its_number(name: str, class_: str) -> None:
    assert class_of_name(name) == class_


def test_a_goal_node_by_name(tmp_path: Path) -> None:
    goal = {"name": "mug-1", "relation": "inside_of", "related_to": "fridge-1"}, {"name": "lamp-1", "states": ["on"]}
    scene, (read,) = read_file(write(tmp_path, {**good(), "tasks": [task(*goal, budget=7)]}))
    inside = Related(Id("mug-1"), "INSIDE", Id("fridge-1"))
    assert read.goal == And((And((inside,)), And((HasState(Id("lamp-1"), "on"),))))
    assert (read.id, read.scene, read.budget, read.instruction) == ("t1", "grasif/flat", 7, "Do it.")
    assert not evaluate(read.goal, scene.graph, {})


def test_a_goal_node_by_class_with_a_count(tmp_path: Path) -> None:
    goal = {"class": "mug", "count": 2, "relation": "inside_of", "related_to": "fridge-1"}
    scene, (read,) = read_file(write(tmp_path, {**good(), "tasks": [task(goal)]}))
    inside = And((HasClass("x", "mug"), Related("x", "INSIDE", Id("fridge-1"))))
    assert read.goal == And((AtLeast(2, "x", inside),))
    assert not evaluate(read.goal, scene.graph, {}), "one of the two is there"
    moved = scene.graph.relations - {Relation("mug-1", "ON", "tray-1")} | {Relation("mug-1", "INSIDE", "fridge-1")}
    assert evaluate(read.goal, SceneGraph.of(scene.graph.nodes.values(), moved), {})


Change = Callable[[dict[str, Any]], object]


def on(place: str, index: int, **fields: Any) -> Change:
    return lambda document: document["nodes"][place][index].update(fields)


def also(place: str, item: dict[str, Any]) -> Change:
    return lambda document: document["nodes"][place].append(item)


def agent(**fields: Any) -> Change:
    return lambda document: document["nodes"]["agent"].update(fields)


def wanting(**goal: Any) -> Change:
    return lambda document: document.update(tasks=[task(goal)])


ROWS: Final[list[tuple[str, Change, str, str]]] = [
    ("no nodes", lambda d: d.pop("nodes"), "$.nodes", "is missing"),
    ("unknown field", lambda d: d.update(name="x"), "$.name", "no field that is known"),
    ("rooms no list", lambda d: d["nodes"].update(rooms={}), "$.nodes.rooms", "should be a list"),
    ("name no text", on("rooms", 1, name=3), "$.nodes.rooms[1].name", "should be text"),
    ("states no list", on("asset", 0, states="open"), "$.nodes.asset[0].states", "should be a list"),
    ("unknown relation", on("objects", 2, relation="beside"), "$.nodes.objects[2].relation", "'ontop_of', 'inside_of'"),
    ("half a relation", on("objects", 2, related_to=None), "$.nodes.objects[2]", "belong together"),
    ("missing target", on("objects", 2, related_to="tray-9"), "$.nodes.objects[2].related_to", "called 'tray-9'"),
    ("missing room", on("asset", 1, room="office"), "$.nodes.asset[1].room", "'office-2'"),
    ("agent nowhere", agent(location="attic"), "$.nodes.agent.location", "called 'attic'"),
    ("held is missing", agent(holding="lamp-7"), "$.nodes.agent.holding", "called 'lamp-7'"),
    (
        "same name twice",
        on("objects", 3, name="mug-1"),
        "$.nodes.objects[3]",
        "'mug-1' is the id of $.nodes.objects[2]",
    ),
    ("same name, other kind", on("rooms", 0, name="mug-1"), "$.nodes.objects[2]", "is the id of $.nodes.rooms[0]"),
    ("name empty", on("objects", 0, name=""), "$.nodes.objects[0]", "id"),
    ("two parents", on("objects", 1, relation="ontop_of", related_to="table-1"), "$.nodes.objects[1]", "at once"),
    ("cycle", on("objects", 5, related_to="mug-1"), "$.nodes.objects[2]", "leads back to it"),
    ("in itself", on("objects", 3, related_to="mug-2"), "$.nodes.objects[3]", "leads back to it"),
    ("goal of nobody", wanting(states=["open"]), "$.tasks[0].goal[0]", "either the name of a node or a class"),
    ("goal twice", wanting(name="mug-1", **{"class": "mug"}), "$.tasks[0].goal[0]", "either the name"),
    ("goal half", wanting(name="mug-1", relation="under"), "$.tasks[0].goal[0]", "together"),
    ("goal unknown", wanting(name="mugg-1", states=["on"]), "$.tasks[0].goal[0]", "'mug-1'"),
    ("too many", wanting(count=3, states=["on"], **{"class": "mug"}), "$.tasks[0].goal[0]", "fewer than 3"),
    ("no count", wanting(count=0, **{"class": "mug"}), "$.tasks[0].goal[0].count", "at least 1"),
    ("goal of an empty name", wanting(name=""), "$.tasks[0].goal[0]", "empty"),
    ("goal with an empty state", wanting(name="mug-1", states=[""]), "$.tasks[0].goal[0]", "state is empty"),
    ("no goal", lambda d: d.update(tasks=[task()]), "$.tasks[0].goal", "1"),
]


@pytest.mark.parametrize(("change", "place", "cause"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_bad_input_is_refused_at_its_place(tmp_path: Path, change: Change, place: str, cause: str) -> None:
    document = good()
    change(document)
    with pytest.raises(DocumentError) as refused:
        read_scene(write(tmp_path, document))
    assert place in [where for where, _ in refused.value.problems]
    assert cause in dict(refused.value.problems)[place]


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    document = good()
    on("objects", 2, related_to="tray-9")(document)
    on("asset", 0, room="cellar")(document)
    with pytest.raises(DocumentError) as refused:
        read_scene(write(tmp_path, document))
    places = [place for place, _ in refused.value.problems]
    assert places == ["$.nodes.asset[0].room", "$.nodes.objects[2].related_to"]


def test_a_long_chain_is_no_cycle(tmp_path: Path) -> None:
    document = good()
    boxes = [thing(f"box-{i}", "inside_of", f"box-{i - 1}" if i else "fridge-1") for i in range(10_000)]
    document["nodes"]["objects"] += boxes
    assert len(read_scene(write(tmp_path, document)).graph.nodes) == 10_011

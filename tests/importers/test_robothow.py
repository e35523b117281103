"""RobotHow by the paper's filters: programs that remain are counted, and their goals are the programs'."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Final

import pytest

from scenecypher.db.condition import ALWAYS, And, HasState, Id, Related, evaluate
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.errors import InputError
from scenecypher.evaluation.episode import is_ground_goal
from scenecypher.importers.grasif import read_scene, to_document
from scenecypher.importers.robothow import (
    ACTIONS,
    DROPPED,
    EXCLUDED,
    Program,
    changed_facts,
    passes_filters,
    program_scene,
    program_task,
    programs,
    reduce_to_grasif,
    scenes,
    tasks,
    with_admitted_actions,
)
from scenecypher.importers.task import ProgramStep
from scenecypher.importers.virtualhome import packaged_pairs, program_files
from tests.sampling import sample

ALL: Final = {program.id: program for program in programs()}
STATES: Final = {"open": "leave {} open", "closed": "close {}", "off": "turn off {}", "on": "turn on {}"}
"""The phrases of states in instructions."""
SOME: Final = sample(list(ALL), 6)
TITLES: Final = {
    "Turn on light": 29,
    "Put groceries in Fridge": 21,
    "Wash dishes with dishwasher": 21,
    "Wash clothes": 13,
    "Listen to music": 11,
    "Go to toilet": 5,
    "Change TV channel": 4,
    "Cook some food": 3,
    "Set up table": 3,
    "Make coffee": 1,
}
NOTHING_CHANGES: Final = (
    *("14_1", "89_1", "141_1", "155_2", "296_1", "656_1", "692_2", "725_1", "739_2"),
    *("360_2", "496_1", "627_1", "751_2", "992_1", "1007_2"),
)
"""Programs that put back what they took, or end with it in the hand; the last six only go about."""


@cache
def graph(program_id: str) -> SceneGraph:
    return program_scene(ALL[program_id]).graph


def test_the_programs_that_pass_the_filters() -> None:
    assert (len(ACTIONS), len(EXCLUDED)) == (13, 34)
    assert (len(program_files()), len(ALL)) == (518, 111), "the paper has 308 tasks"
    assert Counter(program.title for program in ALL.values()) == TITLES
    assert not {program.title.casefold() for program in ALL.values()} & EXCLUDED
    assert {step.action for program in ALL.values() for step in program.steps} <= ACTIONS


def test_each_filter_alone_leaves_a_program_out() -> None:
    good = Program("1_1", "Make coffee", (ProgramStep("walk", ("kitchen_1",)),))
    assert passes_filters(good)
    assert not passes_filters(Program("1_1", "Watch TV", good.steps))
    assert not passes_filters(Program("1_1", "Make coffee", (*good.steps, ProgramStep("sit", ("sofa_1",)))))


@pytest.mark.slow
def test_the_counts() -> None:
    found = list(tasks())
    assert len(found) == 96
    assert {task.id for task in found} == ALL.keys() - {*NOTHING_CHANGES}
    graphs = [graph(program_id) for program_id in ALL]
    assert all(len(each.by_kind["Place"]) == 4 for each in graphs)
    assert mean(len(each.nodes) for each in graphs) == pytest.approx(195.04, abs=0.005), "the paper has 195.7"


@pytest.mark.parametrize("program_id", NOTHING_CHANGES[:3])
def test_a_program_that_changes_nothing_sets_no_task(program_id: str) -> None:
    assert program_task(ALL[program_id]) is None
    with pytest.raises(InputError, match=f"program {program_id} leaves all as it was"):
        list(tasks(program_id))
    assert [scene.name for scene in scenes(program_id)] == [f"grasif/robothow/{program_id}"]


@pytest.mark.parametrize("program_id", SOME)
def test_the_goal_is_false_before_the_program_and_true_after_it(program_id: str) -> None:
    task = program_task(ALL[program_id])
    before, after = program_scene(ALL[program_id]), program_scene(ALL[program_id], part="final")
    assert after.name == f"{before.name}@final"
    for scene in (before, after):
        assert list(broken_rules(scene.graph, "grasif")) == []
        assert DROPPED.isdisjoint(scene.graph.by_class)
        assert {node.kind for node in scene.graph.nodes.values()} == {"Place", "Asset", "Object", "Agent"}
    if program_id in NOTHING_CHANGES:
        assert task is None
        return
    assert task is not None
    assert task.goal != ALWAYS
    assert is_ground_goal(task.goal), "as its data set says of all"
    assert not evaluate(task.goal, before.graph, {})
    assert evaluate(task.goal, after.graph, {})
    assert (task.scene, task.category) == (before.name, ALL[program_id].title)


@pytest.mark.parametrize("program_id", SOME)
def test_the_instruction_names_all_that_the_goal_asks(program_id: str) -> None:
    task = program_task(ALL[program_id])
    if task is None:
        return
    assert isinstance(task.goal, And)
    scene = graph(program_id)
    for fact in task.goal.parts:
        match fact:
            case HasState(Id(x), state):
                assert names(task.instruction, scene.nodes[x])
                assert STATES[state].partition(" {}")[0] in task.instruction.casefold()
            case Related(Id(x), _, Id(y)):
                assert names(task.instruction, scene.nodes[y])
                assert scene.nodes[x].kind == "Agent" or names(task.instruction, scene.nodes[x])
            case _:
                pytest.fail(f"{fact} is neither a place nor a state")


def names(text: str, node: Node) -> bool:
    words = re.sub(r"^(food|clothes)_", "", node.class_).replace("_", " ")
    return node.id in text or f"the {words}" in text


def test_a_scene_is_a_grasif_file(tmp_path: Path) -> None:
    scene = program_scene(ALL["8_1"])
    assert scene.source.startswith("eai-eval 1.0.5, file8_1.json, initial")
    file = tmp_path / "again.json"
    file.write_text(json.dumps(to_document(scene)), encoding="utf-8")
    assert read_scene(file).graph == scene.graph


def test_an_excluded_program_is_refused() -> None:
    with pytest.raises(InputError, match=r"RobotHow's filters leave out 'Relax on sofa' .3_1.; 111 programs pass"):
        list(programs("3_1"))
    with pytest.raises(InputError, match="no VirtualHome task '1_99'"):
        list(programs("1_99"))


def test_instructions() -> None:
    told = {program_id: next(tasks(program_id)).instruction for program_id in ("120_1", "446_2", "703_2")}
    assert told == {
        "120_1": "Turn on light_245 in the dining room, light_411 in the home office and the floor lamp.",
        "446_2": (
            "Lay the table: put plate_1000 and plate_1001 on table_226 in the dining room, and leave the cupboard open."
        ),
        "703_2": "Stow the groceries: put the food into the freezer, and leave the freezer open.",
    }


# One parent: on a home that has every case.


def home() -> SceneGraph:
    """A cup on a tray on a table, a plate both on the table and in a cupboard, a ring in itself, a coin in the hand."""
    things = {"cup": "grabbable", "tray": "grabbable", "plate": "grabbable", "ring": "grabbable", "coin": "grabbable"}
    nodes = [Node(name, "Object", name, name, affordances=(word, "movable")) for name, word in things.items()]
    nodes += [
        Node("room", "Place", "room", "room"),
        Node("robot", "Agent", "robot", "robot"),
        Node("floor", "Asset", "floor", "floor"),
        Node("frame", "Door", "frame", "doorjamb"),
        Node("table", "Asset", "table", "table"),
        Node("cupboard", "Asset", "cupboard", "cupboard", ("closed",), ("can_open", "containers", "has_plug")),
    ]
    rows = """cup ON tray, cup ON table, tray ON table, plate ON table, plate INSIDE cupboard, ring INSIDE ring,
        ring ON floor, robot HOLDS_RH coin, coin ON table, cupboard ON table, table ON floor, cup CLOSE table"""
    relations = [Relation(*row.split()) for row in rows.split(",")]
    inside = [Relation(node.id, "INSIDE", "room") for node in nodes if node.id != "room"]
    return SceneGraph.of(nodes, [*relations, *inside])


def test_one_parent_a_node() -> None:
    small = reduce_to_grasif(home())
    assert small.relations == {
        Relation("cup", "ON", "tray"),
        Relation("tray", "ON", "table"),
        Relation("plate", "INSIDE", "cupboard"),
        Relation("ring", "INSIDE", "room"),
        Relation("robot", "HOLDS", "coin"),
        Relation("robot", "INSIDE", "room"),
        Relation("cupboard", "INSIDE", "room"),
        Relation("table", "INSIDE", "room"),
        Relation("frame", "INSIDE", "room"),
    }
    assert list(broken_rules(small, "grasif")) == []
    assert {node.id: node.kind for node in small.nodes.values()} == {
        **dict.fromkeys(("cup", "tray", "plate", "ring", "coin"), "Object"),
        **dict.fromkeys(("table", "cupboard", "frame"), "Asset"),
        "room": "Place",
        "robot": "Agent",
    }


def test_affordances() -> None:
    small = reduce_to_grasif(home())
    assert small.nodes["cupboard"].affordances == ("close", "open", "put_inside")
    assert small.nodes["cup"].affordances == ("pick_up",)
    more = with_admitted_actions(small, [*small.relations, Relation("cup", "INSIDE", "tray")])
    assert more.nodes["tray"].affordances == ("pick_up", "put_inside", "put_on")
    assert more.nodes["table"].affordances == ("put_on",)
    assert more.nodes["room"].affordances == ()


def test_changed_facts_of_a_program() -> None:
    before = reduce_to_grasif(home())
    moved = before.relations - {Relation("cup", "ON", "tray"), Relation("robot", "INSIDE", "room")}
    opened = Node("cupboard", "Asset", "cupboard", "cupboard", ("open",))
    nodes = {**before.nodes, "cupboard": opened}.values()
    after = SceneGraph.of(nodes, [*moved, Relation("cup", "ON", "table")])
    did = (ProgramStep("open", ("cupboard",)), ProgramStep("grab", ("cup",)), ProgramStep("putback", ("cup", "table")))
    on_table, is_open = Related(Id("cup"), "ON", Id("table")), HasState(Id("cupboard"), "open")
    assert changed_facts(Program("1_1", "Other", did), before, after=after) == (is_open, on_table)
    assert changed_facts(Program("1_1", "Other", did[1:]), before, after=after) == (on_table,), "only what it handles"
    gone = Program("1_1", "Other", (ProgramStep("walk", ("room",)),))
    assert changed_facts(gone, after, after=before) == (), "where the robot is, is no goal"


def test_the_packaged_pair_gives_the_same() -> None:
    (pair,) = packaged_pairs("8_1")
    assert graph("8_1").relations == reduce_to_grasif(pair.initial.graph).relations

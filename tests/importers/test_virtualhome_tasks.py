"""The interface's tasks: goals as Conditions that are false before and true after the recorded program."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from scenecypher.db.condition import And, Condition, HasState, Id, Related, conjuncts, evaluate, unmet_parts
from scenecypher.errors import InputError
from scenecypher.importers.task import ProgramStep, Task, meets_action_goals
from scenecypher.importers.virtualhome import (
    GOALS,
    package_folder,
    packaged_pairs,
    parse_formula,
    parse_program,
    relevant_objects,
    tasks,
)
from scenecypher.importers.virtualhome_format import STATES, source_id
from tests.sampling import sample

ALL: Final[Mapping[str, Task]] = {task.id: task for task in tasks()}


def test_the_counts() -> None:
    assert len(ALL) == 338
    assert len({task.category for task in ALL.values()}) == 26
    assert sum(task.has_graph_goal for task in ALL.values()) == 306
    assert sum(not task.has_graph_goal for task in ALL.values()) == 32, "these ask for actions only"
    assert sum(bool(task.action_goals) for task in ALL.values()) == 149
    relation_goals = Counter(relations_asked(task) for task in ALL.values())
    assert sum(number for asked, number in relation_goals.items() if asked >= 2) == 37
    assert (min(len(task.program) for task in ALL.values()), max(len(task.program) for task in ALL.values())) == (2, 54)


def relations_asked(task: Task) -> int:
    return sum(isinstance(part, Related) for part in conjuncts(task.goal))


def test_one_task_whole() -> None:
    task = ALL["27_2"]
    washer = Id("washing_machine_1001")
    assert task.instruction.startswith("Walk to the kitchen and find the basket of clothes.")
    assert (task.category, task.scene, task.budget) == ("Wash clothes", "virtualhome/27_2", 28)
    assert task.goal == And(
        (
            HasState(washer, "closed"),
            HasState(washer, "on"),
            HasState(washer, "plugged_in"),
            Related(Id("clothes_jacket_1003"), "ON", washer),
            Related(Id("soap_1002"), "ON", washer),
        )
    )
    assert task.action_goals == ()
    assert [str(step) for step in task.program[:2]] == ["walk(dining_room_201)", "walk(basket_for_clothes_1000)"]
    assert str(task.program[8]) == "putback(soap_1002, washing_machine_1001)"


def test_action_goals_keep_their_order_and_their_alternatives() -> None:
    assert ALL["1003_2"].action_goals == (("type",), ("switchoff",))
    assert ALL["231_2"].action_goals == (("grab",), ("wash", "rinse", "scrub", "wipe"))
    assert ALL["1027_2"].action_goals == (("sleep",),)
    assert ALL["183_2"].action_goals == (("pour",),)


@pytest.mark.parametrize("task_id", sample(list(ALL), 20))
def test_the_goal_is_false_before_and_true_after_the_program(task_id: str) -> None:
    task = ALL[task_id]
    (pair,) = packaged_pairs(task_id)
    assert evaluate(task.goal, pair.initial.graph, {}) is not task.has_graph_goal
    assert unmet_parts(task.goal, pair.final.graph, {}) == ()
    assert meets_action_goals(task.program, task.action_goals)
    assert set(named(task)) <= set(pair.initial.graph.nodes)
    differing = relevant_objects(pair)
    assert list(differing) == sorted(differing, key=source_id)
    assert differing


def named(task: Task) -> Iterator[str]:
    yield from (argument for step in task.program for argument in step.arguments)
    for part in conjuncts(task.goal):
        match part:
            case HasState(Id(x), _):
                yield x
            case Related(Id(source), _, Id(target)):
                yield from (source, target)


def test_the_formula_says_what_the_lists_of_goals_say() -> None:
    """The source gives each goal twice, as a formula and as lists; only the formula names classes and order."""
    scene = json.loads((package_folder() / GOALS).read_bytes())["scene_1"]
    for task in ALL.values():
        lists = scene[task.category][task.id]["vh_goal"]
        assert {fact(part) for part in conjuncts(task.goal)} == {listed(goal) for goal in lists["goal"]}
        assert ["|".join(group).upper() for group in task.action_goals] == lists["actions"]


def fact(part: Condition) -> tuple[object, ...]:
    match part:
        case HasState(Id(x), state):
            return source_id(x), state
        case Related(Id(source), type_, Id(target)):
            return source_id(source), type_, source_id(target)
        case _:
            raise AssertionError(part)


def listed(goal: dict[str, Any]) -> tuple[object, ...]:
    if "state" in goal:
        return goal["id"], STATES[goal["state"]]
    return goal["from_id"], goal["relation_type"], goal["to_id"]


def test_the_four_ids_without_a_goal_are_no_tasks() -> None:
    for task_id in ("339_1", "627_1", "84_1", "93_1"):
        assert task_id not in ALL
        with pytest.raises(InputError, match="no VirtualHome task"):
            list(tasks(task_id))
    assert next(tasks("963_2")) == ALL["963_2"]


@pytest.mark.parametrize(
    "formula",
    [
        "",
        "ON",
        "not ON(light.1)",
        "(ON(light.1) or OFF(light.1))",
        "forall x0. (ON(x0))",
        "(ON(light.1) then exists x0. (GRAB(x0)))",
        "(ON(light.1) and GRAB(x0))",
        "GLOWS(light.1)",
        "ONTOP(cup.1)",
        "ON(cup.1, table.2)",
    ],
)
def test_a_formula_of_another_form_is_refused_and_not_misread(formula: str) -> None:
    with pytest.raises(ValueError, match=r"is neither|is no state or relation"):
        parse_formula(formula)


def test_a_line_of_another_form_is_refused() -> None:
    assert parse_program("Title\nDo it\n\n\n[SLEEP]\n") == ("Do it", (ProgramStep("sleep"),))
    with pytest.raises(ValueError, match="is no step such as"):
        parse_program("Title\nDo it\n\n\n[GRAB] soap\n")


@pytest.mark.parametrize(
    ("steps", "goals", "met"),
    [
        ((), (), True),
        ((), (("grab",),), False),
        (("grab", "wash"), (("grab",), ("wash", "rinse")), True),
        (("wash", "grab"), (("grab",), ("wash", "rinse")), False),
        (("grab",), (("grab",), ("grab",)), False),
        (("walk", "rinse"), (("wash", "rinse"),), True),
    ],
)
def test_action_goals_are_met_in_order(
    steps: tuple[str, ...], goals: tuple[tuple[str, ...], ...], *, met: bool
) -> None:
    assert meets_action_goals(tuple(ProgramStep(step) for step in steps), goals) is met

"""The offices made by hand: their sizes, and instructions that name the whole goal and no ids."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path
from statistics import mean
from typing import Any, Final

import pytest

from scenecypher.db.condition import ALWAYS, evaluate
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import InputError
from scenecypher.importers.grasif import SUBSETS, GrasifTaskForm, SceneForm, read_file, scene, tasks, to_document
from scenecypher.importers.task import Task
from tests.importers.goal_words import unsaid

DOCUMENTS: Final[dict[str, Any]] = {
    subset: json.loads((files("scenecypher.importers") / "data" / file).read_text(encoding="utf-8"))
    for subset, file in SUBSETS.items()
}
FORMS: Final = {subset: SceneForm.model_validate(document) for subset, document in DOCUMENTS.items()}
GRAPHS: Final[dict[str, SceneGraph]] = {subset: scene(subset).graph for subset in SUBSETS}
TASKS: Final[list[tuple[str, Task, GrasifTaskForm]]] = [
    (subset, task, form)
    for subset in SUBSETS
    for task, form in zip(tasks(None, subset), FORMS[subset].tasks, strict=True)
]
EACH: Final = pytest.mark.parametrize(
    ("subset", "task", "form"), TASKS, ids=[f"{subset}/{task.id}" for subset, task, _ in TASKS]
)
SIZES: Final = {
    "sayplan-office": ({"Place": 37, "Asset": 71, "Object": 94, "Agent": 1}, 29),
    "our-office": ({"Place": 7, "Asset": 75, "Object": 130, "Agent": 1}, 15),
}
"""By the papers: 37 rooms, 202.6 nodes on average and 29 tasks; 7 rooms, 75 assets, 130 objects and 15 tasks."""


@pytest.mark.parametrize("subset", SUBSETS)
def test_the_counts(subset: str) -> None:
    kinds, count = SIZES[subset]
    assert Counter(node.kind for node in GRAPHS[subset].nodes.values()) == kinds
    assert len([*tasks(None, subset)]) == count == len({task.instruction for task in tasks(None, subset)})


@pytest.mark.parametrize("subset", SUBSETS)
def test_the_scene_keeps_its_promises(subset: str, tmp_path: Path) -> None:
    read = scene(subset)
    graph = read.graph
    assert (read.name, read.vocabulary, read.source) == (f"grasif/{subset}", "grasif", f"scenecypher's {subset}")
    assert list(broken_rules(graph, "grasif")) == []
    assert all(graph.targets(id_, "INSIDE", "ON") for id_, node in graph.nodes.items() if node.kind != "Place")
    file = tmp_path / "again.json"
    file.write_text(json.dumps(to_document(read)), encoding="utf-8")
    assert read_file(file)[0].graph == graph


@pytest.mark.parametrize("subset", SUBSETS)
def test_states_and_affordances_agree(subset: str) -> None:
    for node in GRAPHS[subset].nodes.values():
        can = {*node.affordances}
        assert len({"open", "closed"} & {*node.states}) == ("open" in can) == ("close" in can), node.id
        assert len({"on", "off"} & {*node.states}) == ("turn_on" in can) == ("turn_off" in can), node.id
        assert ("pick_up" in can) == (node.kind == "Object"), node.id
    for relation in GRAPHS[subset].relations:
        target = GRAPHS[subset].nodes[relation.target]
        if target.kind in {"Asset", "Object"}:
            assert {"ON": "put_on", "INSIDE": "put_inside"}[relation.type] in target.affordances, relation


@EACH
def test_the_goal_is_false_at_the_start(subset: str, task: Task, form: GrasifTaskForm) -> None:
    assert task.goal != ALWAYS
    assert not evaluate(task.goal, GRAPHS[subset], {})
    assert task.scene == f"grasif/{subset}"


@EACH
def test_the_instruction_says_what_the_goal_asks(subset: str, task: Task, form: GrasifTaskForm) -> None:
    assert [word for wanted in form.goal for word in unsaid(form.instruction, wanted, GRAPHS[subset])] == []


@EACH
def test_no_instruction_gives_a_node_away_by_its_id(subset: str, task: Task, form: GrasifTaskForm) -> None:
    assert not [node_id for node_id in GRAPHS[subset].nodes if "-" in node_id and node_id in task.instruction]


def test_an_incomplete_instruction_is_detected() -> None:
    form = next(task for task in FORMS["sayplan-office"].tasks if task.id == "long_horizon-2")
    cups, _ = form.goal
    graph = GRAPHS["sayplan-office"]
    assert list(unsaid(form.instruction, cups, graph)) == []
    assert list(unsaid(form.instruction.replace("three ", ""), cups, graph)) == ["3 times paper_cup"]
    assert list(unsaid(form.instruction.replace("paper cups", "cups"), cups, graph)) == ["paper_cup"]
    mug = next(task for task in FORMS["sayplan-office"].tasks if task.id == "simple_planning-6")
    assert list(unsaid(mug.instruction.replace("Nora's", "The"), mug.goal[0], graph)) == ["which mug (mug-5)"]


def test_the_instructions_grow_harder() -> None:
    sizes: dict[str, list[int]] = {}
    for task, form in zip(tasks(None, "sayplan-office"), FORMS["sayplan-office"].tasks, strict=True):
        sizes.setdefault(task.category, []).append(len(form.goal) + sum(goal.count - 1 for goal in form.goal))
    assert {kind: len(each) for kind, each in sizes.items()} == {
        "simple_planning": 15,
        "long_horizon": 14,
    }
    means = [mean(each) for each in sizes.values()]
    assert means == sorted(means)


def test_the_error_for_an_unknown_task_names_the_nearest() -> None:
    assert [task.id for task in tasks("tidying-2", "our-office")] == ["tidying-2"]
    with pytest.raises(InputError, match=r"no task 'tidying-9' among the 15 of our-office .did you mean 'tidying-"):
        list(tasks("tidying-9", "our-office"))


@pytest.mark.parametrize("subset", SUBSETS)
def test_each_task_changes_a_node(subset: str) -> None:
    """Kind of fault: a task that only sends the agent somewhere, whose precision is that of success."""
    for form in FORMS[subset].tasks:
        assert any(goal.name is None or not goal.name.startswith("agent") for goal in form.goal), form.id

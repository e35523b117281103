"""Reference plans: each is feasible and reaches its task's goal; the result is the goal graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from docs.generate.datasets import UNPLANNED
from scenecypher.db.condition import evaluate
from scenecypher.errors import InputError
from scenecypher.importers.datasets import DATASETS, as_lines, reference_plan, reference_plans
from scenecypher.planner.symbolic.reference import PLANNED, final_graph, goal_graph
from tests.sampling import sample

PLANS: Final = reference_plans()


@pytest.mark.parametrize("task_id", sample(list(PLANS), 12))
def test_a_reference_plan_reaches_its_goal_and_no_action_less_does(task_id: str) -> None:
    name, _, within = task_id.partition("/")
    task, scene = next(DATASETS[name].tasks(within)), next(DATASETS[name].scenes(within))
    end = goal_graph(task, scene)
    assert end == final_graph(PLANS[task_id], scene.graph, scene.vocabulary)
    assert evaluate(task.goal, end, {})
    early = final_graph(PLANS[task_id][:-1], scene.graph, scene.vocabulary)
    assert not evaluate(task.goal, early, {})


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "robothow" else name for name in PLANNED]
)
def test_every_task_has_one_or_a_reason(name: str) -> None:
    ids = [task.id for task in DATASETS[name].tasks()]
    assert [task_id for task_id in PLANS if task_id.startswith(f"{name}/")] == [x for x in ids if x not in UNPLANNED]
    assert not UNPLANNED.keys() & PLANS.keys()


def test_a_plan_for_another_scene_is_refused() -> None:
    task, scene = next(DATASETS["homes"].tasks()), next(DATASETS["homes"].scenes())
    elsewhere = replace(task, goal=next(DATASETS["homes"].tasks("apartment/make_toast")).goal)
    with pytest.raises(InputError, match="does not reach its goal"):
        goal_graph(elsewhere, scene)
    with pytest.raises(InputError, match="no reference plan"):
        reference_plan("behavior-1k/stacking_wood")


def test_the_file_is_as_it_is_written() -> None:
    assert "".join(as_lines({"a/1": ("go_to(x)",)})) == '{"task": "a/1", "plan": ["go_to(x)"]}\n'

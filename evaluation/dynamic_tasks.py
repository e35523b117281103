"""Tasks of the experiment `dynamic`, read from a JSONL file.

`python -m tests.evaluation.dynamic_tasks` generates the file in some minutes.
There are 50 tasks in our homes, in the three categories of LookPlanGraph's section VI-B, and 50 of BEHAVIOR's
activities. In half of each, one thing that the task needs is moved before it begins; a seed determines which thing and
where to.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final, Literal, TypeAlias

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.evaluation.assignments import load_dataset_scene
from scenecypher.evaluation.published import data_lines
from scenecypher.evaluation.result import Document
from scenecypher.importers.datasets import task
from scenecypher.importers.homes import BUDGET, goal_from_facts, our_home
from scenecypher.importers.task import Task

FILE: Final = files("scenecypher.evaluation") / "data" / "dynamic.jsonl"
ID_PREFIX: Final = "dynamic"
"""Prefix of the ids of tasks in our homes."""

Category: TypeAlias = Literal["fridge", "microwave", "dishwasher", "behavior"]


class DynamicTask(Document):
    """Line of the file; `seed` moves one thing before the task begins, None moves nothing."""

    id: str
    category: Category
    seed: int | None
    home: str = ""
    instruction: str = ""
    goal: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()


@cache
def dynamic_tasks() -> tuple[DynamicTask, ...]:
    """Return all lines of the file."""
    return data_lines("dynamic", DynamicTask)


def to_task(line: DynamicTask) -> Task:
    """Return a line as a task."""
    if line.category == "behavior":
        return task(line.id)[1]
    scene, _ = our_home(line.home)
    return Task(
        id=line.id,
        instruction=line.instruction,
        scene=scene.name,
        goal=goal_from_facts(line.goal, scene.graph),
        action_goals=(),
        budget=BUDGET,
        source=scene.source,
        category=line.category,
        formula=", ".join(line.goal),
    )


def load_dynamic_scene(task: Task) -> ImportedScene:
    """Return the scene of one of these tasks."""
    name, _, within = task.id.partition("/")
    return our_home(within.partition("/")[0])[0] if name == ID_PREFIX else load_dataset_scene(task)

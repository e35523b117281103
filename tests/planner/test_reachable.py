"""Reachability of all goals of the data created or built here, by the operators from the imported scene."""

from __future__ import annotations

from typing import Final

import pytest

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.importers import grasif, homes, robothow
from scenecypher.importers.task import Task
from scenecypher.planner.actions.execution import Infeasible
from tests.planner.operator_robot import Robot
from tests.sampling import sample

OFFICES: Final = [(grasif.scene(subset), task) for subset in grasif.SUBSETS for task in grasif.tasks(None, subset)]
HOMES: Final = [(scene, task) for scene in homes.scenes() for task in homes.tasks() if task.scene == scene.name]
PROGRAMS: Final = sample([program.id for program in robothow.programs()], 6)


def ids(rows: list[tuple[ImportedScene, Task]]) -> list[str]:
    return [f"{scene.name}-{task.id}" for scene, task in rows]


def reaches(scene: ImportedScene, task: Task) -> bool:
    robot = Robot(scene.graph, scene.vocabulary)
    done = robot.bring_about(task.goal)
    assert 0 < len(robot.done) <= task.budget
    assert list(broken_rules(robot.graph, scene.vocabulary)) == []
    return done


@pytest.mark.parametrize(("scene", "task"), OFFICES, ids=ids(OFFICES))
def test_an_office_task_can_be_done(scene: ImportedScene, task: Task) -> None:
    assert reaches(scene, task)


@pytest.mark.parametrize(("scene", "task"), HOMES, ids=ids(HOMES))
def test_a_home_task_can_be_done(scene: ImportedScene, task: Task) -> None:
    assert reaches(scene, task)


@pytest.mark.parametrize("program_id", PROGRAMS)
def test_what_a_program_did_can_be_done_in_grasif_s_actions(program_id: str) -> None:
    (program,) = robothow.programs(program_id)
    task = robothow.program_task(program)
    assert task is None or reaches(robothow.program_scene(program), task)


EXAMPLES: Final = [(scene, task) for scene, task in HOMES if task.program]


@pytest.mark.parametrize(("scene", "task"), EXAMPLES, ids=ids(EXAMPLES))
def test_an_example_s_program_is_a_solution_step_by_step(scene: ImportedScene, task: Task) -> None:
    robot = Robot(scene.graph, scene.vocabulary)
    robot.follow(task.program)
    assert len(robot.done) == len(task.program)
    assert evaluate(task.goal, robot.graph, {})


def test_a_program_that_lacks_a_step_is_found() -> None:
    scene, task = EXAMPLES[0]
    opened = [number for number, step in enumerate(task.program) if step.action == "open"]
    with pytest.raises(Infeasible, match="closed"):
        Robot(scene.graph, scene.vocabulary).follow(
            tuple(step for number, step in enumerate(task.program) if number not in opened)
        )

"""Homes of the experiment `household`, each with its test tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import InputError
from scenecypher.evaluation.eai.grounding import ACTIONS
from scenecypher.evaluation.episode import Wording
from scenecypher.evaluation.options import take_spread
from scenecypher.importers.homes import EXAMPLE, OURS, TESTED, folders, our_home, read_home
from scenecypher.importers.task import ProgramStep, Task
from scenecypher.planner.prompts.home_examples import Solved, home_examples


@dataclass(frozen=True, slots=True)
class TestedHome:
    """Home with its test tasks, and those that are examples with a program."""

    name: str
    scene: ImportedScene
    tasks: tuple[Task, ...]
    solved: tuple[Task, ...] = ()

    def some(self, limit: int, seed: int | None = None) -> TestedHome:
        """Return the home with `limit` of its tasks, all if the limit is 0; see `take_spread`."""
        return replace(self, tasks=tuple(take_spread(self.tasks, limit, seed)))


def bundled_homes() -> list[TestedHome]:
    """Return the bundled homes; task ids are the data set's, so that reference plans are found."""
    return [_tested_home(name, f"homes/{name}", our_home(name)) for name in OURS]


def load_homes(folder: Path) -> list[TestedHome]:
    """Return the home in `folder`, or the homes in its subfolders. Raises InputError, also if none has test tasks."""
    found = [_tested_home(each.name, each.name, read_home(each)) for each in folders(folder)]
    if not any(home.tasks for home in found):
        raise InputError(f"{folder}: no home in it has test tasks; add a tasks.json with tasks that are not examples")
    return found


def _tested_home(name: str, prefix: str, read: tuple[ImportedScene, Sequence[Task]]) -> TestedHome:
    scene, tasks = read
    tested = tuple(replace(task, id=f"{prefix}/{task.id}") for task in tasks if task.category == TESTED)
    return TestedHome(name, scene, tested, tuple(task for task in tasks if task.category == EXAMPLE))


def examples_by_scene(homes: Sequence[TestedHome], wording: Wording) -> dict[str, dict[str, str]]:
    """Return the worked examples for the tasks of each home, by its scene's name.

    They come from the next home that has any: another one, if there is one. Without any, prompts have our apartment's.
    """
    solved = [solved_tasks(home, wording) for home in homes]
    return {
        home.scene.name: home_examples(next(filter(None, (*solved[at + 1 :], *solved[: at + 1])), []))
        for at, home in enumerate(homes)
    }


def solved_tasks(home: TestedHome, wording: Wording = "source") -> list[Solved]:
    """Return the home's examples, with our actions in their programs, in the wording of the tested tasks."""
    worded = (replace(task, instruction=task.formula) if wording == "states" else task for task in home.solved)
    return [(replace(task, program=tuple(map(_our_step, task.program))), home.scene.graph) for task in worded]


def _our_step(step: ProgramStep) -> ProgramStep:
    return replace(step, action=ACTIONS.get(step.action.upper(), (step.action, 0))[0])

"""Homes of the experiment `household`, each with the tasks that are tested in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import InputError
from scenecypher.evaluation.options import take
from scenecypher.importers.home_tasks import TESTED
from scenecypher.importers.homes import OURS, folders, our_home, read_home
from scenecypher.importers.task import Task


@dataclass(frozen=True, slots=True)
class TestedHome:
    """A home and the tasks that are tested in it."""

    name: str
    scene: ImportedScene
    tasks: tuple[Task, ...]

    def first(self, limit: int) -> TestedHome:
        """The home with its first so many tasks, all where the limit is 0."""
        return replace(self, tasks=tuple(take(self.tasks, limit)))


def bundled_homes() -> list[TestedHome]:
    """Those that come along. Their tasks' ids are as the data set has them, so that reference plans are found."""
    return [_home(name, f"homes/{name}", our_home(name)) for name in OURS]


def load_homes(folder: Path) -> list[TestedHome]:
    """The home that `folder` is, or those in it. Raises InputError, also where none has tasks to test."""
    found = [_home(each.name, each.name, read_home(each)) for each in folders(folder)]
    if not any(home.tasks for home in found):
        raise InputError(f"{folder}: no home there has tasks to test; add a tasks.json whose tasks are no examples")
    return found


def _home(name: str, prefix: str, read: tuple[ImportedScene, Sequence[Task]]) -> TestedHome:
    scene, tasks = read
    return TestedHome(
        name, scene, tuple(replace(task, id=f"{prefix}/{task.id}") for task in tasks if task.category == TESTED)
    )

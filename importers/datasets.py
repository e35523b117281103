"""The one table of data sets: their origin, the import of their scenes, their scenes, tasks and reference plans."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from importlib.resources import files
from typing import Any, Final, Literal, TypeAlias

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.task import Task
from scenecypher.importers.word_tables import tables

FILE: Final = files("scenecypher.importers") / "data" / "reference_plans.jsonl"
"""One line a task: its id and its actions. `python -m scenecypher.planner.symbolic.reference` finds the plans."""
ReadScenes: TypeAlias = Callable[[str | None], Iterator[ImportedScene]]
ReadTasks: TypeAlias = Callable[[str | None], Iterator[Task]]
ReadGraph: TypeAlias = Callable[[str], SceneGraph]
Family: TypeAlias = Literal["virtualhome", "grasif", "babyai", "questions"]
"""Kinds of tasks, as far as methods differ in them."""
NONE: Final = "-"


def reference_plans() -> Mapping[str, tuple[str, ...]]:
    """Return the actions of each plan by task id, such as ``behavior-1k/raking_leaves``."""
    rows = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    return {row["task"]: tuple(row["plan"]) for row in rows}


def reference_plan(task_id: str) -> tuple[str, ...]:
    """Return the actions for one task. Raises InputError if no plan is known."""
    plans = reference_plans()
    if task_id not in plans:
        msg = f"no reference plan is known for {task_id[:60]!r}: `scenecypher tasks list` shows which tasks there are"
        raise InputError(msg)
    return plans[task_id]


def as_lines(plans: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield the plans as lines of the file."""
    for task_id, actions in plans.items():
        yield json.dumps({"task": task_id, "plan": actions}, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class PaperFigures:
    """The papers' figures as printed, and the differences here with their reasons."""

    tasks: str = NONE
    rooms: str = NONE
    nodes: str = NONE
    actions: str = NONE
    difference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Scenes and their tasks from one source; `data/datasets.toml` says what its keys are.

    `read_scenes` and `read_tasks` take an id within the data set, or None for all. They raise InputError if the source
    is not installed or has no such id. `read_final_graph` returns the graph after a task's recorded program, by the
    task's id, for sources that have one. Use `tasks`, not `read_tasks`, for ids that are unique across data sets.
    """

    name: str
    title: str
    source: str
    import_command: str
    family: Family
    published: PaperFigures
    read_scenes: ReadScenes
    read_tasks: ReadTasks
    has_reference_plans: bool = False
    has_ground_goals: bool = False
    """Whether every goal says of single nodes where and how they are."""
    read_final_graph: ReadGraph | None = None

    def scenes(self, only: str | None = None) -> Iterator[ImportedScene]:
        """Return the scenes in the source's order, made one by one, or the one of the task `only`."""
        return self.read_scenes(only)

    def tasks(self, only: str | None = None) -> Iterator[Task]:
        """Yield the tasks under ids such as ``eai/963_2``: the data set's name, then the id within it."""
        for task in self.read_tasks(only):
            yield replace(task, id=f"{self.name}/{task.id}")

    def command(self, task_id: str) -> str:
        """Return the command that imports the scene of a task, given the task's id in `tasks`."""
        return self.import_command.format(task_id.removeprefix(f"{self.name}/"))


def dataset(name: str) -> Dataset:
    """Return the data set of this name. Raises InputError with the nearest names."""
    if name not in DATASETS:
        hint = did_you_mean(name[:60], tuple(DATASETS)) or f"; there are {', '.join(DATASETS)}"
        raise InputError(f"no data set is called {name[:60]!r}{hint}")
    return DATASETS[name]


@lru_cache(maxsize=1_024)
def task(task_id: str) -> tuple[Dataset, Task]:
    """Return the data set and the task of an id such as ``eai/963_2``. Raises InputError."""
    name, slash, within = task_id.partition("/")
    if not slash or not within:
        raise InputError(f"{task_id[:60]!r} is no task: ids look like eai/963_2; `scenecypher tasks list` shows them")
    chosen = dataset(name)
    return chosen, next(chosen.tasks(within))


def _rows() -> Iterator[Dataset]:
    for name, table in tables("datasets").items():
        row = {**table}
        call = partial(_call, row.pop("module"), **row.pop("given", {}))
        final = partial(call, "final_graph") if row.pop("has_final_graphs", False) else None
        yield Dataset(
            name=name,
            published=PaperFigures(**row.pop("published")),
            read_scenes=partial(call, "scenes"),
            read_tasks=partial(call, "tasks"),
            read_final_graph=final,
            **row,
        )


def _call(module: str, function: str, only: str | None, **given: str) -> Any:
    """Call a function of a module of this package, imported on first use, since most need optional packages."""
    return getattr(import_module(f"scenecypher.importers.{module}"), function)(only, **given)


DATASETS: Final[Mapping[str, Dataset]] = {row.name: row for row in _rows()}
"""The data sets by name, with which the ids of their tasks begin: the rows of `data/datasets.toml`.

The `module` of one has `scenes(only)` and `tasks(only)`, which get what is `given` too, and if it `has_final_graphs`
also `final_graph(task_id)`.
"""

"""The experiment `household`: SG2's and SG-RwR's tables 2, in our homes or in those of a folder.

`inspect eval evaluation/household.py --model PROVIDER/NAME`, or `scenecypher eval household [FOLDER]`. A home is a
folder of an environment graph of VirtualHome and of tasks as desired states (docs/datasets.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from inspect_ai import Task as InspectTask
from inspect_ai import task

from db.imported import ImportedScene
from evaluation.babyai import PROMPTED
from evaluation.book import Book
from evaluation.episode import Episode, Wording
from evaluation.episodes import episodes_task
from evaluation.experiment import PAPER, Experiment, RowPlan, TablePlan, with_methods
from evaluation.options import first
from evaluation.replies import LIVE, Replies
from importers.home_tasks import TESTED
from importers.homes import OURS, folders, our_home, read_home
from importers.task import Task
from scenecypher.errors import InputError

COLUMNS: Final = ("success", "success_clean", "app", "rounds", "tokens")
ROWS: Final = {
    "sg2-2": (*PROMPTED[:5], RowPlan("sg2", "SG2")),
    "sg-rwr-2": (*PROMPTED[:5], RowPlan("sg-rwr", "RwR")),
}
"""The papers' tables; algorithm prompting is not in them."""
NO_GOAL_GRAPH: Final = "APP is n/a: the tasks are desired states, and no goal graph is known of these homes"
STANDS_FOR: Final[Mapping[str, str]] = dict(zip(OURS, ("vh-1", "vh-2"), strict=True))


@dataclass(frozen=True, slots=True)
class Home:
    """A home and the tasks that are tested in it."""

    name: str
    scene: ImportedScene
    tasks: tuple[Task, ...]


@task
def household(
    *,
    folder: str = "",
    methods: str = PAPER,
    wording: Wording = "states",
    limit: int = 0,
    steps: int = 0,
    replies: str = LIVE,
    record: str = "",
) -> InspectTask:
    """Tasks in homes; the arguments are those of `scenecypher eval household`."""
    made = experiment(folder=folder, methods=methods, wording=wording, limit=limit, steps=steps)
    return episodes_task(made, Replies(replies, record=record))


def experiment(
    *, folder: str = "", methods: str = PAPER, wording: Wording = "states", limit: int = 0, steps: int = 0
) -> Experiment:
    """The tables of our homes, or of those in `folder`. Raises InputError."""
    homes = [_limited(home, limit) for home in (_of_folder(Path(folder)) if folder else _ours())]
    tables = [
        _table(part, home, wording=wording, steps=steps, is_ours=not folder)
        for part in (ROWS if not folder else {"household": ()})
        for home in homes
    ]
    planned, run = with_methods(tables, methods)
    scenes = {home.scene.name: home.scene for home in homes}
    book = Book((task for home in homes for task in home.tasks), scenes=lambda task: scenes[task.scene])
    title = f"Homes of {Path(folder).name}" if folder else "Our homes"
    return Experiment("household", title, planned, book, run)


def _ours() -> list[Home]:
    return [_home(name, "homes", our_home(name)) for name in OURS]


def _of_folder(path: Path) -> list[Home]:
    found = [_home(each.name, each.name, read_home(each)) for each in folders(path)]
    if not any(home.tasks for home in found):
        raise InputError(f"{path}: no home there has tasks to test; add a tasks.json whose tasks are no examples")
    return found


def _home(name: str, prefix: str, read: tuple[ImportedScene, Sequence[Task]]) -> Home:
    scene, tasks = read
    tested = (task for task in tasks if task.category == TESTED)
    return Home(name, scene, tuple(replace(task, id=_id(prefix, name, task)) for task in tested))


def _id(prefix: str, name: str, task: Task) -> str:
    """As the data set has it, so that its reference plan is found; other homes' have their folder's name."""
    return f"homes/{name}/{task.id}" if prefix == "homes" else f"{prefix}/{task.id}"


def _limited(home: Home, limit: int) -> Home:
    return replace(home, tasks=tuple(first(home.tasks, limit)))


def _table(part: str, home: Home, *, wording: Wording, steps: int, is_ours: bool) -> TablePlan:
    paper, _, number = part.rpartition("-")
    both = (*ROWS["sg2-2"], ROWS["sg-rwr-2"][-1])
    return TablePlan(
        key=f"{part}-{home.name}",
        title=f"our homes: {home.name}" if is_ours else home.scene.name,
        columns=COLUMNS,
        rows=ROWS[part] if is_ours else both,
        tasks=tuple(task.id for task in home.tasks),
        like=Episode(
            group=home.name,
            row="",
            method="",
            task="",
            wording=wording,
            outcome_only=True,
            goal_graph=is_ours,
            steps=steps or None,
        ),
        published=(paper, f"{number}-{STANDS_FOR[home.name]}") if is_ours else ("", ""),
        settings="household" if is_ours else "household-folder",
        notes=() if is_ours else (NO_GOAL_GRAPH,),
    )

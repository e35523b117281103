"""The experiment `household`: tables 2 of SG2 and SG-RwR, in our homes or in those of a folder.

`inspect eval evaluation/household.py --model PROVIDER/NAME`, or `scenecypher eval household [FOLDER]`. A home is a
folder with an environment graph of VirtualHome and tasks given as desired states (docs/datasets.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from inspect_ai import task

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import InputError
from scenecypher.evaluation.eai.grounding import ACTIONS
from scenecypher.evaluation.episode import AssignmentCache, EpisodePlan, Wording
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import GOALS_FIRST, PAPER, Experiment, TablePlan, paper_rows, select_rows
from scenecypher.evaluation.measures import COSTS, OUTCOMES
from scenecypher.evaluation.options import Names, take_spread
from scenecypher.importers.homes import EXAMPLE, OURS, TESTED, folders, our_home, read_home
from scenecypher.importers.task import Task
from scenecypher.planner.prompts.home_examples import Solved, home_examples
from scenecypher.planner.sessions.recipe import SchemaScope


class TestedHome(NamedTuple):
    """Home with its test tasks, and those that are examples with a program."""

    name: str
    scene: ImportedScene
    tasks: tuple[Task, ...]
    solved: tuple[Task, ...] = ()

    def some(self, limit: int, seed: int | None = None) -> TestedHome:
        """Return the home with `limit` of its tasks, all if the limit is 0; see `take_spread`."""
        return self._replace(tasks=tuple(take_spread(self.tasks, limit, seed)))


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
    programs = (
        (task, [replace(it, action=ACTIONS.get(it.action.upper(), (it.action, 0))[0]) for it in task.program])
        for task in worded
    )
    return [(replace(task, program=tuple(steps)), home.scene.graph) for task, steps in programs]


COLUMNS: Final = (*OUTCOMES, "app", "rounds", *COSTS)
ROWS: Final = {name: paper_rows(name) for name in ("sg2-2", "sg-rwr-2")}
"""The papers' tables, which have no algorithm prompting."""
NO_GOAL_GRAPH: Final = "APP is n/a: the tasks are desired states, and no goal graph is known of these homes"
STANDS_FOR: Final[Mapping[str, str]] = dict(zip(OURS, ("vh-1", "vh-2"), strict=True))


@task
@played
def household(
    *,
    folder: str = "",
    methods: Names = PAPER,
    wording: Wording = "states",
    limit: int = 0,
    seed: int | None = None,
    steps: int = 0,
    schema: SchemaScope | None = None,
) -> Experiment:
    """Plan the tables of our homes, or of the homes in `folder`. Raises InputError."""
    homes = [home.some(limit, seed) for home in (load_homes(Path(folder)) if folder else bundled_homes())]
    tables = [
        _table(part, home, wording=wording, steps=steps, schema=schema, is_ours=not folder)
        for part in (ROWS if not folder else {"household": ()})
        for home in homes
    ]
    scenes = {home.scene.name: home.scene for home in homes}
    assignments = AssignmentCache(
        (task for home in homes for task in home.tasks),
        scenes=lambda task: scenes[task.scene],
        examples=examples_by_scene(homes, wording),
    )
    title = f"Homes of {Path(folder).name}" if folder else "Our homes"
    return select_rows("household", title, tables, methods=methods, assignments=assignments)


def _table(
    part: str, home: TestedHome, *, wording: Wording, steps: int, schema: SchemaScope | None, is_ours: bool
) -> TablePlan:
    paper, _, number = part.rpartition("-")
    both = (*ROWS["sg2-2"], ROWS["sg-rwr-2"][-1])
    return TablePlan(
        key=f"{part}-{home.name}",
        title=f"our homes: {home.name}" if is_ours else home.scene.name,
        columns=COLUMNS,
        rows=ROWS[part] if is_ours else both,
        tasks=tuple(task.id for task in home.tasks),
        common=EpisodePlan(
            group=home.name,
            wording=wording,
            schema_scope=schema,
            ids_only=True,
            goal_graph=is_ours,
            steps=steps or None,
        ),
        published=(paper, f"{number}-{STANDS_FOR[home.name]}") if is_ours else ("", ""),
        ours=GOALS_FIRST,
        settings="household" if is_ours else "household-folder",
        notes=() if is_ours else (NO_GOAL_GRAPH,),
    )

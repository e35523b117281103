"""The experiment `household`: tables 2 of SG2 and SG-RwR, in our homes or in those of a folder.

`inspect eval evaluation/household.py --model PROVIDER/NAME`, or `scenecypher eval household [FOLDER]`. A home is a
folder with an environment graph of VirtualHome and tasks given as desired states (docs/datasets.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from inspect_ai import task

from scenecypher.evaluation.assignments import AssignmentCache
from scenecypher.evaluation.babyai import PROMPTED
from scenecypher.evaluation.episode import EpisodePlan, Wording
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import GOALS_FIRST, PAPER, Experiment, RowPlan, TablePlan, select_rows
from scenecypher.evaluation.homes import TestedHome, bundled_homes, examples_by_scene, load_homes
from scenecypher.evaluation.measures import COSTS, OUTCOMES
from scenecypher.evaluation.options import Names
from scenecypher.importers.homes import OURS
from scenecypher.planner.sessions.recipe import SchemaScope

COLUMNS: Final = (*OUTCOMES, "app", "rounds", *COSTS)
ROWS: Final = {
    "sg2-2": (*PROMPTED[:5], RowPlan("sg2", "SG2")),
    "sg-rwr-2": (*PROMPTED[:5], RowPlan("sg-rwr", "RwR")),
}
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

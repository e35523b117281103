"""The experiment `grasif` as an Inspect task: LookPlanGraph's tables IV and V, on GraSIF's three subsets.

`inspect eval evaluation/grasif.py --model PROVIDER/NAME`, or `scenecypher eval grasif`.
"""

from __future__ import annotations

from typing import Final

from inspect_ai import task

from scenecypher.evaluation.assignments import AssignmentCache, is_ground_goal
from scenecypher.evaluation.episode import EpisodePlan, Wording
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import (
    GOALS_FIRST,
    PAPER,
    Experiment,
    TablePlan,
    folder_tasks,
    paper_rows,
    select_rows,
)
from scenecypher.evaluation.measures import COSTS
from scenecypher.evaluation.options import Names, select_names, take_spread
from scenecypher.importers import datasets
from scenecypher.importers.task import Task

SUBSETS: Final = ("sayplan-office", "behavior-1k", "robothow")
ABLATIONS: Final = "ablations"
"""Name of table V, which uses the first subset."""
TABLES: Final = (*SUBSETS, ABLATIONS)
COLUMNS: Final = ("sr", "app", "tpa", "sr_all", "app_needed", "tpa_pooled", *COSTS)

ROWS, ABLATED = map(paper_rows, ("lookplangraph-4", "lookplangraph-5"))


@task
@played
def grasif(
    *,
    folder: str = "",
    data: Names = "all",
    methods: Names = PAPER,
    wording: Wording = "source",
    limit: int = 0,
    seed: int | None = None,
    steps: int = 0,
) -> Experiment:
    """Plan the tables of `data`, which names some of TABLES, or those of a `folder` of GraSIF's own files.

    Raises InputError.
    """
    title = "GraSIF: planning on scene graphs"
    if folder:
        pattern = _table(SUBSETS[0], (), EpisodePlan(steps=steps or None))
        found, cache = folder_tasks(folder, pattern, paper="IV-", limit=limit, seed=seed)
        return select_rows("grasif", title, found, methods=methods, assignments=cache)
    names = select_names("table of this experiment", data, TABLES)
    tasks = {name: _tasks(name, wording, limit, seed) for name in dict.fromkeys(map(_subset, names))}
    like = EpisodePlan(wording=wording, steps=steps or None)
    tables = [_table(name, tuple(task.id for task in tasks[_subset(name)]), like) for name in names]
    assignments = AssignmentCache(task for found in tasks.values() for task in found)
    return select_rows("grasif", title, tables, methods=methods, assignments=assignments)


def _subset(name: str) -> str:
    return SUBSETS[0] if name == ABLATIONS else name


def _table(name: str, tasks: tuple[str, ...], like: EpisodePlan) -> TablePlan:
    is_ablation = name == ABLATIONS
    return TablePlan(
        key=name,
        title=f"Ablations in {SUBSETS[0]}" if is_ablation else datasets.dataset(name).title,
        columns=COLUMNS,
        rows=ABLATED if is_ablation else ROWS,
        tasks=tasks,
        common=like.model_copy(update={"group": _subset(name)}),
        published=("lookplangraph", "V" if is_ablation else f"IV-{name}"),
        ours=() if is_ablation else GOALS_FIRST,
        settings="lookplangraph-5" if is_ablation else "lookplangraph-4",
        notes=("only tasks whose goal says of single nodes where and how they are, in its words",)
        if like.wording == "goal"
        else (),
    )


def _tasks(subset: str, wording: Wording, limit: int, seed: int | None) -> list[Task]:
    """Return the chosen tasks of those for which a reference plan, and so a goal graph, is known; others are not read.

    With the wording `goal` those with ground goals alone are chosen of.
    """
    ids = [it for it in datasets.reference_plans() if it.startswith(f"{subset}/")]
    if wording == "goal":
        ids = [it for it in ids if is_ground_goal(datasets.task(it)[1].goal)]
    return [datasets.task(it)[1] for it in take_spread(ids, limit, seed)]

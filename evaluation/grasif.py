"""The experiments `grasif`, LookPlanGraph's tables IV and V on GraSIF's subsets, and `realworld`, its section VII-E.

`inspect eval evaluation/grasif.py@grasif --model PROVIDER/NAME`, or `scenecypher eval grasif`. `realworld` is in our
office, with a person as robot or scripted: `scenecypher eval realworld --hands person` asks a person at the terminal to
do the printed actions and to take pictures.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from inspect_ai import task

from scenecypher.evaluation.episode import AssignmentCache, EpisodePlan, Wording, is_ground_goal
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

ROWS, ABLATED, BY_HAND = map(paper_rows, ("lookplangraph-4", "lookplangraph-5", "lookplangraph-7e"))
Hands: TypeAlias = Literal["scripted", "person"]
OFFICE: Final = "our-office"
BY_A_PERSON: Final = ("sr", "approved", "tokens", "rounds")


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

    With the wording `goal` those with ground goals alone are chosen of, for which all are read unless all are such.
    """
    ids = [it for it in datasets.reference_plans() if it.startswith(f"{subset}/")]
    if wording == "goal" and not datasets.dataset(subset).has_ground_goals:
        ids = [it for it in ids if is_ground_goal(datasets.task(it)[1].goal)]
    return [datasets.task(it)[1] for it in take_spread(ids, limit, seed)]


@task
@played
def realworld(
    *,
    folder: str = "",
    hands: Hands = "scripted",
    vision_model: str = "",
    methods: Names = PAPER,
    wording: Wording = "source",
    limit: int = 0,
    seed: int | None = None,
    steps: int = 0,
) -> Experiment:
    """Plan the one table, or those of a `folder` of GraSIF's own files.

    With `hands` of a person, the world is real and the person judges success; `vision_model` reads the pictures (empty:
    the model that plans). Raises InputError.
    """
    readable = (it for it in datasets.dataset(OFFICE).tasks() if wording != "goal" or is_ground_goal(it.goal))
    tasks = take_spread(readable, limit, seed)
    is_real = hands == "person"
    like = EpisodePlan(group=OFFICE, wording=wording, steps=steps or None)
    if is_real:
        seen = {"eyes": "person", "marking": "person", "vision_model": vision_model}
        like = like.model_copy(update=seen | {"belief": True})
    table = TablePlan(
        key=OFFICE,
        title=f"{datasets.dataset(OFFICE).title}, {'by a person' if is_real else 'scripted'}",
        columns=BY_A_PERSON if is_real else COLUMNS,
        rows=BY_HAND,
        tasks=tuple(task.id for task in tasks),
        common=like,
        published=("lookplangraph", "VII-E"),
        settings="lookplangraph-7e",
        ours=() if is_real else GOALS_FIRST,
        notes=()
        if is_real
        else ("scripted: the simulator acts and observes; no real robot, person or picture is involved",),
    )
    title = "An office, as in the trial with a person"
    if folder:
        found, cache = folder_tasks(folder, table, paper="", limit=limit, seed=seed)
        return select_rows("realworld", title, found, methods=methods, assignments=cache)
    assignments = AssignmentCache(tasks)
    return select_rows("realworld", title, [table], methods=methods, assignments=assignments)

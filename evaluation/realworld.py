"""The experiment `realworld`: LookPlanGraph's section VII-E in our office, with a person as robot, or scripted.

`scenecypher eval realworld --hands person` asks a person at the terminal to do the printed actions and to take
pictures.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from inspect_ai import task

from scenecypher.evaluation.assignments import AssignmentCache
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
from scenecypher.evaluation.options import Names, keep_readable, take_spread
from scenecypher.importers.datasets import dataset

Hands: TypeAlias = Literal["scripted", "person"]
OFFICE: Final = "our-office"
COLUMNS: Final = ("sr", "app", "tpa", "sr_all", "app_needed", "tpa_pooled", *COSTS)
BY_A_PERSON: Final = ("sr", "approved", "tokens", "rounds")
ROWS: Final = paper_rows("lookplangraph-7e")


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
    tasks = take_spread(keep_readable(dataset(OFFICE).tasks(), wording), limit, seed)
    is_real = hands == "person"
    like = EpisodePlan(group=OFFICE, wording=wording, steps=steps or None)
    if is_real:
        seen = {"eyes": "person", "marking": "person", "vision_model": vision_model}
        like = like.model_copy(update=seen | {"belief": True})
    table = TablePlan(
        key=OFFICE,
        title=f"{dataset(OFFICE).title}, {'by a person' if is_real else 'scripted'}",
        columns=BY_A_PERSON if is_real else COLUMNS,
        rows=ROWS,
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

"""The experiment `dynamic`: LookPlanGraph's table II, in worlds where things have moved since they were last seen.

`inspect eval evaluation/dynamic.py --model PROVIDER/NAME`, or `scenecypher eval dynamic`. Every method plans on a
belief made before a thing was moved, and acts in the changed world. Only symbolic planning sees the changed world.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from inspect_ai import task

from scenecypher.errors import InputError
from scenecypher.evaluation.assignments import AssignmentCache, is_ground_goal
from scenecypher.evaluation.dynamic_tasks import DynamicTask, dynamic_tasks, load_dynamic_scene, to_task
from scenecypher.evaluation.episode import EpisodePlan, Perception, Wording
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import GOALS_FIRST, OURS, PAPER, Experiment, RowPlan, TablePlan, plan_tables
from scenecypher.evaluation.folder_tasks import folder_tasks
from scenecypher.evaluation.measures import COSTS
from scenecypher.evaluation.options import Names, select_names, split_names, take_of_each
from scenecypher.importers.reference_plans import reference_plans

WORLDS: Final = ("virtualhome", "behavior")
TITLES: Final = {
    "virtualhome": "Our homes, with things moved",
    "behavior": "BEHAVIOR-1K's activities, with things moved",
}
TITLE: Final = "Dynamic worlds: things moved since they were seen"
FOLDER_COLUMNS: Final = ("sr", "app", "sr_all", "app_needed", *COSTS)
COLUMNS: Final = ("sr", "app", "sr_moved", "sr_unmoved", "app_moved", "app_unmoved", "sr_all", "app_needed", *COSTS)

PICTURES: Final = "needs pictures of the simulators' assets, which do not come with SceneCypher"
TRUTH: Final = (("augmentation", "ground truth"),)
SIMULATED: Final = (("augmentation", "simulated observer"),)
ROWS: Final = (
    RowPlan("llm-as-p", "LLM-as-P"),
    RowPlan("llm+p", "LLM+P"),
    RowPlan("sayplan", "SayPlan"),
    RowPlan("sayplan-lite", "SayPlan Lite"),
    RowPlan("react-alfworld", "ReAct", absent=PICTURES),
    RowPlan("lookplangraph", "LookPlanGraph", absent=PICTURES),
    RowPlan("react-alfworld", "ReActGT", observer="gt", options=TRUTH),
    RowPlan("lookplangraph", "LookPlanGraphGT", observer="gt", options=TRUTH),
)
OUR_ROWS: Final = tuple(replace(row, options=TRUTH) for row in GOALS_FIRST)
SIMULATED_ROWS: Final = {
    PAPER: (
        RowPlan("react-alfworld", "ReAct", observer="simulated", options=SIMULATED, is_ours=True),
        RowPlan("lookplangraph", "LookPlanGraph", observer="simulated", options=SIMULATED, is_ours=True),
    ),
    OURS: (RowPlan("explore-then-plan", observer="simulated", options=SIMULATED, is_ours=True),),
}
"""Rows of the methods that look, the papers' and ours."""


@task
@played
def dynamic(
    *,
    folder: str = "",
    data: Names = "all",
    methods: Names = PAPER,
    wording: Wording = "source",
    simulated: bool = False,
    limit: int = 0,
    seed: int | None = None,
    steps: int = 0,
) -> Experiment:
    """Plan the tables of `data`, which names some of WORLDS, or those of a `folder` of GraSIF's own files.

    In a folder, methods know each task's `known` graph. With `simulated`, tables of an observer with seeded mistakes
    are added. Raises InputError.
    """
    if folder:
        like = replace(_table(WORLDS[1], [], wording=wording, steps=steps), columns=FOLDER_COLUMNS)
        found, cache = folder_tasks(folder, like, paper="", limit=limit, seed=seed)
        planned, run = plan_tables(found, methods)
        return Experiment("dynamic", TITLE, planned, cache, run)
    lines = {
        name: take_of_each(_lines(name, wording), limit, seed, kind=_kind)
        for name in select_names("world of this experiment", data, WORLDS)
    }
    tables = [_table(name, found, wording=wording, steps=steps) for name, found in lines.items()]
    simulated_methods = _simulated_rows(methods) if simulated else ()
    planned, run = plan_tables(tables, _played_methods(methods) if simulated else methods)
    if simulated:
        simulated_tables = [
            _table(name, found, wording=wording, steps=steps, eyes="noise") for name, found in lines.items()
        ]
        more, also = plan_tables(simulated_tables, simulated_methods)
        planned, run = (*planned, *more), run | also
    all_lines = [line for found in lines.values() for line in found]
    plans = {**reference_plans(), **{line.id: line.plan for line in all_lines if line.plan}}
    assignments = AssignmentCache(map(to_task, all_lines), scenes=load_dynamic_scene, plans=plans)
    return Experiment("dynamic", TITLE, planned, assignments, run)


def _simulated_rows(methods: Names) -> tuple[str, ...]:
    """Return the keys of SIMULATED_ROWS whose method is among `methods`. Raises InputError if there are none."""
    words = set(split_names(methods))
    wanted = words | {row.method for row in ROWS if row.key in words}
    rows = [(whose, row) for whose, group in SIMULATED_ROWS.items() for row in group]
    found = tuple(row.key for whose, row in rows if whose in words or wanted & {row.key, row.method})
    if not found:
        names = " or ".join(row.method for _, row in rows)
        raise InputError(f"the simulated observer looks for {names}: name one with --method, and a model with --model")
    return found


def _played_methods(methods: Names) -> list[str]:
    """Return the methods to be played without the simulated observer."""
    unplayable = {row.key for rows in SIMULATED_ROWS.values() for row in rows} | {row.key for row in ROWS if row.absent}
    return [word for word in split_names(methods) if word not in unplayable]


def _lines(world: str, wording: Wording) -> Iterator[DynamicTask]:
    """Yield a world's tasks; with the wording `goal`, only tasks whose goals are fully expressed in words."""
    for line in dynamic_tasks():
        is_here = (line.category == "behavior") == (world == "behavior")
        if is_here and (wording != "goal" or is_ground_goal(to_task(line).goal)):
            yield line


def _kind(line: DynamicTask) -> str:
    return "unmoved" if line.seed is None else "moved"


def _table(
    world: str, lines: list[DynamicTask], *, wording: Wording, steps: int, eyes: Perception = "truth"
) -> TablePlan:
    is_paper, group = eyes == "truth", world if eyes == "truth" else f"{world}-simulated"
    return TablePlan(
        key=group,
        title=TITLES[world] if is_paper else f"{TITLES[world]}, seen by a simulated observer",
        columns=COLUMNS,
        rows=ROWS if is_paper else SIMULATED_ROWS[PAPER],
        tasks=tuple(line.id for line in lines),
        common=EpisodePlan(
            group=group, wording=wording, belief=True, eyes=eyes, steps=steps or None, known_places=True
        ),
        moved={line.id: line.seed for line in lines if line.seed is not None},
        published=("lookplangraph", f"II-{world}") if is_paper else ("", ""),
        settings="lookplangraph-2",
        ours=OUR_ROWS if is_paper else SIMULATED_ROWS[OURS],
    )

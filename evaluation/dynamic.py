"""The experiment `dynamic`: LookPlanGraph's table II, in worlds where things have moved since they were last seen.

`inspect eval evaluation/dynamic.py --model PROVIDER/NAME`, or `scenecypher eval dynamic`. Every method plans on a
belief made before a thing was moved, and acts in the changed world. Only symbolic planning sees the changed world.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from inspect_ai import task

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import InputError
from scenecypher.evaluation.episode import (
    AssignmentCache,
    EpisodePlan,
    Perception,
    Wording,
    is_ground_goal,
    load_dataset_scene,
)
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import (
    GOALS_FIRST,
    OURS,
    PAPER,
    Experiment,
    RowPlan,
    TablePlan,
    folder_tasks,
    select_rows,
)
from scenecypher.evaluation.measures import COSTS
from scenecypher.evaluation.options import Names, select_names, split_names, take_of_each
from scenecypher.evaluation.stated_tasks import ID_PREFIX, DynamicTask, dynamic_tasks, to_task
from scenecypher.evaluation.views import bundled_pictures, check_pictures, pictured_tasks
from scenecypher.importers.datasets import reference_plans
from scenecypher.importers.homes import our_home
from scenecypher.importers.task import Task

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
INCLUDED: Final = "included"
"""Value of `pictures` for those that come along."""
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
OUR_PICTURES: Final = RowPlan("explore-then-plan", observer="pictures", is_ours=True, absent=PICTURES)


@task
@played
def dynamic(
    *,
    folder: str = "",
    data: Names = "all",
    methods: Names = PAPER,
    wording: Wording = "source",
    simulated: bool = False,
    pictures: str = "",
    vision_model: str = "",
    limit: int = 0,
    seed: int | None = None,
    steps: int = 0,
) -> Experiment:
    """Plan the tables of `data`, which names some of WORLDS, or those of a `folder` of GraSIF's own files.

    In a folder, methods know each task's `known` graph. With `simulated`, tables of an observer with seeded mistakes
    are added. `pictures` is a folder of them by task and asset, or INCLUDED: the tables have its tasks alone, and the
    rows that need pictures, which are read by `vision_model` (empty: the model that plans). Raises InputError.
    """
    shown = bundled_pictures() if pictures == INCLUDED else Path(pictures).absolute() if pictures else None
    common = EpisodePlan(
        wording=wording,
        belief=True,
        steps=steps or None,
        known_places=True,
        pictures=str(shown or ""),
        vision_model=vision_model,
    )
    if folder:
        like = replace(_table(WORLDS[1], [], common), columns=FOLDER_COLUMNS)
        found, cache = folder_tasks(folder, like, paper="", limit=limit, seed=seed)
        return _checked(select_rows("dynamic", TITLE, found, methods=methods, assignments=cache))
    has = None if shown is None else pictured_tasks(shown, [line.id for line in dynamic_tasks()])
    lines = {
        name: take_of_each(
            _lines(name, wording, has), limit, seed, kind=lambda it: "unmoved" if it.seed is None else "moved"
        )
        for name in select_names("world of this experiment", data, WORLDS)
    }
    if shown is not None:
        lines = {name: found for name, found in lines.items() if found}
    if not lines:
        raise InputError(f"{shown}: pictures of none of the chosen tasks; choose others with --data or --wording")
    all_lines = [line for found in lines.values() for line in found]
    plans = {**reference_plans(), **{line.id: line.plan for line in all_lines if line.plan}}
    assignments = AssignmentCache(map(to_task, all_lines), scenes=load_dynamic_scene, plans=plans)

    def made(eyes: Perception, methods: Names) -> Experiment:
        seen_by = common.model_copy(update={"eyes": eyes})
        tables = [_table(name, found, seen_by) for name, found in lines.items()]
        return select_rows("dynamic", TITLE, tables, methods=methods, assignments=assignments)

    if not simulated:
        return _checked(made("truth", methods))
    noisy = made("noise", _simulated_rows(methods))
    seen = made("truth", _played_methods(methods, is_pictured=shown is not None))
    return _checked(replace(seen, tables=(*seen.tables, *noisy.tables), run=seen.run | noisy.run))


def load_dynamic_scene(task: Task) -> ImportedScene:
    """Return the scene of one of the tasks."""
    name, _, within = task.id.partition("/")
    return our_home(within.partition("/")[0])[0] if name == ID_PREFIX else load_dataset_scene(task)


def _checked(made: Experiment) -> Experiment:
    """Return an experiment whose pictures are whole and of its tasks. Raises InputError."""
    seeing = {it.task: it for it in made.episodes() if it.eyes == "pictures"}
    if any(table.common.pictures for table in made.tables) and not seeing:
        names = ", ".join(row.key for row in (*ROWS, OUR_PICTURES) if row.absent)
        raise InputError(f"pictures are for {names}: name one with --method, and a model with --model")
    for episode in seeing.values():
        found = made.assignments.of(episode)
        check_pictures(Path(episode.pictures) / episode.task, at_start=found.initial, believed=found.scene.graph)
    return made


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


def _played_methods(methods: Names, *, is_pictured: bool) -> list[str]:
    """Return the methods to be played without the simulated observer."""
    unplayable = {row.key for group in SIMULATED_ROWS.values() for row in group}
    unplayable |= {row.key for row in ROWS if row.absent and not is_pictured}
    return [word for word in split_names(methods) if word not in unplayable]


def _lines(world: str, wording: Wording, has: Collection[str] | None) -> Iterator[DynamicTask]:
    """Yield a world's tasks, those among `has`; with the wording `goal`, only tasks whose words express all of it."""
    for line in dynamic_tasks():
        is_here = (line.category == "behavior") == (world == "behavior")
        if is_here and (has is None or line.id in has) and (wording != "goal" or is_ground_goal(to_task(line).goal)):
            yield line


def _table(world: str, lines: list[DynamicTask], common: EpisodePlan) -> TablePlan:
    is_paper = common.eyes == "truth"
    group = world if is_paper else f"{world}-simulated"
    ours = (*OUR_ROWS, OUR_PICTURES) if common.pictures else OUR_ROWS
    is_bundled = common.pictures == str(bundled_pictures())
    which = "labelled drawings of ours" if is_bundled else f"those in {common.pictures}"
    return TablePlan(
        key=group,
        title=TITLES[world] if is_paper else f"{TITLES[world]}, seen by a simulated observer",
        columns=COLUMNS,
        rows=tuple(_seeing(row, common) for row in (ROWS if is_paper else SIMULATED_ROWS[PAPER])),
        tasks=tuple(line.id for line in lines),
        common=common.model_copy(update={"group": group}),
        moved={line.id: line.seed for line in lines if line.seed is not None},
        published=("lookplangraph", f"II-{world}") if is_paper else ("", ""),
        settings="lookplangraph-2",
        notes=(f"only the tasks that have pictures: {which}",) if common.pictures else (),
        ours=tuple(_seeing(row, common) for row in (ours if is_paper else SIMULATED_ROWS[OURS])),
    )


def _seeing(row: RowPlan, common: EpisodePlan) -> RowPlan:
    """Return a row that needs pictures as it is played with them; another row as it is."""
    if not (row.absent and common.pictures):
        return row
    reader = {"pictures read by": common.vision_model} if common.vision_model else {}
    options = {"augmentation": "pictures"} | reader
    return replace(row, absent="", eyes="pictures", options=tuple(options.items()))

"""`scenecypher tasks pddl`: a task in the current scene, for any PDDL planner."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenecypher.cli.context import EngineTimeout, errors, open_database, output
from scenecypher.cli.tasks import File, TaskId, find_task, scene_of
from scenecypher.errors import InputError

HERE = Path()


def pddl(
    task_id: TaskId,
    scene: Annotated[str | None, typer.Argument(metavar="[SCENE]", help="Where; else the task's own scene.")] = None,
    *,
    into: Annotated[
        Path, typer.Option("--into", metavar="FOLDER", help="Where domain.pddl and problem.pddl are written.")
    ] = HERE,
    engine_timeout: EngineTimeout = None,
    file: File = None,
) -> None:
    """Write a task as PDDL in the form that `plan --method symbolic` tries first: ground actions near the goal."""
    from scenecypher.planner.actions.pddl_export import export_pddl
    from scenecypher.planner.actions.pddl_planner import PlanRequest
    from scenecypher.planner.part_reader import part_reader

    found = find_task(task_id, file)
    if not found.task.has_graph_goal:
        raise InputError(f"{task_id} has no goal on the graph: choose one of `scenecypher tasks list --goal graph`")
    with open_database(engine_timeout_s=engine_timeout) as db:
        info = scene_of(db.store, scene, found)
        question = PlanRequest(found.task.goal, info.vocabulary, db.settings.engine_timeout_s)
        domain, problem = export_pddl(question, part_reader(db.store.database, info, found.task.goal))
    _write(into, {"domain.pddl": domain, "problem.pddl": problem})
    if found.task.action_goals:
        errors().print("the task's action goals are not part of the PDDL problem", style="yellow", markup=False)


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write the files and print their paths. Raises InputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"{folder}: can't be written ({error.strerror}); choose another folder"
        raise InputError(msg) from error
    output().print(f"{' and '.join(str(folder / name) for name in texts)} written", markup=False)

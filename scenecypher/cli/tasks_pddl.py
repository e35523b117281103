"""`scenecypher tasks pddl`: a task in the current scene, for any PDDL planner."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenecypher.cli.context import errors, open_database, output
from scenecypher.cli.options import Timeouts, with_options
from scenecypher.cli.tasks import File, TaskId, find_task, scene_of
from scenecypher.errors import InputError
from scenecypher.files import write_files

HERE = Path()


@with_options
def pddl(
    task_id: TaskId,
    scene: Annotated[str | None, typer.Argument(metavar="[SCENE]", help="Where; else the task's own scene.")] = None,
    *,
    into: Annotated[
        Path, typer.Option("--into", metavar="FOLDER", help="Where domain.pddl and problem.pddl are written.")
    ] = HERE,
    timeouts: Annotated[Timeouts, {"engine_timeout_s"}],
    file: File = None,
) -> None:
    """Write a task as PDDL as `plan --method symbolic` first asks the engine: on the part that its goal is about."""
    from scenecypher.planner.symbolic.plan import PlanRequest, export_pddl

    found = find_task(task_id, file)
    if not found.task.has_graph_goal:
        raise InputError(f"{task_id} has no goal on the graph: choose one of `scenecypher tasks list --goal graph`")
    with open_database(timeouts) as db:
        info = scene_of(db.store, scene, found)
        question = PlanRequest(found.task.goal, info.vocabulary, db.settings.engine_timeout_s)
        domain, problem = export_pddl(question, db.store.now(info).graph)
    files: dict[Path, str | bytes] = {into / "domain.pddl": domain, into / "problem.pddl": problem}
    write_files(files, makes_folder=True)
    output().print(f"{' and '.join(map(str, files))} written", markup=False)
    if found.task.action_goals:
        errors().print("the task's action goals are not part of the PDDL problem", style="yellow", markup=False)

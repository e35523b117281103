"""`scenecypher eval augmentation`: pictures read by a model, compared with gold subgraphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenecypher.cli.context import tell
from scenecypher.cli.evaluate_run import (
    Logs,
    Record,
    Replies,
    Resume,
    Workers,
    absolute_path,
    check_record,
    deliver,
    resume_run,
)
from scenecypher.cli.scenes import AsJson
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.evaluation.running import Task


def augmentation(
    ctx: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="A folder of views with gold; default: the included rendered views."),
    ] = None,
    *,
    model: Annotated[
        str | None, typer.Option("--model", help="As Inspect names it; one that takes pictures. None asks no model.")
    ] = None,
    replies: Replies = None,
    record: Record = None,
    simulated: Annotated[
        int | None, typer.Option("--simulated", metavar="SEED", help="A simulated observer with seeded mistakes.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many pictures.")] = None,
    workers: Workers = 4,
    logs: Logs = None,
    resume: Resume = None,
    as_json: AsJson = False,
) -> None:
    """Read pictures into subgraphs and compare them with gold. Without a model: the gold, as one would tell it."""
    from scenecypher.evaluation.running import RunOptions, check_inspect_installed, run_task

    check_inspect_installed()
    from scenecypher.evaluation.augmentation_result import augmentation_result

    how = RunOptions(model, limit, at_once=workers, log_dir=logs)
    if resume is None:
        made = _task(folder, model, replies, record=record, seed=simulated)
        tell("reading pictures; each is a sample in Inspect's log…")
        log = run_task(made, how)
    else:
        log = resume_run(ctx, resume, how)
    deliver(augmentation_result(log), as_json=as_json)


def _task(
    folder: Path | None, model: str | None, replies: Path | None, *, record: Path | None, seed: int | None
) -> Task:
    from scenecypher.evaluation.augmentation import augmentation as task

    chosen = _chosen(model, replies, seed)
    check_record(model, record)
    return task(folder=absolute_path(folder), replies=chosen, record=absolute_path(record), seed=seed or 0)


def _chosen(model: str | None, replies: Path | None, simulated: int | None) -> str:
    given = {"--model": model, "--replies": replies, "--simulated": simulated}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InputError(f"{' and '.join(named)} exclude each other; give one of them")
    return absolute_path(replies) or ("live" if model else "reference" if simulated is None else "simulated")

"""What the commands of all experiments share: options, going on with a run, and what becomes of its result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenecypher.cli.context import print_json, tell
from scenecypher.cli.result_view import show_result
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.evaluation.result import ExperimentResult
    from scenecypher.evaluation.running import EvalLog, RunOptions

ModelName = Annotated[
    str | None, typer.Option("--model", help="As Inspect names it, such as openai/gpt-4o; none asks no model.")
]
Replies = Annotated[
    Path | None, typer.Option("--replies", metavar="CASSETTE", help="Score these recorded replies instead.")
]
Record = Annotated[
    Path | None, typer.Option("--record", metavar="CASSETTE", help="Record the model's replies in a new file.")
]
Workers = Annotated[int, typer.Option("--workers", min=1, help="How many of them at a time.")]
Logs = Annotated[str | None, typer.Option("--log-dir", help="Where log and result go (./logs).")]
Resume = Annotated[
    Path | None, typer.Option("--resume", metavar="LOG", help="Go on with the run that wrote this log of Inspect.")
]
GO_WITH_RESUME: Final = frozenset({"resume", "workers", "logs", "as_json", "recorded"})
"""Parameters of which a log says nothing, or (`recorded`) nothing else."""


def check_replies(model: str | None, replies: Path | None, record: Path | None) -> None:
    """Raises InputError where replies come from two places, or there is nothing to record."""
    if replies is not None and (model is not None or record is not None):
        raise InputError("--replies needs no model and records nothing; leave --model and --record out")
    check_record(model, record)


def check_record(model: str | None, record: Path | None) -> None:
    """Raises InputError where there is nothing to record."""
    if record is not None and model is None:
        raise InputError("there is nothing to record without a model; name one with --model")


def in_full(file: Path | None) -> str:
    """A path in full, empty for none: a run that is resumed makes its task in another folder."""
    return str(file.resolve()) if file else ""


def resumed(ctx: typer.Context, file: Path, how: RunOptions) -> EvalLog:
    """Go on with the run that wrote `file`, if it is of this command's experiment, whose module has to be imported.

    Raises InputError, also for options that the log tells itself.
    """
    from scenecypher.evaluation.running import experiment_name_of, resume_task

    if told := [one.opts[0] for one in ctx.command.params if one.name not in GO_WITH_RESUME and _is_typed(ctx, one)]:
        raise InputError(f"--resume goes on with what its log says; leave {' and '.join(told)} out")
    if (name := experiment_name_of(file).replace("_", "-")) != ctx.info_name:
        raise InputError(f"{file} is of the experiment {name}; run `scenecypher eval {name} --resume LOG`")
    tell(f"going on with {file}…")
    return resume_task(file, how)


def deliver(
    found: ExperimentResult,
    *,
    as_json: bool,
    log: str = "",
    document: Callable[[], Any] | None = None,
    show: Callable[[], None] | None = None,
) -> None:
    """Write a result beside its log, and print it, or `show` and `document` in its place.

    Ends with exit code 2 where the run is not finished. Raises InputError where the result can't be written.
    """
    from scenecypher.evaluation.result import result_path, write_result

    write_result(found, result_path(log or found.provenance.log))
    if as_json:
        print_json(document() if document else found.model_dump(mode="json"))
    else:
        (show or partial(show_result, found))()
    if not found.finished:
        raise typer.Exit(2)


def _is_typed(ctx: typer.Context, parameter: Any) -> bool:
    source = ctx.get_parameter_source(parameter.name)
    return source is not None and source.name == "COMMANDLINE"

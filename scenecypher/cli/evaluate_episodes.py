"""What the commands of all experiments share in which a method plays: their options, the run, and what is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenecypher.cli.context import print_json, tell
from scenecypher.cli.result_view import show_result
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from evaluation.experiment import Experiment
    from evaluation.running import EvalLog

ModelName = Annotated[
    str | None, typer.Option("--model", help="As Inspect names it, such as openai/gpt-4o; none asks no model.")
]
Replies = Annotated[
    Path | None, typer.Option("--replies", metavar="CASSETTE", help="Play with these recorded replies instead.")
]
Record = Annotated[
    Path | None, typer.Option("--record", metavar="CASSETTE", help="Record the model's replies in a new file.")
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        help="A row, METHOD or METHOD+ABLATION, or 'paper' for all of the paper's; may be given several times. "
        "Else the paper's with a model, and symbolic without.",
    ),
]
Limit = Annotated[int, typer.Option("--limit", min=0, help="Only the first so many tasks of each kind; 0 is all.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="How many episodes at a time.")]
Steps = Annotated[int, typer.Option("--max-steps", min=0, help="Decisions at most an episode; 0: as the task grants.")]
Logs = Annotated[str | None, typer.Option("--log-dir", help="Where log and result go (./logs).")]
Resume = Annotated[
    Path | None, typer.Option("--resume", metavar="LOG", help="Go on with the run that wrote this log of Inspect.")
]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command was told of its run."""

    model: str | None
    replies: Path | None
    record: Path | None
    methods: tuple[str, ...]
    limit: int
    workers: int
    steps: int
    logs: str | None
    resume: Path | None
    as_json: bool


def played(name: str, arguments: Mapping[str, Any], asked: Asked) -> None:
    """Run the experiment `name`, or go on with it, write its result beside its log, and print its tables."""
    from evaluation.running import check_installed

    check_installed()
    from evaluation.result import result_path, write
    from evaluation.tabling import result

    log, experiment = _resumed(name, arguments, asked) if asked.resume else _run(name, arguments, asked)
    found = result(log, experiment)
    write(found, result_path(found.provenance.log))
    print_json(found.model_dump(mode="json")) if asked.as_json else show_result(found)
    if not found.finished:
        raise typer.Exit(2)


def _run(name: str, arguments: Mapping[str, Any], asked: Asked) -> tuple[EvalLog, Experiment]:
    from evaluation.running import Run, run
    from evaluation.scenes import check_database

    _check(asked)
    module: Any = import_module(f"evaluation.{name}")
    told = {**arguments, "methods": _methods(asked), "limit": asked.limit, "steps": asked.steps}
    experiment: Experiment = module.experiment(**told)
    made = getattr(module, name)(**told, replies=_path(asked.replies) or "live", record=_path(asked.record))
    check_database()
    tell(f"playing {len(made.dataset)} episodes; each is a sample in Inspect's log…")
    return run(made, Run(asked.model, at_once=asked.workers, log_dir=asked.logs)), experiment


def _resumed(name: str, arguments: Mapping[str, Any], asked: Asked) -> tuple[EvalLog, Experiment]:
    from evaluation.running import Run, arguments_of, resume
    from evaluation.scenes import check_database
    from evaluation.tabling import experiment_of

    assert asked.resume is not None  # noqa: S101 - for the type checker
    module: Any = import_module(f"evaluation.{name}")
    usual = {key: each.default for key, each in signature(module.experiment).parameters.items()}
    _check_resuming(arguments, asked, usual=usual)
    found, _ = arguments_of(asked.resume)
    if found.rpartition("/")[2] != name:
        command = found.replace("_", "-")
        raise InputError(
            f"{asked.resume} is of the experiment {command}; run `scenecypher eval {command} --resume LOG`"
        )
    check_database()
    tell(f"going on with {asked.resume}…")
    log = resume(asked.resume, Run(at_once=asked.workers, log_dir=asked.logs))
    return log, experiment_of(log)


def _check_resuming(arguments: Mapping[str, Any], asked: Asked, *, usual: Mapping[str, Any]) -> None:
    """Raises InputError for what the log tells itself; `usual` are the experiment's defaults."""
    options: dict[str, Any] = {
        "model": asked.model,
        "replies": asked.replies,
        "record": asked.record,
        "method": asked.methods,
    }
    options |= {"limit": asked.limit, "max-steps": asked.steps}
    options |= {name: value for name, value in arguments.items() if value != usual[name]}
    if given := [f"--{name}" for name, value in options.items() if value]:
        raise InputError(f"--resume goes on with what its log says; leave {' and '.join(given)} out")


def _path(file: Path | None) -> str:
    """In full: a run that is resumed makes its task in another folder."""
    return str(file.resolve()) if file else ""


def _check(asked: Asked) -> None:
    if asked.replies is not None and (asked.model is not None or asked.record is not None):
        raise InputError("--replies needs no model and records nothing; leave --model and --record out")
    if asked.record is not None and asked.model is None:
        raise InputError("there is nothing to record without a model; name one with --model")


def _methods(asked: Asked) -> str:
    """What is played: without a model and without replies, what needs none."""
    from planner.methods import recipe_named

    has_replies = asked.model is not None or asked.replies is not None
    if not asked.methods:
        return "paper" if has_replies else "symbolic"
    if has_replies:
        return ",".join(asked.methods)
    for word in asked.methods:
        if word == "paper" or recipe_named(word if word == "llm+p" else word.partition("+")[0]).model:
            raise InputError(f"{word} needs a model: name one with --model, or give recorded --replies")
    return ",".join(asked.methods)

"""Commands of experiments: the options that they share, and one way to run, resume and print them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from scenecypher.cli.completion import method_names
from scenecypher.cli.context import print_json, progress_bar, tell
from scenecypher.cli.evaluate_own import OWN, play
from scenecypher.cli.result_view import show_result
from scenecypher.cli.scenes import AsJson
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.evaluation.experiments import ExperimentRow, Option
    from scenecypher.evaluation.progress import Progress
    from scenecypher.evaluation.result import ExperimentResult
    from scenecypher.evaluation.running import EvalLog, RunOptions, Task

ALLOWED_WITH_RESUME: Final = frozenset({"resume", "workers", "logs", "as_json", "recorded"})
"""Parameters that may be given with `--resume`: the log does not hold them, or (`recorded`) allows no other value."""
KINDS: Final[Mapping[str, Any]] = {"text": str, "int": int, "flag": bool, "path": Path}
ASKED: Final = frozenset({"model", "replies", "record"})
PLAYED: Final = frozenset({"methods", "steps"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Options that experiments share, one a field, in the order of the help."""

    model: Annotated[
        str | None, typer.Option("--model", help="As Inspect names it, such as openai/gpt-4o; none asks no model.")
    ] = None
    replies: Annotated[
        Path | None, typer.Option("--replies", metavar="CASSETTE", help="Take these recorded replies instead.")
    ] = None
    record: Annotated[
        Path | None, typer.Option("--record", metavar="CASSETTE", help="Record the model's replies in a new file.")
    ] = None
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            help="A row, METHOD or METHOD+ABLATION, 'paper' for all of the paper's, or 'ours' for ours that fit the "
            "table; may be given several times. Else both with --model, 'paper' with --replies, symbolic without.",
            autocompletion=method_names,
        ),
    ] = None
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="So many tasks of each table, evenly spread; 0 is all.")
    ] = 0
    seed: Annotated[int | None, typer.Option("--seed", help="Draw the tasks of --limit at random, by this seed.")] = (
        None
    )
    sample_ids: Annotated[
        str, typer.Option("--sample-ids", metavar="ID,ID", help="Only these samples, by their ids in the log.")
    ] = ""
    workers: Annotated[int, typer.Option("--workers", min=1, help="How many samples at a time.")] = 4
    steps: Annotated[
        int,
        typer.Option("--max-steps", min=0, help="Maximum decisions an episode; 0: 3 for each granted action, plus 30."),
    ] = 0
    logs: Annotated[str | None, typer.Option("--log-dir", help="Where the log goes (./logs); results beside it.")] = (
        None
    )
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="LOG", help="Go on with the run that wrote this log of Inspect.")
    ] = None
    as_json: AsJson = False


def experiment_command(row: ExperimentRow) -> Callable[..., None]:
    """Return the command of an experiment: its own options, then those of `Choices` that it has."""
    taken = {option.name for option in row.options}
    taken |= (frozenset() if row.asks else ASKED) | (frozenset() if row.plays else PLAYED)
    shared = {name: it for name, it in signature(Choices, eval_str=True).parameters.items() if name not in taken}

    def command(ctx: typer.Context, **given: Any) -> None:
        _run(ctx, row, given, Choices(**{name: given.pop(name) for name in shared}))

    context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    command.__dict__["__signature__"] = Signature([context, *map(_parameter, row.options), *shared.values()])
    return command


def _parameter(option: Option) -> Parameter:
    kind = Literal[tuple(option.kind)] if isinstance(option.kind, list) else KINDS[option.kind]
    default = False if option.kind == "flag" else option.default
    flag = f"--{(option.flag or option.name).replace('_', '-')}"
    made: Any = (
        typer.Argument(metavar=option.metavar, help=option.help)
        if option.positional
        else typer.Option(flag, metavar=option.metavar, help=option.help, min=option.least)
    )
    annotation: Any = Annotated[kind if default is not None else kind | None, made]
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _run(ctx: typer.Context, row: ExperimentRow, own: Mapping[str, Any], choices: Choices) -> None:
    """Run or resume an experiment, write its result beside its log, and print its tables."""
    from scenecypher.evaluation.options import split_names
    from scenecypher.evaluation.running import RunOptions, check_inspect_installed

    check_inspect_installed()
    _check_part(choices)
    with _progress() as progress:
        how = RunOptions(
            choices.model,
            sample_ids=split_names(choices.sample_ids),
            at_once=choices.workers,
            log_dir=choices.logs,
            progress=progress,
        )
        log = _play(row, own, choices, how) if choices.resume is None else _resume(ctx, row, choices.resume, how)
    deliver(row.make_result(log), log.location, as_json=choices.as_json)


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show samples done, success, tokens, cost and time left while a run plays, if standard error is a terminal."""
    from scenecypher.evaluation.progress import Progress
    from scenecypher.settings import Settings

    with progress_bar("playing") as show:
        yield Progress(lambda now: show(now.done, now.total, str(now)), Settings().model_prices)


def _play(row: ExperimentRow, own: Mapping[str, Any], choices: Choices, how: RunOptions) -> EvalLog:
    from scenecypher.evaluation.running import run_task

    task = planned_task(row, own, choices)
    _check_database(row)
    tell(f"playing {row.name}; each sample is in Inspect's log…")
    return run_task(task, how)


def planned_task(row: ExperimentRow, own: Mapping[str, Any], choices: Choices) -> Task:
    """Return the Inspect task that the command's options say. Raises InputError."""
    arguments: dict[str, Any] = {"limit": choices.limit, "seed": choices.seed}
    arguments |= {name: _plain(value) for name, value in own.items() if value is not None}
    if row.asks:
        _check_replies(choices)
        arguments["replies"] = _plain(choices.replies) or ("live" if choices.model else row.replies)
        arguments["record"] = _plain(choices.record) or ""
    if row.plays:
        arguments = play(arguments, choices)
    if change := OWN.get(row.name):
        arguments = change(arguments, choices)
    return row.make_task(**arguments)


def _resume(ctx: typer.Context, row: ExperimentRow, file: Path, how: RunOptions) -> EvalLog:
    """Resume the run that wrote `file`. Raises InputError for another experiment's log, and for options of the log."""
    from scenecypher.evaluation.experiments import load
    from scenecypher.evaluation.running import experiment_name_of, resume_task

    options = [one for one in ctx.command.params if one.name not in ALLOWED_WITH_RESUME]
    if typed := [one.opts[0] for one in options if _is_typed(ctx, one)]:
        raise InputError(f"--resume takes its options from the log; leave {' and '.join(typed)} out")
    if (name := experiment_name_of(file)) != row.name:
        raise InputError(f"{file} is a log of the experiment {name}; run `scenecypher eval {name} --resume LOG`")
    load(row.task)
    _check_database(row)
    tell(f"resuming {file}…")
    return resume_task(file, how)


def _check_database(row: ExperimentRow) -> None:
    if row.needs_database:
        from scenecypher.evaluation.world_pool import check_database

        check_database()


def _check_part(choices: Choices) -> None:
    """Raise InputError if a part of the tasks is chosen in two ways, or in none."""
    if choices.sample_ids and (choices.limit or choices.seed is not None):
        raise InputError("--sample-ids names the samples; leave --limit and --seed out")
    if choices.seed is not None and not choices.limit:
        raise InputError("--seed draws the tasks of --limit; give --limit too")


def _check_replies(choices: Choices) -> None:
    """Raise InputError if replies come from two sources, or there is nothing to record."""
    if choices.replies is not None and (choices.model is not None or choices.record is not None):
        raise InputError("--replies needs no model and records nothing; leave --model and --record out")
    if choices.record is not None and choices.model is None:
        raise InputError("there is nothing to record without a model; name one with --model")


def _plain(value: Any) -> Any:
    """Return a value with paths absolute, since a resumed run may build its task in another folder."""
    return str(value.resolve()) if isinstance(value, Path) else value


def deliver(found: ExperimentResult, log: str, *, as_json: bool) -> None:
    """Write a result beside its log and print it.

    Raises Exit with code 2 if the run is unfinished, InputError if the result can't be written.
    """
    from scenecypher.evaluation.result import result_path, write_result

    write_result(found, result_path(log))
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        show_result(found)
    if not found.finished:
        tell(f"to finish it: scenecypher eval {found.experiment} --resume {log}")
        raise typer.Exit(2)


def _is_typed(ctx: typer.Context, parameter: Any) -> bool:
    source = ctx.get_parameter_source(parameter.name)
    return source is not None and source.name == "COMMANDLINE"

"""Experiments of `scenecypher eval`: the options that they share, and one way to run, resume and print them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenecypher.cli.context import print_json, progress_bar, tell
from scenecypher.cli.options import AsJson, method_names, option
from scenecypher.cli.table import show_result
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.evaluation.experiments import ExperimentParts
    from scenecypher.evaluation.result import ExperimentResult
    from scenecypher.evaluation.running import EvalLog, RunOptions, Task

ALLOWED_WITH_RESUME: Final = frozenset({"resume", "workers", "logs", "as_json"})
"""Parameters that may be given with `--resume`: the log does not hold them."""
PLAYED: Final = frozenset({"methods", "steps"})
"""Options of experiments that play."""
SYMBOLIC: Final = "symbolic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Options that experiments share, one a field, in the order of the help."""

    model: Annotated[
        str | None, option("--model", "As Inspect names it, such as openai/gpt-4o; none asks no model.")
    ] = None
    replies: Annotated[Path | None, option("--replies", "CASSETTE", "Take these recorded replies instead.")] = None
    record: Annotated[Path | None, option("--record", "CASSETTE", "Record the model's replies in a new file.")] = None
    methods: Annotated[
        list[str] | None,
        option(
            "--method",
            "-m",
            "A row, METHOD or METHOD+ABLATION, 'paper' for all of the paper's, or 'ours' for ours that fit the "
            "table; may be given several times. Else both with --model, 'paper' with --replies, symbolic without.",
            autocompletion=method_names,
        ),
    ] = None
    limit: Annotated[int, option("--limit", "So many tasks of each table, evenly spread; 0 is all.", min=0)] = 0
    seed: Annotated[int | None, option("--seed", "Draw the tasks of --limit at random, by this seed.")] = None
    sample_ids: Annotated[str, option("--sample-ids", "ID,ID", "Only these samples, by their ids in the log.")] = ""
    workers: Annotated[int, option("--workers", "How many samples at a time.", min=1)] = 4
    steps: Annotated[
        int, option("--max-steps", "Maximum decisions an episode; 0: 3 for each granted action, plus 30.", min=0)
    ] = 0
    logs: Annotated[str | None, option("--log-dir", "Where the log goes (./logs); results beside it.")] = None
    resume: Annotated[Path | None, option("--resume", "LOG", "Go on with the run that wrote this log of Inspect.")] = (
        None
    )
    as_json: AsJson = False

    def asking(self, *, without: str = "live") -> dict[str, Any]:
        """Return the arguments of a task that asks a model; `without` one and without replies, these are the replies.

        Raises InputError if replies come from two sources, or there is nothing to record.
        """
        if self.replies is not None and (self.model is not None or self.record is not None):
            raise InputError("--replies needs no model and records nothing; leave --model and --record out")
        if self.record is not None and self.model is None:
            raise InputError("there is nothing to record without a model; name one with --model")
        # Paths are absolute, since a resumed run may build its task in another folder.
        return {
            "limit": self.limit,
            "seed": self.seed,
            "replies": str(self.replies.resolve()) if self.replies else "live" if self.model else without,
            "record": str(self.record.resolve()) if self.record else "",
        }

    def playing(self) -> dict[str, Any]:
        """Return the arguments of a task in which methods play: by default the paper's, with a model also ours.

        Without replies it is the symbolic one. Raises InputError.
        """
        from scenecypher.evaluation.experiment import OURS, PAPER, asks_model

        has_replies = self.model is not None or self.replies is not None
        default = [PAPER, OURS] if self.model is not None else [PAPER if has_replies else SYMBOLIC]
        words = self.methods or default
        if not has_replies and (asking := next(filter(asks_model, words), None)):
            raise InputError(f"{asking} needs a model: name one with --model, or give recorded --replies")
        return self.asking() | {"methods": ",".join(words), "steps": self.steps}


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment of `scenecypher eval`: the command of its name runs it.

    `make` returns its Inspect task, of `choices` and of keyword arguments that are the command's own options; Typer
    reads their annotations, which are no texts, and the docstring is the help. `parts` imports the task, called as the
    experiment is, and the function from its log to its result. One that `plays` has `--method` and `--max-steps`.
    """

    make: Callable[..., Task]
    parts: Callable[[], ExperimentParts]
    plays: bool = False
    needs_database: bool = True


def experiment_command(name: str, of: Experiment) -> Callable[..., None]:
    """Return the command of an experiment: its own options, then those of `Choices` that it has."""
    own = [one for one in signature(of.make).parameters.values() if one.name != "choices"]
    taken = {one.name for one in own} | (frozenset() if of.plays else PLAYED)
    shared = {key: it for key, it in signature(Choices, eval_str=True).parameters.items() if key not in taken}

    def command(ctx: typer.Context, **given: Any) -> None:
        _run(ctx, name, of, Choices(**{key: given.pop(key) for key in shared}), given)

    context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = (it.replace(kind=Parameter.KEYWORD_ONLY) for it in (*own, *shared.values()))
    command.__dict__["__signature__"] = Signature([context, *parameters])
    return command


def _run(ctx: typer.Context, name: str, of: Experiment, choices: Choices, own: dict[str, Any]) -> None:
    """Run or resume an experiment, write its result beside its log, and print its tables.

    If standard error is a terminal, it shows samples done, success, tokens, cost and time left.
    """
    from scenecypher.evaluation.options import split_names
    from scenecypher.evaluation.progress import Progress
    from scenecypher.evaluation.running import RunOptions, check_inspect_installed, run_task
    from scenecypher.settings import Settings

    check_inspect_installed()
    if choices.sample_ids and (choices.limit or choices.seed is not None):
        raise InputError("--sample-ids names the samples; leave --limit and --seed out")
    if choices.seed is not None and not choices.limit:
        raise InputError("--seed draws the tasks of --limit; give --limit too")
    with progress_bar("playing") as show:
        progress = Progress(lambda now: show(now.done, now.total, str(now)), Settings().model_prices)
        samples = split_names(choices.sample_ids)
        how = RunOptions(
            choices.model, sample_ids=samples, at_once=choices.workers, log_dir=choices.logs, progress=progress
        )
        if choices.resume is None:
            task = of.make(choices, **own)
            _check_database(of)
            tell(f"playing {name}; each sample is in Inspect's log…")
            log = run_task(task, how)
        else:
            log = _resume(ctx, name, of, choices.resume, how)
    deliver(of.parts().result(log), log.location, as_json=choices.as_json)


def _resume(ctx: typer.Context, name: str, of: Experiment, file: Path, how: RunOptions) -> EvalLog:
    """Resume the run that wrote `file`. Raises InputError for another experiment's log, and for options of the log."""
    from scenecypher.evaluation.running import experiment_name_of, resume_task

    options = (one for one in ctx.command.params if one.name not in ALLOWED_WITH_RESUME)
    sources = ((one.opts[0], ctx.get_parameter_source(one.name or "")) for one in options)
    if typed := [name for name, source in sources if source is not None and source.name == "COMMANDLINE"]:
        raise InputError(f"--resume takes its options from the log; leave {' and '.join(typed)} out")
    if (found := experiment_name_of(file)) != name:
        raise InputError(f"{file} is a log of the experiment {found}; run `scenecypher eval {found} --resume LOG`")
    of.parts()  # so that Inspect knows its task
    _check_database(of)
    tell(f"resuming {file}…")
    return resume_task(file, how)


def _check_database(of: Experiment) -> None:
    if of.needs_database:
        from scenecypher.evaluation.world_pool import check_database

        check_database()


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

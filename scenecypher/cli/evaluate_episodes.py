"""The commands in which a method plays: each is told of its experiment, and what stands in `Asked` besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenecypher.cli.completion import method_names
from scenecypher.cli.context import tell
from scenecypher.cli.evaluate_run import (
    Logs,
    ModelName,
    Record,
    Resume,
    check_replies,
    deliver,
    in_full,
    resumed,
)
from scenecypher.cli.scenes import AsJson
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.evaluation.running import EvalLog

Replies = Annotated[
    Path | None, typer.Option("--replies", metavar="CASSETTE", help="Play with these recorded replies instead.")
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        help="A row, METHOD or METHOD+ABLATION, or 'paper' for all of the paper's; may be given several times. "
        "Else the paper's with a model, and symbolic without.",
        autocompletion=method_names,
    ),
]
Limit = Annotated[int, typer.Option("--limit", min=0, help="Only the first so many tasks of each kind; 0 is all.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="How many episodes at a time.")]
Steps = Annotated[int, typer.Option("--max-steps", min=0, help="Decisions at most an episode; 0: as the task grants.")]


SYMBOLIC: Final = "symbolic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What every one of these commands can be told of its run: a field is an option, and they are listed so."""

    model: ModelName = None
    replies: Replies = None
    record: Record = None
    methods: Methods = None
    limit: Limit = 0
    workers: Workers = 4
    steps: Steps = 0
    logs: Logs = None
    resume: Resume = None
    as_json: AsJson = False


def plays(own: Callable[..., Mapping[str, Any]]) -> Callable[..., None]:
    """A command with the options of `own`, and those of `Asked` behind them, for the experiment of its name.

    `own` makes the experiment's arguments of its options; its docstring is the command's.
    """
    mine, shared = (signature(each, eval_str=True).parameters for each in (own, Asked))

    @wraps(own)
    def command(ctx: typer.Context, **told: Any) -> None:
        asked = Asked(**{name: told.pop(name) for name in shared})
        _play(ctx, own.__name__, own(**told), asked)

    context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    command.__dict__["__signature__"] = Signature([context, *mine.values(), *shared.values()])
    return command


def _play(ctx: typer.Context, name: str, arguments: Mapping[str, Any], asked: Asked) -> None:
    """Run the experiment `name`, or go on with it, write its result beside its log, and print its tables."""
    from scenecypher.evaluation.running import Run, check_installed

    check_installed()
    from scenecypher.evaluation.scenes import check_database
    from scenecypher.evaluation.tabling import experiment_of, result

    if asked.resume is None:
        log = _run(name, arguments, asked)
    else:
        check_database()
        import_module(f"scenecypher.evaluation.{name}")
        log = resumed(ctx, asked.resume, Run(at_once=asked.workers, log_dir=asked.logs))
    deliver(result(log, experiment_of(log)), as_json=asked.as_json)


def _run(name: str, arguments: Mapping[str, Any], asked: Asked) -> EvalLog:
    from scenecypher.evaluation.running import Run, run
    from scenecypher.evaluation.scenes import check_database

    check_replies(asked.model, asked.replies, asked.record)
    told = {**arguments, "methods": _methods(asked), "limit": asked.limit, "steps": asked.steps}
    task: Any = getattr(import_module(f"scenecypher.evaluation.{name}"), name)
    made = task(**told, replies=in_full(asked.replies) or "live", record=in_full(asked.record))
    check_database()
    tell(f"playing {len(made.dataset)} episodes; each is a sample in Inspect's log…")
    return run(made, Run(asked.model, at_once=asked.workers, log_dir=asked.logs))


def _methods(asked: Asked) -> str:
    """What is played: without a model and without replies, what needs none."""
    from scenecypher.evaluation.experiment import PAPER, asks_model

    has_replies = asked.model is not None or asked.replies is not None
    words = asked.methods or [PAPER if has_replies else SYMBOLIC]
    if not has_replies and (asking := next(filter(asks_model, words), None)):
        raise InputError(f"{asking} needs a model: name one with --model, or give recorded --replies")
    return ",".join(words)

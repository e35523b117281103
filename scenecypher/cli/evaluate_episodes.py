"""The commands whose experiments play episodes: their shared options, and how each runs."""

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
    absolute_path,
    check_replies,
    deliver,
    resume_run,
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
class RunOptions:
    """The shared options of these commands, one a field, in the order of the help."""

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


def experiment_command(own: Callable[..., Mapping[str, Any]]) -> Callable[..., None]:
    """Return the command of the experiment named like `own`: the options of `own`, then those of `RunOptions`.

    `own` turns its options into the experiment's arguments; its docstring is the command's help.
    """
    own_options, shared = (signature(each, eval_str=True).parameters for each in (own, RunOptions))

    @wraps(own)
    def command(ctx: typer.Context, **given: Any) -> None:
        options = RunOptions(**{name: given.pop(name) for name in shared})
        _play(ctx, own.__name__, own(**given), options)

    context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    command.__dict__["__signature__"] = Signature([context, *own_options.values(), *shared.values()])
    return command


def _play(ctx: typer.Context, name: str, arguments: Mapping[str, Any], options: RunOptions) -> None:
    """Run or resume the experiment `name`, write its result beside its log, and print its tables."""
    from scenecypher.evaluation.running import RunOptions, check_inspect_installed

    check_inspect_installed()
    from scenecypher.evaluation.episodes_result import episodes_result, experiment_from_log
    from scenecypher.evaluation.scenes import check_database

    if options.resume is None:
        log = _run(name, arguments, options)
    else:
        check_database()
        import_module(f"scenecypher.evaluation.{name}")
        log = resume_run(ctx, options.resume, RunOptions(at_once=options.workers, log_dir=options.logs))
    deliver(episodes_result(log, experiment_from_log(log)), as_json=options.as_json)


def _run(name: str, arguments: Mapping[str, Any], options: RunOptions) -> EvalLog:
    from scenecypher.evaluation.running import RunOptions, run_task
    from scenecypher.evaluation.scenes import check_database

    check_replies(options.model, options.replies, options.record)
    given = {**arguments, "methods": _methods(options), "limit": options.limit, "steps": options.steps}
    task: Any = getattr(import_module(f"scenecypher.evaluation.{name}"), name)
    made = task(**given, replies=absolute_path(options.replies) or "live", record=absolute_path(options.record))
    check_database()
    tell(f"playing {len(made.dataset)} episodes; each is a sample in Inspect's log…")
    return run_task(made, RunOptions(options.model, at_once=options.workers, log_dir=options.logs))


def _methods(options: RunOptions) -> str:
    """Return the chosen methods; by default the paper's, or without model and replies the symbolic one."""
    from scenecypher.evaluation.experiment import PAPER, asks_model

    has_replies = options.model is not None or options.replies is not None
    words = options.methods or [PAPER if has_replies else SYMBOLIC]
    if not has_replies and (asking := next(filter(asks_model, words), None)):
        raise InputError(f"{asking} needs a model: name one with --model, or give recorded --replies")
    return ",".join(words)

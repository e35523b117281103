"""`scenecypher eval ssc`: Structured Self-Consistency with a model, or votes across recorded ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenecypher.cli.context import print_json, tell
from scenecypher.cli.result_view import show_result
from scenecypher.cli.scenes import AsJson
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from evaluation.result import Result
    from evaluation.running import EvalLog, Run

ALL = "all"


def ssc(
    *,
    task: Annotated[
        str, typer.Option("--task", help="goal, action-sequencing, subgoal or transition; with --recorded, or all.")
    ] = "goal",
    model: Annotated[str | None, typer.Option("--model", help="As Inspect names it, such as openai/gpt-4o.")] = None,
    methods: Annotated[
        str, typer.Option("--method", help="greedy, ssc, ssc-merge, ssc-early, ssc-filter; several with commas.")
    ] = "greedy,ssc",
    prompts: Annotated[str, typer.Option("--prompt", help="eai, structured, or both with a comma.")] = "eai,structured",
    samples: Annotated[int, typer.Option("--samples", min=1, help="How many replies are voted on.")] = 5,
    replies: Annotated[
        Path | None, typer.Option("--replies", metavar="CASSETTE", help="Score these recorded replies instead.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="CASSETTE", help="Record the model's replies in a new file.")
    ] = None,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="No model: vote across the recorded outputs of 15.")
    ] = False,
    recordings: Annotated[
        Path | None, typer.Option("--recordings", metavar="WHEEL", help="The recordings; else fetched once by pip.")
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option("--log", help="With --recorded: a log of `eval eai --recorded`; its scores are used."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=1, help="Only the first so many samples (a row of a task each); with --recorded, tasks."
        ),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="How many of them at a time.")] = 4,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="LOG", help="Go on with the run that wrote this log of Inspect.")
    ] = None,
    logs: Annotated[str | None, typer.Option("--log-dir", help="Where log and result go (./logs).")] = None,
    as_json: AsJson = False,
) -> None:
    """Sample, validate and vote (SSC), beside greedy decoding; or vote across the recorded outputs of 15 models."""
    from evaluation.running import check_installed

    check_installed()
    if recorded:
        if model is not None or replies is not None or record is not None:
            raise InputError("--recorded asks no model; leave --model, --replies and --record out")
        found = _across(task, recordings, log=log, limit=limit)
        _show(found, Path(logs or "logs") / f"{found.provenance.date.replace(':', '-')}_ssc-recorded", as_json=as_json)
        return
    from evaluation.eai.live_report import result
    from evaluation.running import Run, run

    how = Run(model, limit, at_once=workers, log_dir=logs)
    if resume is not None:
        found = result(_resumed(resume, how))
        _show(found, Path(found.provenance.log), as_json=as_json)
        return
    _check(model, replies, record)
    from evaluation.eai.live import ssc as live

    made = live(
        task_name=task,
        methods=methods,
        prompt_forms=prompts,
        samples=samples,
        replies=str(replies or "live"),
        record=str(record or ""),
        recordings=str(recordings or ""),
    )
    tell("asking; each row of a task is a sample in Inspect's log…")
    found = result(run(made, how))
    _show(found, Path(found.provenance.log), as_json=as_json)


def _show(found: Result, log: Path, *, as_json: bool) -> None:
    """Write the result beside the log, and print it."""
    from evaluation.result import result_path, write

    log.parent.mkdir(parents=True, exist_ok=True)
    write(found, result_path(str(log)))
    print_json(found.model_dump(mode="json")) if as_json else show_result(found)
    if not found.finished:
        raise typer.Exit(2)


def _resumed(file: Path, how: Run) -> EvalLog:
    from evaluation.eai import live
    from evaluation.running import arguments_of, resume

    name, _ = arguments_of(file)
    if name.rpartition("/")[2] != live.ssc.__name__:
        raise InputError(f"{file} is of the experiment {name}; resume it by that one's command")
    tell(f"going on with {file}…")
    return resume(file, how)


def _across(task: str, given: Path | None, *, log: Path | None, limit: int | None) -> Result:
    from evaluation.eai.recordings import TASKS, TaskName, fetched
    from evaluation.ssc.cross_report import cross_result
    from scenecypher.settings import Settings

    tasks: list[TaskName] = [name for name in TASKS if task in {name, ALL}]
    if not tasks:
        raise InputError(f"there is no task {task[:60]!r}; there are {', '.join((*TASKS, ALL))}")
    wheel = given or fetched(Settings().home.expanduser(), tell=tell)
    tell("scoring the outputs of 15 models…")
    return cross_result(tasks, wheel, limit=limit, log=log)


def _check(model: str | None, replies: Path | None, record: Path | None) -> None:
    if (model is None) == (replies is None):
        raise InputError("name a model with --model, or recorded replies with --replies, or vote with --recorded")
    if record is not None and model is None:
        raise InputError("there is nothing to record without a model; name one with --model")

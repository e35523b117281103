"""`scenecypher eval ssc`: Structured Self-Consistency with a model, or votes across recorded models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenecypher.cli.context import tell
from scenecypher.cli.evaluate_eai import recorded_wheel
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
    from scenecypher.evaluation.result import ExperimentResult


def ssc(
    ctx: typer.Context,
    *,
    task: Annotated[
        str, typer.Option("--task", help="goal, action-sequencing, subgoal or transition; with --recorded, or all.")
    ] = "goal",
    model: Annotated[str | None, typer.Option("--model", help="As Inspect names it, such as openai/gpt-4o.")] = None,
    methods: Annotated[
        str, typer.Option("--method", help="greedy, ssc, ssc-merge, ssc-early, ssc-filter; several with commas.")
    ] = "greedy,ssc",
    prompts: Annotated[str, typer.Option("--prompt", help="eai, structured, or both with a comma.")] = "eai,structured",
    samples: Annotated[
        str, typer.Option("--samples", help="How many replies are voted on; several numbers with commas, a row each.")
    ] = "5",
    replies: Replies = None,
    record: Record = None,
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
    workers: Workers = 4,
    resume: Resume = None,
    logs: Logs = None,
    as_json: AsJson = False,
) -> None:
    """Sample, validate and vote (SSC), beside greedy decoding; or vote across the recorded outputs of 15 models."""
    from scenecypher.evaluation.running import RunOptions, check_inspect_installed, run_task

    check_inspect_installed()
    if recorded:
        if model is not None or replies is not None or record is not None or resume is not None:
            raise InputError("--recorded asks no model, in one go; leave --model, --replies, --record and --resume out")
        found = _recorded_votes(task, recordings, log=log, limit=limit)
        deliver(found, log=_log_path(logs, found), as_json=as_json)
        return
    from scenecypher.evaluation.eai.live import ssc as live
    from scenecypher.evaluation.eai.live_report import ssc_result

    how = RunOptions(model, limit, at_once=workers, log_dir=logs)
    if resume is None:
        _check(model, replies, record)
        made = live(
            task_name=task,
            methods=methods,
            prompt_forms=prompts,
            samples=samples,
            replies=absolute_path(replies) or "live",
            record=absolute_path(record),
            recordings=absolute_path(recordings),
        )
        tell("asking; each row of a task is a sample in Inspect's log…")
        ran = run_task(made, how)
    else:
        ran = resume_run(ctx, resume, how)
    deliver(ssc_result(ran), as_json=as_json)


def _recorded_votes(task: str, given: Path | None, *, log: Path | None, limit: int | None) -> ExperimentResult:
    from scenecypher.evaluation.eai.recorded import select_tasks
    from scenecypher.evaluation.ssc.cross_report import cross_result

    tasks, wheel = select_tasks(task), recorded_wheel(given)
    return cross_result(tasks, wheel, limit=limit, log=log, tell=tell)


def _log_path(logs: str | None, found: ExperimentResult) -> str:
    """Return the path of a log in `logs`, so that the result is written beside other results."""
    folder = Path(logs or "logs")
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / f"{found.provenance.date.replace(':', '-')}_ssc-recorded")


def _check(model: str | None, replies: Path | None, record: Path | None) -> None:
    if (model is None) == (replies is None):
        raise InputError("name a model with --model, or recorded replies with --replies, or vote with --recorded")
    check_record(model, record)

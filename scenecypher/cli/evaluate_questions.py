"""`scenecypher eval questions`: the question set, scored by execution."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scenecypher.cli.ask import Form, Verifier
from scenecypher.cli.context import output, tell
from scenecypher.cli.evaluate_run import (
    Logs,
    ModelName,
    Record,
    Replies,
    Resume,
    Workers,
    absolute_path,
    check_replies,
    deliver,
    resume_run,
)
from scenecypher.cli.scenes import AsJson
from scenecypher.cli.table import Column, print_table
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.evaluation.question_report import QuestionReport, ReportLine

Way = Literal["cypher", "text", "text2cypher"]


def questions(
    ctx: typer.Context,
    *,
    model: ModelName = None,
    replies: Replies = None,
    record: Record = None,
    data: Annotated[str, typer.Option("--data", help="virtualhome, babyai, grasif, all, or memory.")] = "all",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many questions.")] = None,
    workers: Workers = 4,
    attempts: Annotated[int, typer.Option("--attempts", min=1, help="How many queries the model may write.")] = 4,
    verifier: Annotated[Verifier, typer.Option("--verifier", help="Whether a model checks the rows.")] = "off",
    form: Annotated[Form, typer.Option("--schema-form", help="How the schema is written for the model.")] = "compact",
    examples: Annotated[int, typer.Option("--examples", min=0, help="Worked examples in the prompt.")] = 4,
    checks: Annotated[bool, typer.Option("--checks", help="Check the form of answers first, without a model.")] = False,
    retrieval: Annotated[
        Way, typer.Option("--retrieval", help="Queries, the whole graph as text, or neo4j-graphrag's own retriever.")
    ] = "cypher",
    logs: Logs = None,
    resume: Resume = None,
    as_json: AsJson = False,
) -> None:
    """Answer the question set, and score it by execution. Without a model: its reference queries, or a cassette."""
    from scenecypher.evaluation.running import RunOptions, check_inspect_installed, run_task

    check_inspect_installed()
    from scenecypher.evaluation.question_report import make_report
    from scenecypher.evaluation.question_result import questions_result
    from scenecypher.evaluation.questions import questions as task
    from scenecypher.evaluation.scenes import check_database

    how = RunOptions(model, limit, at_once=workers, log_dir=logs)
    if resume is None:
        _check(model, replies, record, retrieval=retrieval)
        made = task(
            data=data,
            replies=absolute_path(replies) or ("live" if model else "reference"),
            record=absolute_path(record),
            attempts=attempts,
            verifier=verifier,
            schema_form=form,
            examples=examples,
            checks=checks,
            retrieval=retrieval,
        )
        check_database()
        tell("answering; each question is a sample in Inspect's log…")
        log = run_task(made, how)
    else:
        check_database()
        log = resume_run(ctx, resume, how)
    found = make_report(log)
    deliver(questions_result(log), as_json=as_json, document=found.document, show=partial(_show, found))


def memory(
    ctx: typer.Context,
    *,
    model: ModelName = None,
    replies: Replies = None,
    record: Record = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many questions.")] = None,
    workers: Workers = 4,
    attempts: Annotated[int, typer.Option("--attempts", min=1, help="How many queries the model may write.")] = 4,
    examples: Annotated[int, typer.Option("--examples", min=0, help="Worked examples in the prompt.")] = 4,
    logs: Logs = None,
    resume: Resume = None,
    as_json: AsJson = False,
) -> None:
    """Answer questions about what happened in three histories of our homes, as `eval questions` does."""
    questions(
        ctx,
        model=model,
        replies=replies,
        record=record,
        data="memory",
        limit=limit,
        workers=workers,
        attempts=attempts,
        examples=examples,
        logs=logs,
        resume=resume,
        as_json=as_json,
    )


def _check(model: str | None, replies: Path | None, record: Path | None, *, retrieval: Way) -> None:
    check_replies(model, replies, record)
    if retrieval == "text2cypher" and find_spec("neo4j_graphrag") is None:
        raise InputError("neo4j-graphrag is not installed: run `pip install 'scenecypher[graphrag]'`")


def _show(found: QuestionReport) -> None:
    out = output()
    if not found.finished:
        out.print(f"NOT FINISHED: {found.total.questions} of {found.wanted} questions were tried", style="bold red")
    if found.error:
        out.print(found.error, style="red", markup=False)
    out.print(f"replies: {found.replies}; model: {found.model}; {found.date}; version {found.version}", markup=False)
    numbers = ("n", "right", "share", "95%", "exact", "refused", "failed", "attempts", "tokens")
    columns = (Column("questions"), *(Column(heading, justify="right") for heading in numbers))
    print_table(columns, [_cells(line) for line in (*found.kinds, *found.data, found.total)])
    out.print(f"{found.tokens:,} tokens in all; log: {found.log}", style="dim", markup=False)


def _cells(line: ReportLine) -> tuple[str, ...]:
    return (
        line.name,
        str(line.questions),
        str(line.right),
        f"{line.right / max(1, line.questions):.1%}",
        f"{100 * line.low:.1f} to {100 * line.high:.1f}",
        str(line.exact),
        str(line.refused),
        str(line.failed),
        f"{line.attempts:.2f}",
        f"{line.tokens:,.0f}",
    )

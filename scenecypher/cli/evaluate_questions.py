"""`scenecypher eval questions`: the question set, scored by execution."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scenecypher.cli.ask import Form, Verifier
from scenecypher.cli.context import output, print_json, tell
from scenecypher.cli.scenes import AsJson
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from evaluation.question_report import Line, Report

WIDTH = 100
Way = Literal["cypher", "text", "text2cypher"]


def questions(
    *,
    model: Annotated[
        str | None, typer.Option("--model", help="As Inspect names it, such as openai/gpt-4o; none asks no model.")
    ] = None,
    replies: Annotated[
        Path | None, typer.Option("--replies", metavar="CASSETTE", help="Score these recorded replies instead.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="CASSETTE", help="Record the model's replies in a new file.")
    ] = None,
    data: Annotated[str, typer.Option("--data", help="virtualhome, babyai, grasif or all.")] = "all",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many questions.")] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="How many of them at a time.")] = 4,
    attempts: Annotated[int, typer.Option("--attempts", min=1, help="How many queries the model may write.")] = 4,
    verifier: Annotated[Verifier, typer.Option("--verifier", help="Whether a model checks the rows.")] = "off",
    form: Annotated[Form, typer.Option("--schema-form", help="How the schema is written for the model.")] = "compact",
    examples: Annotated[int, typer.Option("--examples", min=0, help="Worked examples in the prompt.")] = 4,
    checks: Annotated[bool, typer.Option("--checks", help="Check the form of answers first, without a model.")] = False,
    retrieval: Annotated[
        Way, typer.Option("--retrieval", help="Queries, the whole graph as text, or neo4j-graphrag's own retriever.")
    ] = "cypher",
    logs: Annotated[str | None, typer.Option("--log-dir", help="Where Inspect's log goes (./logs).")] = None,
    as_json: AsJson = False,
) -> None:
    """Answer the question set, and score it by execution. Without a model: its reference queries, or a cassette."""
    from evaluation.running import Run, check_installed, run

    check_installed()
    if replies is not None and (model is not None or record is not None):
        raise InputError("--replies needs no model and records nothing; leave --model and --record out")
    if record is not None and model is None:
        raise InputError("there is nothing to record without a model; name one with --model")
    if retrieval == "text2cypher" and find_spec("neo4j_graphrag") is None:
        raise InputError("neo4j-graphrag is not installed: run `pip install 'scenecypher[graphrag]'`")
    from evaluation.question_report import report
    from evaluation.question_result import result
    from evaluation.questions import questions as task
    from evaluation.result import result_path, write
    from evaluation.scenes import check_database

    chosen = str(replies) if replies else "live" if model else "reference"
    made = task(
        data=data,
        replies=chosen,
        record=str(record or ""),
        attempts=attempts,
        verifier=verifier,
        schema_form=form,
        examples=examples,
        checks=checks,
        retrieval=retrieval,
    )
    check_database()
    tell("answering; each question is a sample in Inspect's log…")
    log = run(made, Run(model, limit, at_once=workers, log_dir=logs))
    write(result(log), result_path(log.location))
    found = report(log)
    print_json(found.document()) if as_json else _show(found)
    if not found.finished:
        raise typer.Exit(2)


def _show(found: Report) -> None:
    from rich.table import Table

    out = output()
    if not found.finished:
        out.print(f"NOT FINISHED: {found.total.questions} of {found.wanted} questions were tried", style="bold red")
    if found.error:
        out.print(found.error, style="red", markup=False)
    out.print(f"replies: {found.replies}; model: {found.model}; {found.date}; version {found.version}", markup=False)
    table = Table(box=None, pad_edge=False)
    for heading in ("questions", "n", "right", "share", "95%", "exact", "refused", "failed", "attempts", "tokens"):
        table.add_column(heading, justify="left" if heading == "questions" else "right", no_wrap=True)
    for line in (*found.kinds, *found.data, found.total):
        table.add_row(*_cells(line))
    out.print(table, width=max(out.width, WIDTH), crop=False)
    out.print(f"{found.tokens:,} tokens in all; log: {found.log}", style="dim", markup=False)


def _cells(line: Line) -> tuple[str, ...]:
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

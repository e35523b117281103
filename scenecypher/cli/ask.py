"""`scenecypher ask` and `scenes schema`: a question in words, and the schema that a model is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from scenecypher.cli.context import counted, errors, open_database, output, print_json, print_line
from scenecypher.cli.options import AsJson, Timeouts, with_options
from scenecypher.cli.query import print_rows, read_lines
from scenecypher.cli.scenes import ReadName

if TYPE_CHECKING:
    from rich.console import Console

    from scenecypher.errors import SceneCypherError
    from scenecypher.retriever.events import RetrievalEvent
    from scenecypher.retriever.retrieval import Attempt, Retrieval

Verifier = Literal["off", "words", "paper", "hints"]
Form = Literal["compact", "json", "prose"]
Mode = Literal["cypher", "text"]
Past = Literal["auto", "always", "never"]


@with_options
def ask(
    scene: ReadName,
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="What to find out about the scene.")
    ] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", metavar="QUESTIONS.jsonl", help='Ask many: a line each, {"question": "…"}; "-" is stdin.'
        ),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="How many of them at a time.")] = 4,
    attempts: Annotated[int, typer.Option("--attempts", min=1, help="How many queries the model may write.")] = 4,
    rows: Annotated[bool, typer.Option("--rows", help="Give the rows alone, no sentence: one call less.")] = False,
    verifier: Annotated[
        Verifier,
        typer.Option("--verifier", help="What the model does with the rows: put them into words, or check them too."),
    ] = "words",
    form: Annotated[Form, typer.Option("--schema-form", help="How the schema is written for the model.")] = "compact",
    examples: Annotated[int, typer.Option("--examples", min=0, help="Worked examples in the prompt.")] = 4,
    retrieval: Annotated[
        Mode, typer.Option("--retrieval", help="Let the model write queries, or show it the whole graph as text.")
    ] = "cypher",
    past: Annotated[
        Past,
        typer.Option("--past", help="Tell the model of the past: if it asks for it, always, never."),
    ] = "auto",
    checks: Annotated[bool, typer.Option("--checks", help="Check the form of answers first, without a model.")] = False,
    timeouts: Annotated[Timeouts, {"query_timeout_s", "model_timeout_s", "read_timeout_s", "connect_timeout_s"}],
    as_json: AsJson = False,
) -> None:
    """Ask a scene in words: a model writes Cypher, the gate scopes it, the database answers."""
    from scenecypher.chat.model import model_name
    from scenecypher.db.store.catalog import original_of
    from scenecypher.planner.sessions.asking import keep_answer, keep_answers
    from scenecypher.planner.sessions.recording import RunRecorder
    from scenecypher.planner.sessions.reporting import question_began
    from scenecypher.retriever.retriever import Options, Retriever

    if (question is None) == (file is None):
        raise typer.BadParameter("give either QUESTION or --file QUESTIONS.jsonl")
    check = "off" if rows else verifier
    options = Options(attempts, form, examples=examples, verifier=check, retrieval=retrieval, checks=checks, past=past)
    questions = read_lines(file, "question", example="Where is the cup?") if file else []
    with open_database(timeouts) as db:
        model = db.model()
        retriever = Retriever(model, db.gate, db.enumerator, options, db.meaning)
        info = db.store.materialise(scene)
        original, asked = original_of(info), question or f"{counted(len(questions), 'question')} of {file}"
        recorder = RunRecorder(db.store.database, original, "ask", is_on=db.settings.record_runs)
        began = question_began(asked, original, model_name(model))
        if question is None:
            ask_them = partial(retriever.ask_many, questions, info, workers=workers)
            raise typer.Exit(_print_all(questions, keep_answers(recorder, began, questions, ask_them)))
        found = keep_answer(recorder, began, lambda: final_retrieval(retriever.stream(question, info)))
    show_retrieval(found, as_json=as_json)
    if found.outcome != "answered":
        raise typer.Exit(1)


def _print_all(questions: Sequence[str], answers: Sequence[Retrieval | SceneCypherError]) -> int:
    """Print one JSON result a line, in the order of the questions. Return 2 if one could not be asked, else 0."""
    from scenecypher.retriever.retrieval import Retrieval, retrieval_document

    failed = 0
    for question, found in zip(questions, answers, strict=True):
        if isinstance(found, Retrieval):
            line = {"ok": found.outcome == "answered", **retrieval_document(found)}
        else:
            failed = 2
            line = {"ok": False, "question": question, "outcome": "failed", "message": str(found)}
        print_line(json.dumps(line, ensure_ascii=False))
    return failed


def schema(
    scene: ReadName,
    *,
    question: Annotated[
        str, typer.Option("--for", metavar="QUESTION", help="Trim by what this question mentions.")
    ] = "",
    form: Annotated[Form, typer.Option("--form", help="How it is written.")] = "compact",
    tokens: Annotated[int, typer.Option("--tokens", min=1, help="The most it may take.")] = 2_000,
    as_json: AsJson = False,
) -> None:
    """Show the schema of a scene as a model sees it: never the graph, only the words that occur in it."""
    from scenecypher.retriever.schema_text import schema_text

    with open_database() as db:
        home = db.home_at(scene)
        occurring, vocabulary = home.occurring, home.info.vocabulary
    chosen: Form = "json" if as_json else form
    text = schema_text(occurring, question, vocabulary=vocabulary, form=chosen, budget_tokens=tokens)
    if as_json:
        print_json(json.loads(text))
    else:
        typer.echo(text)


def final_retrieval(events: Iterator[RetrievalEvent], *, refusals: Console | None = None) -> Retrieval:
    """Return the retrieval that ends a stream. Print failed attempts to `refusals`, by default standard error."""
    from scenecypher.retriever.events import Attempted, Doubted, Hinted, Prompted, RetrievalEnded, Verified

    console = refusals or errors()
    for event in events:
        match event:
            case Prompted() | Verified():
                pass
            case Attempted(attempt):
                _print_refusal(console, attempt)
            case Hinted(number, causes):
                console.print(f"attempt {number} found nothing: {'; '.join(causes)}", style="dim", markup=False)
            case Doubted(number, doubts):
                console.print(f"attempt {number} seems wrong: {'; '.join(doubts)}", style="dim", markup=False)
            case RetrievalEnded(retrieval):
                return retrieval
    raise AssertionError


def show_retrieval(retrieval: Retrieval, *, as_json: bool = False) -> None:
    """Print a retrieval: the source of its replies, the answer, the rows, the Cypher."""
    from scenecypher.retriever.retrieval import NOTICES, retrieval_document

    if as_json:
        print_json(retrieval_document(retrieval))
        return
    out = output()
    notice = NOTICES.get(retrieval.source)
    if notice:
        out.print(notice, style="bold yellow", markup=False)
    if retrieval.outcome != "answered":
        why = "can't be answered" if retrieval.outcome == "unanswerable" else "refused"
        errors().print(f"{why}: {retrieval.answer}", markup=False)
        return
    if retrieval.worded or not retrieval.rows:
        out.print(retrieval.answer, style="bold", markup=False)
    if retrieval.cypher is not None:
        print_rows(retrieval.columns, retrieval.rows)
        out.print(retrieval.cypher, style="cyan", markup=False)
    out.print(_summary(retrieval), style="dim", markup=False)


def _print_refusal(console: Console, attempt: Attempt) -> None:
    from scenecypher.retriever.retrieval import Rejected

    if isinstance(attempt.ending, Rejected) and attempt.repeats is None:
        console.print(f"attempt {attempt.number}: {' '.join(attempt.cypher.split())}", style="dim", markup=False)
        console.print(f"  refused: {attempt.ending.message}", style="yellow", markup=False)


def _summary(retrieval: Retrieval) -> str:
    seconds = sum(attempt.seconds for attempt in retrieval.attempts)
    parts = [
        f"{counted(len(retrieval.rows), 'row')} at version {retrieval.version}",
        counted(len(retrieval.attempts), "attempt"),
        f"{1_000 * seconds:.0f} ms in the database",
        f"{retrieval.usage.total_tokens:,} tokens",
    ]
    more = f"; these are {retrieval.truncated}" if retrieval.truncated else ""
    return ", ".join(parts) + more

"""`scenecypher query` and `ask`: Cypher of the user's, or a question for which a model writes it; by the gate."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scenecypher.cli.context import error_document, open_database, print_json, print_line, say, warn
from scenecypher.cli.options import AsJson, ReadName, Timeouts, argument, option, with_options
from scenecypher.cli.table import Column, print_table
from scenecypher.errors import DatabaseUnavailable, DocumentError, InputError, QueryRefused, ServiceError
from scenecypher.wording import counted

if TYPE_CHECKING:
    from scenecypher.db.gate import Answer, Explanation
    from scenecypher.errors import SceneCypherError
    from scenecypher.retriever.events import RetrievalEvent
    from scenecypher.retriever.retrieval import Retrieval, SceneReader

Verifier = Literal["off", "words", "paper", "hints"]
Form = Literal["compact", "json", "prose"]
Mode = Literal["cypher", "text"]
Past = Literal["auto", "always", "never"]


@with_options
def query(
    scene: ReadName,
    cypher: Annotated[str | None, argument("CYPHER", "A reading query.")] = None,
    *,
    file: Annotated[
        Path | None, option("--file", "QUERIES.jsonl", 'Run many: a line each, {"cypher": "…"}; "-" is stdin.')
    ] = None,
    explain: Annotated[bool, option("--explain", "Show what would run, and its plan.")] = False,
    timeouts: Annotated[Timeouts, {"query_timeout_s", "read_timeout_s", "connect_timeout_s"}],
    as_json: AsJson = False,
) -> None:
    """Read a scene with Cypher. Whatever is written reads this scene only, changes nothing and has a bounded cost."""
    if (cypher is None) == (file is None):
        raise typer.BadParameter("give either CYPHER or --file QUERIES.jsonl")
    if file is not None and explain:
        raise typer.BadParameter("--explain shows one query; leave --file out")
    queries = read_lines(file, "cypher", example="MATCH …") if file else []
    with open_database(timeouts) as db:
        reader = db.reader(scene)
        if cypher is None:
            run_queries(reader, queries)
        elif explain:
            _explain(reader, cypher, as_json=as_json)
        else:
            run_one(reader, cypher, as_json=as_json)


def run_queries(reader: SceneReader, queries: Iterable[str]) -> None:
    """Print a JSON line for each query: its answer or its refusal. Raises DatabaseUnavailable."""
    for cypher in queries:
        print_line(json.dumps(result_document(reader, cypher), ensure_ascii=False))


def run_one(reader: SceneReader, cypher: str, *, as_json: bool) -> None:
    """Print the answer to one query. Raises QueryRefused, ServiceError."""
    answer = reader.query(cypher)
    if as_json:
        print_json(_answer_document(answer))
        return
    print_rows(answer.columns, answer.rows)
    rows = counted(len(answer.rows), "row")
    more = f"; these are {answer.truncated}" if answer.truncated else ""
    say(f"{rows} at version {answer.version}, {1_000 * answer.seconds:.0f} ms{more}", style="dim")
    for hint in answer.hints:
        say(f"hint: {hint}")


def _explain(reader: SceneReader, cypher: str, *, as_json: bool) -> None:
    found = reader.explain(cypher)
    why = ("code", "message", "piece", "hint") if found.refused else ()
    document = {
        "ok": found.refused is None,
        **{name: getattr(found.refused, name) for name in why},
        "text": found.text,
        "parameters": dict(found.parameters),
        "plan": asdict(found.plan) if found.plan else None,
    }
    print_json(document) if as_json else _print_explained(found)
    if found.refused is not None:
        raise typer.Exit(1)


def _print_explained(found: Explanation) -> None:
    if (refused := found.refused) is not None:
        say(f"refused ({refused.code}): {refused.message}", style="bold red")
        for title, text in (("at:  ", refused.piece), ("hint:", refused.hint)):
            if text:
                say(f"  {title} {text}")
    if found.text is None:
        return
    say(f"{'accepted; this is' if refused is None else 'this would be'} what the server gets:", style="bold")
    say(found.text, style="cyan")
    for name, value in found.parameters.items():
        say(f"  ${name} = {value!r}")
    if found.cost is not None:
        rows = f"{found.cost.rows:,.0f} rows" if math.isfinite(found.cost.rows) else "any number of rows"
        say(f"at most {rows}, {found.cost.row_steps:,.0f} steps for one")
    if found.plan is not None:
        say("its plan:", style="bold")
        say(found.plan.text())


def result_document(reader: SceneReader, cypher: str) -> dict[str, Any]:
    """Return one query's answer or refusal as a JSON document. Raises DatabaseUnavailable."""
    try:
        return _answer_document(reader.query(cypher))
    except DatabaseUnavailable:
        raise
    except (QueryRefused, ServiceError) as error:
        return error_document(error)


def _answer_document(answer: Answer) -> dict[str, Any]:
    document = {
        "ok": True,
        "columns": list(answer.columns),
        "rows": answer.rows,
        "truncated": answer.truncated,
        "version": answer.version,
    }
    return document | {"hints": list(answer.hints)} if answer.hints else document


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows as a table: text unchanged, other values as JSON."""
    from scenecypher.retriever.retrieval import cell_text

    print_table(list(map(Column, columns)), [list(map(cell_text, row)) for row in rows])


def read_lines(file: Path, key: str, *, example: str) -> list[str]:
    """Return the texts under `key` in a file of JSON lines. Raises DocumentError with all bad lines, InputError."""
    problems: list[tuple[str, str]] = []
    texts: list[str] = []
    name = "standard input" if str(file) == "-" else str(file)
    try:
        content = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{name}: {why}; give a readable file of JSON lines") from error
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        why = f"no text under {key!r}"
        try:
            document = json.loads(line)
        except (ValueError, RecursionError) as error:
            document, why = None, str(error)
        text = document.get(key) if isinstance(document, dict) else None
        if isinstance(text, str):
            texts.append(text)
        else:
            problems.append((f"line {number}", f'{why}; write an object such as {{"{key}": "{example}"}}'))
    if problems:
        raise DocumentError(name, *problems[0], more=problems[1:])
    return texts


@with_options
def ask(
    scene: ReadName,
    question: Annotated[str | None, argument("QUESTION", "What to find out about the scene.")] = None,
    *,
    file: Annotated[
        Path | None, option("--file", "QUESTIONS.jsonl", 'Ask many: a line each, {"question": "…"}; "-" is stdin.')
    ] = None,
    workers: Annotated[int, option("--workers", "How many of them at a time.", min=1)] = 4,
    attempts: Annotated[int, option("--attempts", "How many queries the model may write.", min=1)] = 4,
    rows: Annotated[bool, option("--rows", "Give the rows alone, no sentence: one call less.")] = False,
    verifier: Annotated[
        Verifier, option("--verifier", "What the model does with the rows: put them into words, or check them too.")
    ] = "words",
    form: Annotated[Form, option("--schema-form", "How the schema is written for the model.")] = "compact",
    examples: Annotated[int, option("--examples", "Worked examples in the prompt.", min=0)] = 4,
    retrieval: Annotated[
        Mode, option("--retrieval", "Let the model write queries, or show it the whole graph as text.")
    ] = "cypher",
    past: Annotated[Past, option("--past", "Tell the model of the past: if it asks for it, always, never.")] = "auto",
    checks: Annotated[bool, option("--checks", "Check the form of answers first, without a model.")] = False,
    timeouts: Annotated[Timeouts, {"query_timeout_s", "model_timeout_s", "read_timeout_s", "connect_timeout_s"}],
    as_json: AsJson = False,
) -> None:
    """Ask a scene in words: a model writes Cypher, the gate scopes it, the database answers."""
    from scenecypher.chat.model import model_name
    from scenecypher.db.store.catalog import original_of
    from scenecypher.planner.sessions.recording import RunRecorder, keep_answer, keep_answers
    from scenecypher.planner.sessions.reporting import question_began
    from scenecypher.retriever.retriever import Options, Retriever

    if (question is None) == (file is None):
        raise typer.BadParameter("give either QUESTION or --file QUESTIONS.jsonl")
    if question is not None and not question.strip():
        raise InputError("the QUESTION is empty; write what to find out")
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
    question: Annotated[str, option("--for", "QUESTION", "Trim by what this question mentions.")] = "",
    form: Annotated[Form, option("--form", "How it is written.")] = "compact",
    tokens: Annotated[int, option("--tokens", "The most it may take.", min=1)] = 2_000,
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


def final_retrieval(events: Iterator[RetrievalEvent], *, told: Callable[..., None] = warn) -> Retrieval:
    """Return the retrieval that ends a stream; `told` prints failed attempts, by default on standard error."""
    from scenecypher.retriever.events import Attempted, Doubted, Hinted, Prompted, RetrievalEnded, Verified
    from scenecypher.retriever.retrieval import Attempt, Rejected

    for event in events:
        match event:
            case Prompted() | Verified():
                pass
            case Attempted(Attempt(ending=Rejected(message=why), repeats=None) as attempt):
                told(f"attempt {attempt.number}: {' '.join(attempt.cypher.split())}", style="dim")
                told(f"  refused: {why}", style="yellow")
            case Attempted():
                pass
            case Hinted(number, causes):
                told(f"attempt {number} found nothing: {'; '.join(causes)}", style="dim")
            case Doubted(number, doubts):
                told(f"attempt {number} seems wrong: {'; '.join(doubts)}", style="dim")
            case RetrievalEnded(retrieval):
                return retrieval
    raise AssertionError


def show_retrieval(retrieval: Retrieval, *, as_json: bool = False) -> None:
    """Print a retrieval: the source of its replies, the answer, the rows, the Cypher."""
    from scenecypher.retriever.retrieval import NOTICES, retrieval_document

    if as_json:
        print_json(retrieval_document(retrieval))
        return
    notice = NOTICES.get(retrieval.source)
    if notice:
        say(notice, style="bold yellow")
    if retrieval.outcome != "answered":
        why = "can't be answered" if retrieval.outcome == "unanswerable" else "refused"
        warn(f"{why}: {retrieval.answer}")
        return
    if retrieval.worded or not retrieval.rows:
        say(retrieval.answer, style="bold")
    if retrieval.cypher is not None:
        print_rows(retrieval.columns, retrieval.rows)
        say(retrieval.cypher, style="cyan")
    say(_summary(retrieval), style="dim")


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

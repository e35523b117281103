"""`scenecypher query`: Cypher of the user's, through the same gate as a model's."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenecypher.cli.context import counted, error_document, open_database, output, print_json, print_line
from scenecypher.cli.options import AsJson, Timeouts, with_options
from scenecypher.cli.scenes import ReadName
from scenecypher.cli.table import Column, print_table
from scenecypher.errors import DatabaseUnavailable, DocumentError, InputError, QueryRefused, ServiceError

if TYPE_CHECKING:
    from rich.console import Console

    from scenecypher.db.gate import Answer, Explanation
    from scenecypher.retriever.reader import SceneReader


@with_options
def query(
    scene: ReadName,
    cypher: Annotated[str | None, typer.Argument(metavar="CYPHER", help="A reading query.")] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="QUERIES.jsonl", help='Run many: a line each, {"cypher": "…"}; "-" is stdin.'),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what would run, and its plan.")] = False,
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
            _run_one(reader, cypher, as_json=as_json)


def run_queries(reader: SceneReader, queries: Iterable[str]) -> None:
    """Print a JSON line for each query: its answer or its refusal. Raises DatabaseUnavailable."""
    for cypher in queries:
        print_line(json.dumps(result_document(reader, cypher), ensure_ascii=False))


def _run_one(reader: SceneReader, cypher: str, *, as_json: bool) -> None:
    if not as_json:
        print_answer(reader.query(cypher))
        return
    document = result_document(reader, cypher)
    print_json(document)
    if not document["ok"]:
        raise typer.Exit(1)


def _explain(reader: SceneReader, cypher: str, *, as_json: bool) -> None:
    found = reader.explain(cypher)
    print_json(_explained(found)) if as_json else _print_explained(found)
    if found.refused is not None:
        raise typer.Exit(1)


def _explained(found: Explanation) -> dict[str, Any]:
    refused = found.refused
    why = ("code", "message", "piece", "hint") if refused else ()
    return {
        "ok": refused is None,
        **{name: getattr(refused, name) for name in why},
        "text": found.text,
        "parameters": dict(found.parameters),
        "plan": asdict(found.plan) if found.plan else None,
    }


def _print_explained(found: Explanation) -> None:
    out = output()
    if found.refused is not None:
        _print_refusal(out, found.refused)
    if found.text is None:
        return
    is_accepted = "accepted; this is" if found.refused is None else "this would be"
    out.print(f"{is_accepted} what the server gets:", style="bold")
    out.print(found.text, style="cyan", markup=False)
    for name, value in found.parameters.items():
        out.print(f"  ${name} = {value!r}", markup=False)
    if found.cost is not None:
        rows = f"{found.cost.rows:,.0f} rows" if math.isfinite(found.cost.rows) else "any number of rows"
        out.print(f"at most {rows}, {found.cost.row_steps:,.0f} steps for one", markup=False)
    if found.plan is not None:
        out.print("its plan:", style="bold")
        out.print(found.plan.text(), markup=False)


def _print_refusal(out: Console, refused: QueryRefused) -> None:
    out.print(f"refused ({refused.code}): {refused.message}", style="bold red", markup=False)
    if refused.piece:
        out.print(f"  at:   {refused.piece}", markup=False)
    if refused.hint:
        out.print(f"  hint: {refused.hint}", markup=False)


def result_document(reader: SceneReader, cypher: str) -> dict[str, Any]:
    """Return one query's answer or refusal as a JSON document. Raises DatabaseUnavailable."""
    try:
        answer = reader.query(cypher)
    except DatabaseUnavailable:
        raise
    except (QueryRefused, ServiceError) as error:
        return error_document(error)
    document = {
        "ok": True,
        "columns": list(answer.columns),
        "rows": answer.rows,
        "truncated": answer.truncated,
        "version": answer.version,
    }
    return document | {"hints": list(answer.hints)} if answer.hints else document


def print_answer(answer: Answer) -> None:
    """Print an answer's rows as a table, their number, a note if there are more, and the hints of an empty one."""
    print_rows(answer.columns, answer.rows)
    rows = counted(len(answer.rows), "row")
    more = f"; these are {answer.truncated}" if answer.truncated else ""
    output().print(
        f"{rows} at version {answer.version}, {1_000 * answer.seconds:.0f} ms{more}", style="dim", markup=False
    )
    for hint in answer.hints:
        output().print(f"hint: {hint}", markup=False)


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows as a table: text unchanged, other values as JSON."""
    from scenecypher.retriever.retrieval import cell_text

    print_table(list(map(Column, columns)), [list(map(cell_text, row)) for row in rows])


def read_lines(file: Path, key: str, *, example: str) -> list[str]:
    """Return the texts under `key` in a file of JSON lines. Raises DocumentError with all bad lines, InputError."""
    problems: list[tuple[str, str]] = []
    texts: list[str] = []
    for number, line in _lines(file):
        try:
            texts.append(_text_of(json.loads(line), key))
        except ValueError as error:
            problems.append((f"line {number}", f'{error}; write an object such as {{"{key}": "{example}"}}'))
    if problems:
        raise DocumentError(str(file), *problems[0], more=problems[1:])
    return texts


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: {error}; give a readable file of JSON lines") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line


def _text_of(document: object, key: str) -> str:
    text = document.get(key) if isinstance(document, dict) else None
    if not isinstance(text, str):
        raise ValueError(f"no text under {key!r}")  # noqa: TRY004 - the caller handles one error for all faults of a line
    return text

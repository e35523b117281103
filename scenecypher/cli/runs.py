"""`scenecypher runs`: what was carried out and asked, kept in the database step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenecypher.cli.context import counted, errors, open_store, output, print_json, print_line, tell
from scenecypher.cli.options import AsJson
from scenecypher.cli.session_view import print_event
from scenecypher.cli.table import Column, print_table
from scenecypher.errors import InputError
from scenecypher.files import write_file

if TYPE_CHECKING:
    from scenecypher.db.store.runs import RunInfo
    from scenecypher.planner.sessions.events import Event

COLUMNS = tuple(map(Column, ("run", "began", "scene", "command", "method", "instruction", "end", "steps")))

runs_app = typer.Typer(
    name="runs",
    help="Runs that are kept: what `plan`, `session` and `ask` were told, did, were refused, and how it ended.",
    no_args_is_help=True,
)

Number = Annotated[
    int | None,
    typer.Argument(metavar="N", min=1, help="A run's number, as `runs list` shows it; else the latest."),
]


@runs_app.command("list")
def list_runs(
    scene: Annotated[str | None, typer.Argument(metavar="SCENE", help="Only runs in this scene.")] = None,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Show the last N runs.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List runs, the latest last: what was asked for, and how it ended."""
    from scenecypher.db.store.runs import latest_runs

    with open_store() as store:
        found = [*islice(latest_runs(store.database, scene), limit + 1)]
        runs = found[:limit][::-1]
        if scene is not None and not runs:
            store.find(scene)
    if as_json:
        print_json([_document(run) for run in runs])
    elif runs:
        print_table(COLUMNS, [_row(run) for run in runs])
    else:
        output().print("no runs are kept yet" + (f" of {scene}" if scene else ""), markup=False)
    if len(found) > limit:
        tell(f"there are earlier runs than these {limit:,}; `scenecypher runs list --limit N` shows more")


@runs_app.command()
def show(
    number: Number = None,
    *,
    as_json: AsJson = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write it as one page that needs no server.")
    ] = None,
) -> None:
    """Show a run step by step, as it was seen when it was carried out; with --json as the lines of its log."""
    from scenecypher.db.store.runs import find_run, latest_runs, read_lines

    with open_store() as store:
        run = next(latest_runs(store.database), None) if number is None else find_run(store.database, number)
        if run is None:
            raise InputError("no runs are kept yet; `plan`, `ask` and `session` make them")
        if html is not None:
            _write_page(run, read_lines(store.database, run.number), html)
            return
        tell(_heading(run))
        lines = read_lines(store.database, run.number)
        if as_json:
            for line in (run.line, *lines):
                print_line(json.dumps(json.loads(line), ensure_ascii=False))
        else:
            shown = _print_answer if run.command == "ask" else print_event
            for event in _events(lines):
                shown(event)
    if run.state == "cut off":
        tell(f"cut off; the same command with --resume {run.number} goes on")
    elif run.outcome in {"stopped", "failed"}:
        tell(f"{run.outcome}{f': {run.reason}' if run.reason else ''}")


def _write_page(run: RunInfo, lines: Iterator[str], file: Path) -> None:
    from scenecypher.ui.render import run_file
    from scenecypher.ui.run_view import frames_of

    write_file(file, run_file(run, [*frames_of(lines)]))
    tell(f"wrote {file}")


@runs_app.command()
def delete(numbers: Annotated[list[int], typer.Argument(metavar="N...", min=1, help="The numbers of runs.")]) -> None:
    """Delete runs with their steps. What they did stays in the scene and in its history."""
    from scenecypher.db.store.runs import delete_run, find_run

    with open_store() as store:
        for number in numbers:
            find_run(store.database, number)
        for number in dict.fromkeys(numbers):
            delete_run(store.database, number)
    output().print(f"{counted(len({*numbers}), 'run')} deleted")


def _events(lines: Iterator[str]) -> Iterator[Event]:
    from scenecypher.planner.sessions.events import event_from_document

    return (event_from_document(json.loads(line)) for line in lines)


def _print_answer(event: Event) -> None:
    """Print what `ask` prints: the queries that were refused, the answer, its first rows and its query."""
    from scenecypher.cli.query import print_rows
    from scenecypher.planner.sessions.events import Refused, Retrieved

    if isinstance(event, Refused):
        print_event(event)
    if not isinstance(event, Retrieved):
        return
    for query in event.refused:
        errors().print(f"refused: {' '.join(query.cypher.split())}: {query.reason}", style="dim", markup=False)
    output().print(event.answer, style="bold", markup=False)
    if event.cypher is not None:
        print_rows(event.columns, event.rows)
        if event.found > len(event.rows):
            output().print(f"and {counted(event.found - len(event.rows), 'more row')}", style="dim", markup=False)
        output().print(event.cypher, style="cyan", markup=False)


def _heading(run: RunInfo) -> str:
    by = f" by {run.method}" + (f" with {run.model}" if run.model else "")
    what = f": {run.instruction}" if run.instruction else ""
    return f"run {run.number}, {run.command} in {run.scene_name}{by}, {run.began.astimezone():%Y-%m-%d %H:%M:%S}{what}"


def _row(run: RunInfo) -> tuple[str, ...]:
    began = f"{run.began.astimezone():%Y-%m-%d %H:%M:%S}"
    return (
        str(run.number),
        began,
        run.scene_name,
        run.command,
        run.method,
        run.instruction,
        run.state,
        str(run.steps),
    )


def _document(run: RunInfo) -> dict[str, Any]:
    return {
        "run": run.number,
        "scene": run.scene_name,
        "command": run.command,
        "instruction": run.instruction,
        "method": run.method,
        "model": run.model,
        "actor": run.actor,
        "began": run.began.isoformat(),
        "ended": run.ended.isoformat() if run.ended else None,
        "state": run.state,
        "reason": run.reason,
        "answer": run.answer,
        "version": run.version,
        "last_version": run.last_version,
        "steps": run.steps,
        "tokens_in": run.tokens_in,
        "tokens_out": run.tokens_out,
    }

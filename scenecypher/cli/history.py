"""`scenecypher history`, `undo`, `redo` and `runs`: what was done in a scene, and what was carried out and asked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenecypher.cli.context import delta_document, open_store, print_json, print_line, say, show, tell, warn
from scenecypher.cli.options import AsJson, Name, argument, option
from scenecypher.cli.table import Column, print_table
from scenecypher.cli.worlds import approved
from scenecypher.errors import InputError
from scenecypher.files import write_file
from scenecypher.wording import change_line, counted, event_line, event_times

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.commit import Committed
    from scenecypher.db.store.history import Event as Commit
    from scenecypher.db.store.runs import RunInfo
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.planner.sessions.events import Event, Finished

MOST_SHOWN: Final = 1_000_000_000
COLUMNS = tuple(map(Column, ("run", "began", "scene", "command", "method", "instruction", "end", "steps")))
runs_app = typer.Typer(
    name="runs",
    help="Runs that are kept: what `plan`, `session` and `ask` were told, did, were refused, and how it ended.",
    no_args_is_help=True,
)
Number = Annotated[int | None, argument("N", "A run's number, as `runs list` shows it; else the latest.", min=1)]


def history(
    scene: Name,
    thing: Annotated[str | None, argument("NODE", "Only what happened to this: an id, a name or a class.")] = None,
    *,
    limit: Annotated[int, option("--limit", "-n", "Show the last N events.", min=1, max=MOST_SHOWN)] = 50,
    changes: Annotated[bool, option("--changes", "Show each event's changes too.")] = False,
    replaced: Annotated[
        bool, option("--replaced", "Show the events of the generation that an import replaced last.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a scene's events, or those of one thing: version, time, actor, action; undone ones are marked."""
    from scenecypher.db.store.catalog import find_replaced
    from scenecypher.db.store.history import versions_in_effect

    with open_store() as store:
        info = find_replaced(store.database, scene) if replaced else store.find(scene)
        if thing is None:
            log = [*islice(store.latest(info), limit)][::-1]
            held = versions_in_effect(log)
            earlier = log[0].version - 1 if log else 0
        else:
            whole = store.history(info)
            held = versions_in_effect(whole)
            about = _events_about(thing, store, info, whole)
            log, earlier = about[-limit:], max(0, len(about) - limit)
    if as_json:
        print_json([_event_document(event, holds=event.version in held) for event in log])
    elif thing is not None and not log:
        say(f"no event has changed {thing}")
    else:
        print_history(log, changes=changes, held=held)
        if earlier:
            told = counted(earlier, "earlier event")
            tell(f"{told} not shown; `scenecypher history {scene} --limit N` shows more")


def _events_about(thing: str, store: SceneStore, info: SceneInfo, log: list[Commit]) -> list[Commit]:
    """Return the events that changed a node, each with those changes only; it may be gone by now."""
    from dataclasses import replace

    from scenecypher.db.graph.change import nodes_of
    from scenecypher.db.graph.delta import Delta
    from scenecypher.db.store.reference import resolve_reference

    known = {node for event in log for change in event.delta.changes for node in nodes_of(change)}
    node = thing if thing in known else resolve_reference(store.now(info).graph, thing)
    parts = ((event, [it for it in event.delta.changes if node in nodes_of(it)]) for event in log)
    return [replace(event, delta=Delta.of(changes)) for event, changes in parts if changes]


def print_history(log: list[Commit], *, changes: bool = False, held: frozenset[int] | None = None) -> None:
    """Print events as a table, oldest first; undone ones, which are not `held`, are marked.

    Of a scene with a clock of its own, both times are shown: its own, which queries tell, and the server's.
    """
    from scenecypher.db.store.history import versions_in_effect

    if not log:
        say("no history yet: no action since the import")
        return
    held = versions_in_effect(log) if held is None else held
    has_clock = any(event.clock for event in log)
    rows: list[tuple[str, ...]] = []
    for event in log:
        state = "" if event.version in held else "undone"
        lines = "\n".join(map(change_line, event.delta.changes)) if changes else str(len(event.delta))
        times = [_time(it) if it else "" for it in ((event.clock, event.at) if has_clock else (event.at,))]
        actor = f"{event.actor}, approved by {event.approved_by}" if event.approved_by else event.actor
        rows.append((str(event.version), *times, actor, event.action, lines, state))
    when = ("scene's time", "server's time") if has_clock else ("time",)
    print_table(list(map(Column, ("version", *when, "actor", "action", "changes", ""))), rows)


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def undo(
    scene: Name,
    *,
    to: Annotated[int | None, option("--to", "VERSION", "Undo everything after VERSION.")] = None,
    version: Annotated[int | None, option("--version", "Undo this one action, if it still can be.")] = None,
    as_json: AsJson = False,
) -> None:
    """Undo the latest action in effect, or return to a version. With nothing to undo the exit code is 1.

    The undo is an event of its own, unless the scene is as it was at that version. Where it breaks a rule of the house,
    a person at the terminal is asked; without one it is refused.
    """
    with open_store() as store:
        info = store.find(scene)
        done = approved(partial(store.undo, info, version=version, to=to))
        _print_reverted(store, info, done, as_json=as_json)


def redo(scene: Name, *, as_json: AsJson = False) -> None:
    """Redo the latest undo. With nothing to redo the exit code is 1."""
    with open_store() as store:
        info = store.find(scene)
        done = approved(partial(store.redo, info))
        _print_reverted(store, info, done, as_json=as_json)


def _print_reverted(store: SceneStore, scene: SceneInfo, done: Committed, *, as_json: bool) -> None:
    if done.repeated:
        document: dict[str, Any] = {"version": done.version, "delta": []}
        said = f"{scene.name} is as it was then; nothing to change at version {done.version}"
    else:
        event = store.history(scene, after=done.version - 1)[0]
        document = _event_document(event, holds=True)
        said = f"{event.action}: {counted(len(done.delta), 'change')}, now at version {done.version}"
    show(document, said, as_json=as_json)


def _event_document(event: Commit, *, holds: bool) -> dict[str, Any]:
    return {
        "version": event.version,
        **event_times(event),
        **{name: getattr(event, name) for name in ("actor", "action", "action_id", "kind")},
        "undoes": list(event.undoes),
        **({"approved_by": event.approved_by} if event.approved_by else {}),
        "holds": holds,
        "delta": delta_document(event.delta),
    }


def show_events(events: Iterable[Event], *, as_json: bool = False) -> Finished:
    """Print events as they happen; return the last one."""
    from scenecypher.planner.sessions.events import Finished, event_document

    for event in events:
        if as_json:
            print_line(json.dumps(event_document(event), ensure_ascii=False))
        else:
            print_event(event)
        if isinstance(event, Finished):
            return event
    raise AssertionError


def print_event(event: Event) -> None:
    """Print an event for people; nothing of one that is for logs only."""
    style, line = event_line(event)
    if line:
        say(line, style=style)


@runs_app.command("list")
def list_runs(
    scene: Annotated[str | None, argument("SCENE", "Only runs in this scene.")] = None,
    *,
    limit: Annotated[int, option("--limit", "-n", "Show the last N runs.", min=1, max=MOST_SHOWN)] = 20,
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
        print_json([_run_document(run) for run in runs])
    elif runs:
        print_table(COLUMNS, [_row(run) for run in runs])
    else:
        say("no runs are kept yet" + (f" of {scene}" if scene else ""))
    if len(found) > limit:
        tell(f"there are earlier runs than these {limit:,}; `scenecypher runs list --limit N` shows more")


@runs_app.command("show")
def show_run(
    number: Number = None,
    *,
    as_json: AsJson = False,
    html: Annotated[Path | None, option("--html", "FILE", "Write it as one page that needs no server.")] = None,
) -> None:
    """Show a run step by step, as it was seen when it was carried out; with --json as the lines of its log."""
    from scenecypher.db.store.runs import find_run, latest_runs, read_lines
    from scenecypher.planner.sessions.events import event_from_document

    with open_store() as store:
        run = next(latest_runs(store.database), None) if number is None else find_run(store.database, number)
        if run is None:
            raise InputError("no runs are kept yet; `plan`, `ask` and `session` make them")
        if html is not None:
            from scenecypher.ui.render import run_file
            from scenecypher.ui.views import frames_of

            write_file(html, run_file(run, [*frames_of(read_lines(store.database, run.number))]))
            tell(f"wrote {html}")
            return
        tell(_heading(run))
        lines = read_lines(store.database, run.number)
        if as_json:
            for line in (run.line, *lines):
                print_line(json.dumps(json.loads(line), ensure_ascii=False))
        else:
            shown = _print_answer if run.command == "ask" else print_event
            for line in lines:
                shown(event_from_document(json.loads(line)))
    if run.state == "cut off":
        tell(f"cut off; the same command with --resume {run.number} goes on")
    elif run.outcome in {"stopped", "failed"}:
        tell(f"{run.outcome}{f': {run.reason}' if run.reason else ''}")


@runs_app.command()
def delete(numbers: Annotated[list[int], argument("N...", "The numbers of runs.", min=1)]) -> None:
    """Delete runs with their steps. What they did stays in the scene and in its history."""
    from scenecypher.db.store.runs import delete_run, find_run

    with open_store() as store:
        for number in numbers:
            find_run(store.database, number)
        for number in dict.fromkeys(numbers):
            delete_run(store.database, number)
    say(f"{counted(len({*numbers}), 'run')} deleted")


def _print_answer(event: Event) -> None:
    """Print what `ask` prints: the queries that were refused, the answer, its first rows and its query."""
    from scenecypher.cli.query import print_rows
    from scenecypher.planner.sessions.events import Refused, Retrieved

    if isinstance(event, Refused):
        print_event(event)
    if not isinstance(event, Retrieved):
        return
    for query in event.refused:
        warn(f"refused: {' '.join(query.cypher.split())}: {query.reason}", style="dim")
    say(event.answer, style="bold")
    if event.cypher is not None:
        print_rows(event.columns, event.rows)
        if event.found > len(event.rows):
            say(f"and {counted(event.found - len(event.rows), 'more row')}", style="dim")
        say(event.cypher, style="cyan")


def _heading(run: RunInfo) -> str:
    by = f" by {run.method}" + (f" with {run.model}" if run.model else "")
    what = f": {run.instruction}" if run.instruction else ""
    return f"run {run.number}, {run.command} in {run.scene_name}{by}, {_time(run.began.astimezone())}{what}"


def _row(run: RunInfo) -> tuple[str, ...]:
    began = _time(run.began.astimezone())
    return (str(run.number), began, run.scene_name, run.command, run.method, run.instruction, run.state, str(run.steps))


def _run_document(run: RunInfo) -> dict[str, Any]:
    what = ("command", "instruction", "method", "model", "actor")
    how = ("state", "reason", "answer", "version", "last_version", "steps", "tokens_in", "tokens_out")
    return {
        "run": run.number,
        "scene": run.scene_name,
        **{name: getattr(run, name) for name in what},
        "began": run.began.isoformat(),
        "ended": run.ended.isoformat() if run.ended else None,
        **{name: getattr(run, name) for name in how},
    }

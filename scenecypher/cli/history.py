"""`scenecypher history`, `undo` and `redo`: what was done to a scene, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from scenecypher.cli.context import counted, open_store, output, print_json, table_of
from scenecypher.cli.scenes import AsJson, Name, words

if TYPE_CHECKING:
    from scenecypher.db.store.commit import Committed
    from scenecypher.db.store.history import Event


def history(
    scene: Name,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Show the last N events.")] = 50,
    changes: Annotated[bool, typer.Option("--changes", help="Show each event's changes too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what was done to a scene: version, time, actor, action; what was undone is marked."""
    from scenecypher.db.store.history import versions_in_effect

    with open_store() as store:
        log = store.history(store.find(scene))
    if as_json:
        held = versions_in_effect(log)
        print_json([_document(event, holds=event.version in held) for event in log[-limit:]])
    else:
        print_history(log, limit=limit, changes=changes)


def print_history(log: list[Event], *, limit: int = 50, changes: bool = False) -> None:
    """The last `limit` events as a table, oldest first; what was undone is marked."""
    from scenecypher.db.store.history import versions_in_effect

    if not log:
        output().print("no history yet: nothing was done since the import")
        return
    held = versions_in_effect(log)
    table = table_of("version", "time", "actor", "action", "changes", "")
    for event in log[-limit:]:
        state = "" if event.version in held else "undone"
        lines = "\n".join(map(words, event.delta.changes)) if changes else str(len(event.delta))
        when = event.at.strftime("%Y-%m-%d %H:%M:%S")
        table.add_row(*map(Text, (str(event.version), when, event.actor, event.action, lines, state)))
    output().print(table)


def undo(
    scene: Name,
    *,
    to: Annotated[int | None, typer.Option("--to", metavar="VERSION", help="Undo everything after VERSION.")] = None,
    version: Annotated[int | None, typer.Option("--version", help="Undo this one action, if it still can be.")] = None,
    as_json: AsJson = False,
) -> None:
    """Undo the latest action that still holds, or go back to a version. The undo is an event of its own."""
    if to is not None and version is not None:
        raise typer.BadParameter("give either --to or --version")
    with open_store() as store:
        info = store.find(scene)
        done = store.undo(info, version=version, to=to)
        _print(store.history(info, after=done.version - 1)[0], done, as_json=as_json)


def redo(scene: Name, *, as_json: AsJson = False) -> None:
    """Take the latest undo back."""
    with open_store() as store:
        info = store.find(scene)
        done = store.redo(info)
        _print(store.history(info, after=done.version - 1)[0], done, as_json=as_json)


def _print(event: Event, done: Committed, *, as_json: bool) -> None:
    if as_json:
        print_json(_document(event, holds=True))
        return
    output().print(f"{event.action}: {counted(len(done.delta), 'change')}, now at version {done.version}", markup=False)


def _document(event: Event, *, holds: bool) -> dict[str, Any]:
    import json

    from scenecypher.db.graph.document import delta_json

    return {
        "version": event.version,
        "at": event.at.isoformat(),
        "actor": event.actor,
        "action": event.action,
        "action_id": event.action_id,
        "kind": event.kind,
        "undoes": list(event.undoes),
        "holds": holds,
        "delta": json.loads(delta_json(event.delta)),
    }

"""`scenecypher history`, `undo` and `redo`."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenecypher.cli.approval import approved
from scenecypher.cli.context import counted, open_store, output, print_json, tell
from scenecypher.cli.options import AsJson
from scenecypher.cli.scenes import Name
from scenecypher.cli.table import Column, print_table
from scenecypher.wording import change_line, event_times

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.commit import Committed
    from scenecypher.db.store.history import Event
    from scenecypher.db.store.scene_store import SceneStore


def history(
    scene: Name,
    thing: Annotated[
        str | None, typer.Argument(metavar="NODE", help="Only what happened to this: an id, a name or a class.")
    ] = None,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Show the last N events.")] = 50,
    changes: Annotated[bool, typer.Option("--changes", help="Show each event's changes too.")] = False,
    replaced: Annotated[
        bool, typer.Option("--replaced", help="Show the events of the generation that an import replaced last.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a scene's events, or those of one thing: version, time, actor, action; undone ones are marked."""
    from scenecypher.db.store.catalog import find_replaced
    from scenecypher.db.store.history import versions_in_effect

    with open_store() as store:
        info = find_replaced(store.database, scene) if replaced else store.find(scene)
        if thing is None:
            log = latest_events(store, info, limit)
            held = versions_in_effect(log)
        else:
            whole = store.history(info)
            held = versions_in_effect(whole)
            log = _events_of(thing, store, info, whole)[-limit:]
    if as_json:
        print_json([_document(event, holds=event.version in held) for event in log])
    else:
        print_history(log, changes=changes, held=held)


def latest_events(store: SceneStore, scene: SceneInfo, limit: int) -> list[Event]:
    """Return the last `limit` events, oldest first."""
    return [*islice(store.latest(scene), limit)][::-1]


def _events_of(thing: str, store: SceneStore, info: SceneInfo, log: list[Event]) -> list[Event]:
    """Return the events that changed a node, each with those changes only; it may be gone by now."""
    from dataclasses import replace

    from scenecypher.db.graph.change import nodes_of
    from scenecypher.db.graph.delta import Delta
    from scenecypher.db.store.reference import resolve_reference

    known = {node for event in log for change in event.delta.changes for node in nodes_of(change)}
    node = thing if thing in known else resolve_reference(store.now(info).graph, thing)
    parts = ((event, [it for it in event.delta.changes if node in nodes_of(it)]) for event in log)
    return [replace(event, delta=Delta.of(changes)) for event, changes in parts if changes]


def print_history(log: list[Event], *, changes: bool = False, held: frozenset[int] | None = None) -> None:
    """Print events as a table, oldest first; undone ones, which are not `held`, are marked.

    Of a scene with a clock of its own, both times are shown: its own, which queries tell, and the server's.
    """
    from scenecypher.db.store.history import versions_in_effect

    if not log:
        output().print("no history yet: no action since the import")
        return
    held = versions_in_effect(log) if held is None else held
    has_clock = any(event.clock for event in log)
    rows: list[tuple[str, ...]] = []
    for event in log:
        state = "" if event.version in held else "undone"
        lines = "\n".join(map(change_line, event.delta.changes)) if changes else str(len(event.delta))
        times = [
            f"{it:%Y-%m-%d %H:%M:%S}" if it else "" for it in ((event.clock, event.at) if has_clock else (event.at,))
        ]
        actor = f"{event.actor}, approved by {event.approved_by}" if event.approved_by else event.actor
        rows.append((str(event.version), *times, actor, event.action, lines, state))
    when = ("scene's time", "server's time") if has_clock else ("time",)
    print_table(list(map(Column, ("version", *when, "actor", "action", "changes", ""))), rows)
    older = log[0].version - 1
    if older:
        tell(f"versions 1 to {older:,} are not shown; `scenecypher history SCENE --limit N` shows more")


def undo(
    scene: Name,
    *,
    to: Annotated[int | None, typer.Option("--to", metavar="VERSION", help="Undo everything after VERSION.")] = None,
    version: Annotated[int | None, typer.Option("--version", help="Undo this one action, if it still can be.")] = None,
    as_json: AsJson = False,
) -> None:
    """Undo the latest action in effect, or return to a version. With nothing to undo the exit code is 1.

    The undo is an event of its own, unless the scene is as it was at that version. Where it breaks a rule of the house,
    a person at the terminal is asked; without one it is refused.
    """
    if to is not None and version is not None:
        raise typer.BadParameter("give either --to or --version")
    with open_store() as store:
        info = store.find(scene)
        done = approved(partial(store.undo, info, version=version, to=to))
        _print(store, info, done, as_json=as_json)


def redo(scene: Name, *, as_json: AsJson = False) -> None:
    """Redo the latest undo. With nothing to redo the exit code is 1."""
    with open_store() as store:
        info = store.find(scene)
        done = approved(partial(store.redo, info))
        _print(store, info, done, as_json=as_json)


def _print(store: SceneStore, scene: SceneInfo, done: Committed, *, as_json: bool) -> None:
    if done.repeated:
        if as_json:
            print_json({"version": done.version, "delta": []})
        else:
            output().print(f"{scene.name} is as it was then; nothing to change at version {done.version}", markup=False)
        return
    event = store.history(scene, after=done.version - 1)[0]
    if as_json:
        print_json(_document(event, holds=True))
        return
    output().print(f"{event.action}: {counted(len(done.delta), 'change')}, now at version {done.version}", markup=False)


def _document(event: Event, *, holds: bool) -> dict[str, Any]:
    import json

    from scenecypher.db.graph.graph_json import delta_json

    return {
        "version": event.version,
        **event_times(event),
        "actor": event.actor,
        "action": event.action,
        "action_id": event.action_id,
        "kind": event.kind,
        "undoes": list(event.undoes),
        **({"approved_by": event.approved_by} if event.approved_by else {}),
        "holds": holds,
        "delta": json.loads(delta_json(event.delta)),
    }

"""The history of a scene: its events, the ones still in effect, and the way back to an earlier version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from neo4j import ManagedTransaction

from scenecypher.db.graph.delta import Delta, compose, invert
from scenecypher.db.graph.document import delta_from_json
from scenecypher.errors import InputError, NothingToRedo

EVENTS: Final[LiteralString] = """
MATCH (e:Event {scene: $key}) WHERE e.version > $after RETURN e ORDER BY e.version
"""

EVENTS_OF_OTHERS: Final[LiteralString] = """
MATCH (e:Event {scene: $key}) WHERE 0 < e.version <= $until AND e.actor <> $actor RETURN e ORDER BY e.version
"""


@dataclass(frozen=True, slots=True)
class Event:
    """One commit: the resulting version, its author and its changes.

    `kind` is ``act``, ``undo`` or ``redo``; `undoes` are the versions that it reverted.
    """

    version: int
    at: datetime
    actor: str
    action: str
    action_id: str
    kind: str
    undoes: tuple[int, ...]
    delta: Delta


@dataclass(frozen=True, slots=True)
class Revert:
    """A planned undo or redo: the Delta to commit, the versions that it reverts, and its name in the history."""

    delta: Delta
    undoes: tuple[int, ...]
    action: str


def read_events(tx: ManagedTransaction, key: str, *, after: int = 0) -> list[Event]:
    """Return the events of a scene with a version above `after`, oldest first."""
    return [_event(record["e"]) for record in tx.run(EVENTS, key=key, after=after)]


def read_events_of_others(tx: ManagedTransaction, key: str, *, actor: str, until: int) -> list[Event]:
    """Return the events up to version `until` that are not by `actor`, oldest first, without undos of its events."""
    found: list[Event] = []
    versions: set[int] = set()
    for event in (_event(record["e"]) for record in tx.run(EVENTS_OF_OTHERS, key=key, actor=actor, until=until)):
        if event.kind == "act" or versions & {*event.undoes}:
            found.append(event)
            versions.add(event.version)
    return found


def _event(e: Any) -> Event:
    return Event(
        version=e["version"],
        at=e["at"].to_native(),
        actor=e["actor"],
        action=e["action"],
        action_id=e["action_id"],
        kind=e["kind"],
        undoes=tuple(e["undoes"]),
        delta=delta_from_json(e["delta"]),
    )


def versions_in_effect(log: Sequence[Event]) -> frozenset[int]:
    """Return the versions that are in effect: not reverted by an event that is itself in effect."""
    taken: set[int] = set()
    held: set[int] = set()
    for event in reversed(log):
        if event.version not in taken:
            held.add(event.version)
            taken.update(event.undoes)
    return frozenset(held)


def plan_undo(log: Sequence[Event], *, version: int | None = None, to: int | None = None) -> Revert:
    """Plan the undo of the latest action in effect, of the one of `version`, or of all after version `to`.

    Raises InputError if there is nothing to undo.
    """
    if to is not None:
        return _plan_undo_to(log, to)
    held = versions_in_effect(log)
    for event in reversed(log):
        if event.kind == "act" and event.version in held and version in {None, event.version}:
            return Revert(invert(event.delta), (event.version,), f"undo {event.version}: {event.action}")
    msg = "nothing to undo" if version is None else f"version {version} is no action that still holds"
    raise InputError(msg + "; `scenecypher history` shows what there is")


def plan_redo(log: Sequence[Event]) -> Revert:
    """Plan the undo of the latest undo. Raises NothingToRedo if an action has followed it, or there is none."""
    held = versions_in_effect(log)
    for event in reversed(log):
        if event.kind == "act":
            break
        if event.kind == "undo" and event.version in held:
            return Revert(invert(event.delta), (event.version,), f"redo {', '.join(map(str, event.undoes))}")
    msg = "nothing to redo: the latest change is no undo; `scenecypher history` shows what there is"
    raise NothingToRedo(msg)


def inverse_of(log: Iterable[Event]) -> Delta:
    """Return the Delta that reverts all events of `log`."""
    return invert(compose(event.delta for event in log))


def _plan_undo_to(log: Sequence[Event], to: int) -> Revert:
    newest = log[-1].version if log else 0
    if not 0 <= to < newest:
        msg = f"can't undo to version {to}: the scene has versions 0 to {newest}, and is at {newest}"
        raise InputError(msg)
    later = [event for event in log if event.version > to]
    return Revert(inverse_of(later), tuple(event.version for event in later), f"undo to version {to}")

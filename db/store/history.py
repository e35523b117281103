"""The history of a scene: its events, the ones still in effect, the way back, and the clock that the scene declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Final, LiteralString

from neo4j import ManagedTransaction

from scenecypher.db.graph.delta import Delta, compose, invert
from scenecypher.db.graph.graph_json import delta_from_json
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.consistent_read import Generation
from scenecypher.errors import InputError, NothingToRedo, NothingToUndo, SceneReplaced

# Times as text: the driver's conversion of its own times takes longer than all else of an event.
_EVENT: Final[LiteralString] = """
RETURN e {.version, .actor, .action, .action_id, .kind, .undoes, .delta, .approved_by, at: toString(e.at),
          clock: toString(e.clock)} AS event
"""
# In the order of the index, so that the server reads no more than is asked for.
_EVENT_PAGE: Final[LiteralString] = "MATCH (e:Event {scene: $key}) WHERE $after < e.version <= $until" + _EVENT
EVENT_PAGE: Final[LiteralString] = _EVENT_PAGE + "ORDER BY e.scene, e.version LIMIT $limit"
EVENT_PAGE_NEWEST: Final[LiteralString] = _EVENT_PAGE + "ORDER BY e.scene DESC, e.version DESC LIMIT $limit"
UNDOES: Final[LiteralString] = """
MATCH (e:Event {scene: $key}) WHERE e.version > $after AND e.kind <> 'act'
RETURN e.version AS version, e.undoes AS undoes
"""
EVENTS_OF_OTHERS: Final[LiteralString] = (
    "MATCH (e:Event {scene: $key}) WHERE 0 < e.version <= $until AND e.actor <> $actor" + _EVENT + "ORDER BY e.version"
)
# Every commit has an event of its version: one look in an index for each scene, without reading what changed.
LAST_EVENTS: Final[LiteralString] = """
UNWIND $versions AS last MATCH (e:Event {scene: last[0], version: last[1]})
RETURN e.scene AS key, e.actor AS actor, e.action AS action, toString(e.at) AS at
"""
HEADS: Final[LiteralString] = """
MATCH (e:Event {scene: $key}) WHERE e.version > $after
RETURN e.version AS version, e.actor AS actor, e.action AS action, toString(e.at) AS at ORDER BY e.scene, e.version
"""
ACTORS: Final[LiteralString] = """
MATCH (e:Event {scene: $key}) WHERE $after < e.version <= $until RETURN collect(DISTINCT e.actor) AS actors
"""
EVENT_OF_ACTION: Final[LiteralString] = "MATCH (e:Event {scene: $key, action_id: $action_id})" + _EVENT
LARGEST: Final = 2**63 - 1
FIRST_PAGE: Final = 10
"""Events that are read first, newest first; each further page has twice as many."""


@dataclass(frozen=True, slots=True)
class Event:
    """One commit: the resulting version, its author and its changes.

    `kind` is ``act``, ``undo``, ``redo``, or ``declare`` if only the scene's declarations changed; `undoes` are the
    versions that it reverted. `at` is the server's time, `clock` the time that the scene declares, if it does.
    `approved_by` is the person who approved it, empty if no rule had one asked.
    """

    version: int
    at: datetime
    actor: str
    action: str
    action_id: str
    kind: str
    undoes: tuple[int, ...]
    delta: Delta
    clock: datetime | None = None
    approved_by: str = ""


@dataclass(frozen=True, slots=True)
class EventHead:
    """A commit without its changes: who made it, what, and when by the server's clock."""

    actor: str
    action: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Revert:
    """A planned undo or redo: the Delta to commit, the versions that it reverts, and its name in the history."""

    delta: Delta
    undoes: tuple[int, ...]
    action: str


def read_events(
    database: Database, key: str, *, after: int = 0, until: int = LARGEST, limit: int = LARGEST, newest: bool = False
) -> list[Event]:
    """Return at most `limit` events with a version above `after` and up to `until`, oldest first, or newest first."""
    text: LiteralString = EVENT_PAGE_NEWEST if newest else EVENT_PAGE
    return _events(database, text, {"key": key, "after": after, "until": until, "limit": limit})


def read_events_of_others(database: Database, key: str, *, actor: str, until: int) -> list[Event]:
    """Return the events up to version `until` that are not by `actor`, oldest first, without undos of its events."""
    found: list[Event] = []
    versions: set[int] = set()
    for event in _events(database, EVENTS_OF_OTHERS, {"key": key, "actor": actor, "until": until}):
        if event.kind == "act" or versions & {*event.undoes}:
            found.append(event)
            versions.add(event.version)
    return found


def event_of_action(database: Database, key: str, action_id: str) -> Event | None:
    """Return the event of an action, None if it was not committed."""
    return next(iter(_events(database, EVENT_OF_ACTION, {"key": key, "action_id": action_id})), None)


def read_actors(database: Database, key: str, *, after: int, until: int) -> frozenset[str]:
    """Return who made the events with a version above `after` and up to `until`."""
    record = database.row(ACTORS, {"key": key, "after": after, "until": until})
    return frozenset(record["actors"] if record else ())


def last_events(database: Database, scenes: Iterable[SceneInfo]) -> dict[str, EventHead]:
    """Return the event of each scene's version, by the scenes' keys, by one statement; none of a version without."""
    versions = [[it.key, it.version] for it in scenes if it.version]
    records = database.rows(LAST_EVENTS, {"versions": versions}) if versions else []
    return {it["key"]: EventHead(it["actor"], it["action"], _time_of(it["at"])) for it in records}


def read_heads(database: Database, key: str, *, after: int) -> list[tuple[int, EventHead]]:
    """Return the commits with a version above `after`, oldest first, with their versions; no changes are read."""
    records = database.rows(HEADS, {"key": key, "after": after}, timeout_s=2 * database.read_timeout_s)
    return [(it["version"], EventHead(it["actor"], it["action"], _time_of(it["at"]))) for it in records]


def undone_versions(database: Database, key: str, *, after: int) -> frozenset[int]:
    """Return the versions that were reverted by an event above version `after` that is itself in effect."""
    records = database.rows(UNDOES, {"key": key, "after": after}, timeout_s=2 * database.read_timeout_s)
    return taken_back({record["version"]: record["undoes"] for record in records})


def taken_back(undoes: Mapping[int, Sequence[int]]) -> frozenset[int]:
    """Return the versions that events in effect took back, given what each undo and redo took back."""
    taken: set[int] = set()
    for version in sorted(undoes, reverse=True):
        if version not in taken:
            taken.update(undoes[version])
    return frozenset(taken)


def versions_in_effect(log: Sequence[Event]) -> frozenset[int]:
    """Return the versions that are in effect: not reverted by an event that is itself in effect."""
    return frozenset(event.version for event in in_effect(reversed(log)))


def in_effect(latest: Iterable[Event]) -> Iterator[Event]:
    """Yield the events in effect, given newest first: what reverts an event is younger."""
    taken: set[int] = set()
    for event in latest:
        if event.version not in taken:
            taken.update(event.undoes)
            yield event


def plan_undo(latest: Iterable[Event], *, version: int | None = None, to: int | None = None) -> Revert:
    """Plan the undo of the latest action in effect, of the one of `version`, or of all after version `to`.

    `latest` are the events, newest first; no more are taken than needed. Raises NothingToUndo, InputError for both.
    """
    if to is not None and version is not None:
        raise InputError("give either the version to undo or the one to go back to (to), not both")
    if to is not None:
        return _plan_undo_to(latest, to)
    for event in in_effect(latest):
        if version is not None and event.version < version:
            break
        if event.kind == "act" and version in {None, event.version}:
            return Revert(invert(event.delta), (event.version,), f"undo {event.version}: {event.action}")
    msg = "nothing to undo" if version is None else f"version {version} is no action that still holds"
    raise NothingToUndo(msg + "; `scenecypher history` shows what there is")


def plan_redo(latest: Iterable[Event]) -> Revert:
    """Plan the undo of the latest undo; `latest` are the events, newest first.

    Raises NothingToRedo if an action has followed it, or there is none.
    """
    for event in in_effect(latest):
        if event.kind == "act":
            break
        if event.kind == "undo":
            first, last = min(event.undoes), max(event.undoes)
            what = str(first) if first == last else f"{first} to {last}"
            return Revert(invert(event.delta), (event.version,), f"redo {what}")
    raise NothingToRedo("nothing to redo: the latest change is no undo; `scenecypher history` shows what there is")


def inverse_of(log: Iterable[Event]) -> Delta:
    """Return the Delta that reverts all events of `log`."""
    return invert(compose(event.delta for event in log))


def _plan_undo_to(latest: Iterable[Event], to: int) -> Revert:
    events = iter(latest)
    last = next(events, None)
    newest = last.version if last else 0
    if last is None or not 0 <= to < newest:
        raise InputError(f"can't undo to version {to}: the scene has versions 0 to {newest}, and is at {newest}")
    later = [last, *takewhile(lambda event: event.version > to, events)][::-1]
    return Revert(inverse_of(later), tuple(event.version for event in later), f"undo to version {to}")


def _events(database: Database, text: LiteralString, given: Mapping[str, Any]) -> list[Event]:
    return [_event_of(record["event"]) for record in database.rows(text, given, timeout_s=2 * database.read_timeout_s)]


def _event_of(stored: Mapping[str, Any]) -> Event:
    return Event(
        version=stored["version"],
        at=_time_of(stored["at"]),
        actor=stored["actor"],
        action=stored["action"],
        action_id=stored["action_id"],
        kind=stored["kind"],
        undoes=tuple(stored["undoes"]),
        delta=delta_from_json(stored["delta"]),
        clock=_time_of(stored["clock"]) if stored["clock"] else None,
        approved_by=stored["approved_by"] or "",
    )


def _time_of(stored: str) -> datetime:
    """Return a time in UTC from its text, of which the name of the zone is left out."""
    return datetime.fromisoformat(stored.partition("[")[0]).astimezone(UTC)


DECLARE: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WHERE s.status = 'ready'
SET s.clock = $now, s.clock_start = coalesce($start, s.clock_start, $now)
RETURN s.key AS key
"""
DECLARE_TIMES: Final[LiteralString] = """
UNWIND $rows AS row MATCH (e:Event {scene: $key, version: row[0]}) SET e.clock = datetime(row[1])
"""


def parse_time(text: str) -> datetime:
    """Return a time in ISO form; one without zone is the user's own. Raises InputError."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as error:
        msg = f"{text[:40]!r} is no time; write it as 2026-11-23T10:15, or with a zone as 2026-11-23T10:15+01:00"
        raise InputError(msg) from error
    return time if time.tzinfo else time.astimezone()


def declare_time(database: Database, scene: Generation, time: datetime) -> None:
    """Set the scene's own clock; each event from now on has that time, until the clock is set again.

    Events before the first declaration count as of that time. Raises InputError for a time without zone, SceneReplaced.
    """
    if database.execute(DECLARE, {"key": scene.key, "now": in_utc(time), "start": None}) is None:
        raise SceneReplaced(scene.name)


def declare_times(database: Database, scene: Generation, start: datetime, times: Mapping[int, datetime]) -> None:
    """Set the times, by version, at which a recording says that its events happened; it began at `start`.

    Raises InputError for a time without zone, SceneReplaced.
    """
    utc = {version: in_utc(time) for version, time in times.items()}
    began = in_utc(start)
    given = {"key": scene.key, "start": began, "now": max(utc.values(), default=began)}
    rows = [[version, time.isoformat()] for version, time in utc.items()]

    def work(tx: ManagedTransaction) -> None:
        if tx.run(DECLARE, given).single() is None:
            raise SceneReplaced(scene.name)
        tx.run(DECLARE_TIMES, key=scene.key, rows=rows).consume()

    database.transaction(work, access="write")


def in_utc(time: datetime) -> datetime:
    """Return a time in UTC, as every time is stored and sent: the server orders equal moments of two zones apart.

    The driver's own conversion of named zones can crash the interpreter. Raises InputError for a time without zone, or
    one that has no equal in UTC.
    """
    if time.tzinfo is None:
        raise InputError(f"{time.isoformat()} has no zone; add one, such as +00:00")
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise InputError(f"the time {time.isoformat()} is out of range; give a later one") from error

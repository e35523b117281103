"""The clock that a scene declares: the simulated time of an episode, or the time stamps of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, LiteralString

from neo4j import ManagedTransaction

from scenecypher.db.store.connection import Database
from scenecypher.db.store.consistent_read import Generation
from scenecypher.errors import InputError, SceneReplaced

DECLARE: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WHERE s.status = 'ready'
SET s.clock = $time, s.clock_start = coalesce(s.clock_start, $time)
RETURN s.key AS key
"""
DECLARE_START: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WHERE s.status = 'ready'
SET s.clock = $now, s.clock_start = $start
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
    if database.execute(DECLARE, {"key": scene.key, "time": in_utc(time)}) is None:
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
        if tx.run(DECLARE_START, given).single() is None:
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

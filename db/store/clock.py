"""The clock that a scene declares: the simulated time of an episode, or the time stamps of a recording."""

from __future__ import annotations

from datetime import datetime
from typing import Final, LiteralString

from scenecypher.db.store.connection import Database
from scenecypher.db.store.steady import Generation
from scenecypher.errors import InputError, SceneReplaced

DECLARE: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WHERE s.status = 'ready'
SET s.clock = $time, s.clock_start = coalesce(s.clock_start, $time)
RETURN count(*) AS declared
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
    if time.tzinfo is None:
        raise InputError(f"{time.isoformat()} has no zone; add one, such as +00:00")
    record = database.write(lambda tx: tx.run(DECLARE, key=scene.key, time=time).single(strict=True))
    if not record["declared"]:
        raise SceneReplaced(scene.name)

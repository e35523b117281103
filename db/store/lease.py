"""Leases: copies of a scene that workers use in turn, each with an expiry and a base version."""

from __future__ import annotations

import json
from typing import Final, LiteralString

from scenecypher.db.store.catalog import SceneInfo, info_of
from scenecypher.db.store.connection import Database
from scenecypher.db.store.runs import Process, is_gone, this_process

LEASE_S: Final = 12 * 3_600
"""Time until a lease expires, longer than any sample: it is not renewed. It counts for workers of other machines only:
the copy of a process of this machine that has ended is taken over as soon as one is needed."""
ACQUIRE_TRIES: Final = 3
"""Attempts of a worker to lease a copy that others take first, before one more copy is created."""

FREE_COPIES: Final = 16
"""The most copies of one scene, of all of its versions together, that are kept free for the next lease."""

# The first SET only takes the lock. The decision rests on the copy as matched again after it: while another worker
# takes a copy, the server may show one of its properties before and another after that change.
ACQUIRE: Final[LiteralString] = """
MATCH (s:Scene {status: 'ready', copied_from: $origin})
WHERE s.leased IS NOT NULL AND (s.free OR s.leased_until < datetime())
WITH s LIMIT 1
SET s:Scene
WITH s.key AS key
OPTIONAL MATCH (copy:Scene {key: key, status: 'ready'}) WHERE copy.free OR copy.leased_until < datetime()
SET copy.free = false, copy.leased_until = datetime() + duration({seconds: $lease_s}), copy.leased = $holder
RETURN copy
"""
# Those that were leased last stay.
IDLE: Final[LiteralString] = """
MATCH (s:Scene {status: 'ready'})
WHERE s.leased IS NOT NULL AND s.copied_from STARTS WITH $origin AND (s.free OR s.leased_until < datetime())
      AND s.leased_until <= datetime() + duration({seconds: $lease_s - $grace_s})
WITH s ORDER BY s.leased_until DESC, s.key SKIP $keep RETURN s.key AS key ORDER BY key
"""
# Whoever is to delete a copy takes its lock, so that nobody leases it meanwhile. The belief about it goes with it.
GIVE_UP: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene
WITH s WHERE s.status = 'ready' AND (s.free OR s.leased_until < datetime())
SET s.status = 'deleting', s.was = s.name, s.name = null
WITH s OPTIONAL MATCH (b:Scene {status: 'ready'}) WHERE b.world = s.key
SET b.status = 'deleting', b.was = b.name, b.name = null
WITH s.key AS key, collect(b.key) AS beliefs RETURN [key] + beliefs AS keys
"""
COPIES: Final[LiteralString] = """
MATCH (s:Scene {status: 'ready'}) WHERE s.leased IS NOT NULL
RETURN count(*) AS leased_copies, count(CASE WHEN s.free OR s.leased_until < datetime() THEN 1 END) AS free_copies
"""
HOLDERS: Final[LiteralString] = """
MATCH (s:Scene {status: 'ready', copied_from: $origin}) WHERE s.leased IS NOT NULL AND coalesce(s.free, false) = false
RETURN DISTINCT s.leased AS holder
"""
EXPIRE: Final[LiteralString] = """
MATCH (s:Scene {status: 'ready', copied_from: $origin}) WHERE s.leased IN $holders AND coalesce(s.free, false) = false
SET s.leased_until = datetime() - duration({seconds: 1})
WITH count(*) AS expired WHERE expired > 0 RETURN expired
"""
# Only at that version: a late write of a cut connection must not become the next worker's base.
REBASE: Final[LiteralString] = "MATCH (s:Scene {key: $key, version: $version}) SET s.base = s.version"
RELEASE: Final[LiteralString] = REBASE + ", s.free = true"


def acquire(database: Database, origin: str, *, timeout_s: float) -> SceneInfo | None:
    """Lease a free copy of `origin` to the caller, or one whose holder has ended; None if there is none."""
    given = {"origin": origin, "lease_s": LEASE_S, "holder": holder()}
    for _ in range(ACQUIRE_TRIES):
        found = database.execute(ACQUIRE, given, timeout_s=timeout_s)
        if found is None:
            if not _expire_ended(database, origin, timeout_s=timeout_s):
                return None
        elif found["copy"] is not None:
            return info_of(found["copy"])
    return None


def holder() -> str:
    """Return what names the holder of a lease: this process."""
    process = this_process()
    return json.dumps([process.space, process.host, process.pid])


def _expire_ended(database: Database, origin: str, *, timeout_s: float) -> bool:
    """End the leases of `origin` that processes of this machine held which have ended; return True if there are any."""
    held = (record["holder"] for record in database.rows(HOLDERS, {"origin": origin}))
    given = {"origin": origin, "holders": [it for it in held if _has_ended(it)]}
    return bool(given["holders"]) and database.execute(EXPIRE, given, timeout_s=timeout_s) is not None


def _has_ended(held_by: str) -> bool:
    """Check if the holder is known to be gone; of another machine or container that can't be known.

    Its start is not compared: it is told by a clock that may be set while the holder works.
    """
    try:
        space, host, pid = json.loads(held_by)
    except ValueError:  # of an earlier version: it named no process
        return False
    return is_gone(Process(host, pid, space=space))


def release(database: Database, copy: SceneInfo, version: int, *, timeout_s: float) -> None:
    """Release a copy to others as of `version`."""
    database.execute(RELEASE, {"key": copy.key, "version": version}, timeout_s=timeout_s)


def rebase(database: Database, scene: SceneInfo, version: int, *, timeout_s: float) -> None:
    """Make `version` the base to which the caller's scene is reset."""
    database.execute(REBASE, {"key": scene.key, "version": version}, timeout_s=timeout_s)


def give_up_idle(database: Database, origin: str = "", *, keep: int = 0, grace_s: float = 0.0) -> list[str]:
    """Take copies that nobody uses from later leases; return the keys of generations that are now to be deleted.

    Of the copies whose origin begins with `origin`, the `keep` that were leased last stay, and those leased since
    `grace_s` seconds ago.
    """
    given = {"origin": origin, "keep": keep, "grace_s": round(grace_s), "lease_s": LEASE_S}
    given_up = (database.execute(GIVE_UP, {"key": idle["key"]}) for idle in database.rows(IDLE, given))
    return [key for record in given_up if record for key in record["keys"]]


def count_copies(database: Database) -> dict[str, int]:
    """Return the number of leased copies, and of those that are free, by the names of these facts."""
    record = database.row(COPIES)
    return dict(record) if record else {}

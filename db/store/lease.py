"""Leases: copies of a scene that workers use in turn, each with an expiry and a base version."""

from __future__ import annotations

from typing import Final, LiteralString

from neo4j import ManagedTransaction, Record

from scenecypher.db.store.catalog import SceneInfo, info_of
from scenecypher.db.store.connection import Database

LEASE_S: Final = 12 * 3_600
"""Time until a lease expires, longer than any sample: it is not renewed. Meanwhile a dead worker's copy is idle."""
ACQUIRE_TRIES: Final = 3
"""Attempts of a worker to lease a copy that others take first, before one more copy is created."""

# The first SET only takes the lock. The decision rests on the copy as matched again after it: while another worker
# takes a copy, the server may show one of its properties before and another after that change.
ACQUIRE: Final[LiteralString] = """
MATCH (s:Scene {status: 'ready', copied_from: $origin})
WHERE s.leased IS NOT NULL AND (s.free OR s.leased_until < datetime())
WITH s LIMIT 1
SET s:Scene
WITH s.key AS key
OPTIONAL MATCH (copy:Scene {key: key}) WHERE copy.free OR copy.leased_until < datetime()
SET copy.free = false, copy.leased_until = datetime() + duration({seconds: $lease_s})
RETURN copy
"""
# Only at that version: a late write of a cut connection must not become the next worker's base.
REBASE: Final[LiteralString] = "MATCH (s:Scene {key: $key, version: $version}) SET s.base = s.version"
RELEASE: Final[LiteralString] = REBASE + ", s.free = true"


def acquire(database: Database, origin: str, *, timeout_s: float) -> SceneInfo | None:
    """Lease a free copy of `origin` to the caller; None if none is free."""

    def work(tx: ManagedTransaction) -> Record | None:
        return tx.run(ACQUIRE, origin=origin, lease_s=LEASE_S).single()

    for _ in range(ACQUIRE_TRIES):
        found = database.write(work, timeout_s=timeout_s)
        if found is None:
            return None
        if found["copy"] is not None:
            return info_of(found["copy"])
    return None


def release(database: Database, copy: SceneInfo, version: int, *, timeout_s: float) -> None:
    """Release a copy to others as of `version`."""
    database.write(lambda tx: tx.run(RELEASE, key=copy.key, version=version).consume(), timeout_s=timeout_s)


def rebase(database: Database, scene: SceneInfo, version: int, *, timeout_s: float) -> None:
    """Make `version` the base to which the caller's scene is reset."""
    database.write(lambda tx: tx.run(REBASE, key=scene.key, version=version).consume(), timeout_s=timeout_s)

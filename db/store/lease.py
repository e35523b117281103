"""Copies of a scene that workers take in turn: which is free, who has it until when, and where it starts from."""

from __future__ import annotations

from typing import Final, LiteralString

from neo4j import ManagedTransaction, Record

from scenecypher.db.store.catalog import SceneInfo, info_of
from scenecypher.db.store.connection import Database

LEASE_S: Final = 12 * 3_600
"""Longer than any sample: a lease is not renewed. The copy of a worker that died rests so long; another is made."""
ACQUIRE_TRIES: Final = 3
"""How often a worker tries for a copy that another took first, before one more is made."""

# The first SET, of a label that is there, only takes the lock. What decides is read after it, of the copy found anew:
# of one that is just being taken, the server may show one property as it was and another as it will be.
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
# At that version only: what a cut connection has written since the reset must not become the next worker's start.
REBASE: Final[LiteralString] = "MATCH (s:Scene {key: $key, version: $version}) SET s.base = s.version"
RELEASE: Final[LiteralString] = REBASE + ", s.free = true"


def acquire(database: Database, origin: str, *, timeout_s: float) -> SceneInfo | None:
    """A free copy of `origin`, which is the caller's from now on; None where none is free."""

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
    """Let others take it as it is at `version`."""
    database.write(lambda tx: tx.run(RELEASE, key=copy.key, version=version).consume(), timeout_s=timeout_s)


def rebase(database: Database, scene: SceneInfo, version: int, *, timeout_s: float) -> None:
    """Let a scene of one's own start from `version` on."""
    database.write(lambda tx: tx.run(REBASE, key=scene.key, version=version).consume(), timeout_s=timeout_s)

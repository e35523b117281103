"""Consistent reads: what is read belongs to one version of its scene, without a lock and without a right to write.

A server shows a commit part by part while it applies it, in the order of its records: the version may come first or
last. So an equal version before and after a read proves nothing by itself. But the bookmark that ends each read names
every commit of which it may have seen a part, and a read that begins with that bookmark waits until those are applied
(`Database` passes bookmarks on from read to read). A commit that was half applied during a read is thus whole when the
version is read after it, and the version has moved.

If a read ends with the bookmark that it began with, and so did the read that looked at the version, nothing was
committed from that look on: no second look is needed (`ReadBookmarks.epoch`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final, LiteralString, Protocol, TypeVar

from neo4j import ManagedTransaction, Record

from scenecypher.db.store.connection import Database, retry_once_on_disconnect
from scenecypher.errors import QueryFailed, SceneReplaced, ServiceError

T = TypeVar("T")

STATUS_AND_VERSION: Final[LiteralString] = "RETURN s.status AS status, s.version AS version"
LOOK: Final[LiteralString] = "MATCH (s:Scene {key: $key}) " + STATUS_AND_VERSION
# Setting a label that is present takes the lock and writes nothing: a running commit is waited for.
LOOK_UNDER_LOCK: Final[LiteralString] = "MATCH (s:Scene {key: $key}) SET s:Scene " + STATUS_AND_VERSION
STEADY_TRIES: Final = 8
"""Maximum reads while the scene changes."""
TRIES_BEFORE_LOCK: Final = 3
"""Reads without a lock; if writers interrupt each, one read under the lock makes them wait."""

WRITE_REFUSED: Final = frozenset({"Neo.ClientError.Statement.AccessMode", "Neo.ClientError.Security.Forbidden"})
"""Codes of the server's refusals to write."""


class Generation(Protocol):
    """A generation of a scene: its key, and its name for messages."""

    @property
    def key(self) -> str:
        """The key that members carry."""
        ...

    @property
    def name(self) -> str:
        """The name that people use."""
        ...


class SceneChanging(ServiceError):
    """A scene changed during each try to read it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"scene {name!r} changes faster than it is read; ask again", retryable=True)


def read_consistently(
    database: Database,
    scene: Generation,
    read: Callable[[], T],
    *,
    tries: int = STEADY_TRIES,
    status: str = "ready",
    until: float = math.inf,
) -> tuple[T, int]:
    """Return what `read` returns, and the version that the scene had before, during and after that read.

    `read` reads through `database`, in read access mode, and is repeated if the scene changed. It costs no round trip
    besides its own if nothing was committed to the database since the last look; else one: versions only grow, so the
    version that was seen last, however long ago, serves as the one before.

    `until`, on the clock `time.monotonic`, no try begins after which another one would not fit. Raises SceneReplaced if
    this generation has another status, SceneChanging.
    """
    before, took = known_version(database, scene, status=status), 0.0
    for number in range(tries):
        began, epoch = time.monotonic(), database.bookmarks.epoch
        if number and began + 2 * took > until:
            break
        value = retry_once_on_disconnect(read)
        if status == "ready" and database.versions.is_steady(scene.key, before, epoch) and _still(database, epoch):
            return value, before
        after, took = current_version(database, scene, status=status), time.monotonic() - began
        if after == before:
            return value, after
        before = after
    raise SceneChanging(scene.name)


def read_until(database: Database, scene: Generation, read: Callable[[], T], *, until: float) -> tuple[T, int]:
    """Return what `read` returns, and its version, as `read_consistently`, by a deadline on the clock `time.monotonic`.

    The last try is made while this process holds the scene's lock, so that nobody changes it meanwhile. Raises
    SceneReplaced; SceneChanging if this connection may not write, so that it can't take the lock.
    """
    try:
        return read_consistently(database, scene, read, tries=TRIES_BEFORE_LOCK, until=until)
    except SceneChanging:
        timeout_s = max(1.0, until - time.monotonic() + 1.0)
        found = _read_under_lock(database, scene, lambda _: read(), timeout_s=timeout_s)
        return read_consistently(database, scene, read, until=until) if found is None else found


def consistent_transaction(
    database: Database,
    scene: Generation,
    work: Callable[[ManagedTransaction], T],
    *,
    timeout_s: float | None = None,
    status: str = "ready",
) -> tuple[T, int]:
    """Return what `work` reads, and its version; under the scene's lock if writers leave no pause.

    Raises SceneReplaced; SceneChanging if this connection may not write, so that it can't take the lock.
    """

    def read() -> T:
        return database.transaction(work, timeout_s=timeout_s)

    try:
        return read_consistently(database, scene, read, tries=TRIES_BEFORE_LOCK, status=status)
    except SceneChanging:
        limit_s = timeout_s or database.read_timeout_s
        found = _read_under_lock(database, scene, work, timeout_s=limit_s, status=status)
        if found is None:
            raise
        return found


def _read_under_lock(
    database: Database,
    scene: Generation,
    work: Callable[[ManagedTransaction], T],
    *,
    timeout_s: float,
    status: str = "ready",
) -> tuple[T, int] | None:
    """Return what `work` reads while this process holds the scene's lock, and its version; None if it may not write."""

    def locked(tx: ManagedTransaction) -> tuple[T, int]:
        version = _version_of(tx.run(LOOK_UNDER_LOCK, key=scene.key).single(), scene, status)
        return work(tx), version

    try:
        return database.transaction(locked, access="write", timeout_s=timeout_s)
    except QueryFailed as error:
        if error.code in WRITE_REFUSED:
            return None
        raise


def known_version(database: Database, scene: Generation, *, status: str = "ready") -> int:
    """Return the version that this process saw last, or else the current one. Raises SceneReplaced."""
    latest = database.versions.latest(scene.key)
    return current_version(database, scene, status=status) if latest is None else latest


def current_version(database: Database, scene: Generation, *, status: str = "ready") -> int:
    """Return the version, from a read that begins now. Raises SceneReplaced."""

    def look() -> int:
        record = database.row(LOOK, {"key": scene.key})
        return _version_of(record, scene, status)

    epoch = database.bookmarks.epoch
    version = database.versions.fresh(scene.key, look)
    if status == "ready" and epoch is not None and _still(database, epoch):
        database.versions.note_steady(scene.key, version, epoch)
    return version


def _still(database: Database, epoch: int | None) -> bool:
    """Check whether all reads since `epoch` saw the same state of the database."""
    return database.bookmarks.epoch == epoch


def _version_of(record: Record | None, scene: Generation, status: str) -> int:
    if record is None or record["status"] != status:
        raise SceneReplaced(scene.name)
    return int(record["version"])

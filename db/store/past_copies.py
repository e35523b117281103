"""Cached copies of earlier versions, for queries: generations without a name, which only `past_copy` finds.

They are written like any generation, and found once they are whole. Of two readers who write the same one the first to
end wins, and the other takes it. At most COPIES_KEPT are kept, of MEMBERS_KEPT nodes and relations together; `db clean`
deletes all after its grace time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, LiteralString

from neo4j import Record

from scenecypher.db.store.catalog import SceneInfo, info_of
from scenecypher.db.store.connection import Database
from scenecypher.db.store.consistent_read import WRITE_REFUSED
from scenecypher.db.store.publish import Header, Progress, delete_generation, write_generation
from scenecypher.db.store.rewind import SceneAt, load_version
from scenecypher.errors import ConstraintViolated, QueryFailed, SceneReplaced, ServiceError
from scenecypher.waiting import waiting_for

COPIES_KEPT: Final = 40
"""Maximum number of cached copies in a database."""
MEMBERS_KEPT: Final = 1_000_000
"""Maximum number of their nodes and relations together; the newest copy is kept in any case."""
TRIES: Final = 3

FIND: Final[LiteralString] = "MATCH (s:Scene {past: $past}) WHERE s.status = 'ready' RETURN s"
PUBLISH_PAST: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WHERE s.status = 'importing'
SET s.status = 'ready', s.past = $past, s.was = $name, s.published = datetime()
RETURN s
"""
KEPT: Final[LiteralString] = """
MATCH (s:Scene) WHERE s.past IS NOT NULL AND s.status = 'ready'
RETURN s.key AS key, coalesce(s.nodes, 0) + coalesce(s.relations, 0) AS members ORDER BY s.published DESC, s.key
"""
# Exactly one process gets to delete a copy.
GIVE_UP: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene
WITH s WHERE s.status = 'ready'
SET s.status = 'deleting', s.past = null
RETURN s.key AS key
"""


def past_copy(database: Database, then: SceneAt, *, progress: Progress | None = None) -> SceneInfo:
    """Return the cached copy of an earlier version, written now if there is none: it has that version and no name.

    Raises ServiceError if there is none and this connection may not write; SceneReplaced.
    """
    for _ in range(TRIES):
        record = database.row(FIND, {"past": _past(then)}) or _write(database, then, progress=progress)
        if record is not None:
            found = info_of(record["s"])
            database.versions.note(found.key, found.version)
            return replace(found, vocabulary=then.scene.vocabulary, declared=then.scene.declared)
    raise SceneReplaced(then.name)


def _write(database: Database, then: SceneAt, *, progress: Progress | None) -> Record | None:
    """Write the copy and delete surplus ones; None if somebody else was faster."""
    try:
        with waiting_for(f"a copy of {then.name!r}, which is written once, to be queried"):
            past = load_version(database, then)
            # Without its world: what is done to a world and the beliefs about it is not done to this copy.
            header = replace(Header.of(past.info), version=past.info.version)
            key = write_generation(database, past.graph, header, progress=progress)
    except QueryFailed as error:
        if error.code in WRITE_REFUSED:
            raise _may_not_write(then) from error
        raise
    timeout_s, given = 2 * database.commit_timeout_s, {"key": key, "past": _past(then), "name": then.name}
    try:
        found = database.execute(PUBLISH_PAST, given, timeout_s=timeout_s)
    except ConstraintViolated:
        found = None
    if found is None:
        delete_generation(database, key)
        return None
    for surplus in _surplus(database):
        if database.execute(GIVE_UP, {"key": surplus}, timeout_s=timeout_s):
            delete_generation(database, surplus)
    return found


def _surplus(database: Database) -> Iterator[str]:
    """Yield the keys of copies that exceed the limits, without the newest ones."""
    members = 0
    for number, (key, size) in enumerate(database.rows(KEPT)):
        members += size
        if number >= COPIES_KEPT or (number and members > MEMBERS_KEPT):
            yield key


def _past(then: SceneAt) -> str:
    return f"{then.scene.key}@{then.version}"


def _may_not_write(then: SceneAt) -> ServiceError:
    msg = (
        f"{then.name!r} has to be copied within the database before it can be queried, and this user may only read; "
        f"have somebody who may write query it once, or read it by `scenecypher scenes show {then.name}`"
    )
    return ServiceError(msg)

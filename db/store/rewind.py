"""Scenes as they were: ``NAME@VERSION`` and ``NAME@TIME``, resolved to a version, and a whole scene at a version.

It is computed from the scene as it is now, by the events since. For queries it is written as a cached copy, a
generation without a name, which only `past_copy` finds once it is whole; of two readers who write the same one the
first to end wins. At most COPIES_KEPT are kept, of MEMBERS_KEPT nodes and relations together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Final, LiteralString, TypeAlias

from neo4j import Record

from scenecypher.db.graph.delta import Delta, apply, compose, invert
from scenecypher.db.graph.graph_json import delta_from_json
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo, find_scene, info_of, lookup_longest, split_at
from scenecypher.db.store.connection import Database
from scenecypher.db.store.consistent_read import WRITE_REFUSED
from scenecypher.db.store.history import Event, in_utc, read_events
from scenecypher.db.store.load import LoadedScene, load_generation, load_scene
from scenecypher.db.store.publish import Header, Progress, delete_generation, write_generation
from scenecypher.errors import ConflictError, ConstraintViolated, InputError, QueryFailed, SceneReplaced, ServiceError
from scenecypher.waiting import waiting_for

Moment: TypeAlias = int | datetime
"""A version of a scene, or a time; a time without zone is the user's."""
Load: TypeAlias = Callable[[SceneInfo], LoadedScene]

# Clocks may run backwards, so that the first later event is looked for in the order of versions, not of times. Where
# the scene declares a clock of its own, times are that clock's. Seconds are compared, since the server orders equal
# moments of two zones apart.
EVENTS_AROUND: Final[LiteralString] = """
MATCH (s:Scene {key: $key})
RETURN coalesce(s.clock_start, s.published) AS began,
       COLLECT { MATCH (e:Event {scene: $key}) WHERE e.version > $base
                 RETURN e.version ORDER BY e.scene, e.version LIMIT 1 } AS first,
       COLLECT { MATCH (e:Event {scene: $key}) WHERE e.version > $base
                 WITH e, CASE WHEN s.clock_start IS NULL THEN e.at ELSE coalesce(e.clock, s.clock_start) END AS at
                 WHERE at.epochSeconds > $time.epochSeconds
                   OR at.epochSeconds = $time.epochSeconds AND at.nanosecond > $time.nanosecond
                 RETURN e.version ORDER BY e.scene, e.version LIMIT 1 } AS later
"""
FAR: Final = 500
"""The most versions between two states that are followed in one read, and shown as what changed."""
VERSIONS_PER_READ: Final = 2_000

DELTAS: Final[LiteralString] = """
MATCH (e:Event {scene: $key}) WHERE $after < e.version <= $until RETURN e.delta AS delta ORDER BY e.scene, e.version
"""


@dataclass(frozen=True, slots=True)
class SceneAt:
    """A version of a published scene."""

    scene: SceneInfo
    version: int

    @property
    def name(self) -> str:
        """The name by which it is found again: ``NAME@VERSION``."""
        return f"{self.scene.name}@{self.version}"


def find_at(database: Database, name: str) -> SceneInfo | SceneAt:
    """Return the published scene of this very name, or else what ``NAME@VERSION`` or ``NAME@TIME`` means.

    Raises SceneNotFound; InputError for a version that the scene does not have, or a time before its beginning.
    """
    parts = split_at(name)
    if parts is None:
        return find_scene(database, name)
    stem, moment = parts
    scene = lookup_longest(database, name, stem) or find_scene(database, stem)
    return scene if scene.name == name else scene_at(database, scene, read_moment(moment, name=name))


def scene_at(database: Database, scene: SceneInfo, moment: Moment) -> SceneAt:
    """Return the version of a scene that `moment` means.

    Of a time it is the one before the first event that is later. Raises InputError as `find_at` does.
    """
    version = moment if isinstance(moment, int) else _version_at(database, scene, _with_zone(moment, scene.name))
    if not scene.base <= version <= scene.version:
        msg = f"{scene.name!r} has versions {scene.base} to {scene.version}, not {version}"
        raise InputError(f"{msg}; `scenecypher history {scene.name}` shows them")
    return SceneAt(scene, version)


def read_moment(text: str, *, name: str) -> Moment:
    """Parse a version or a time in ISO 8601, such as ``2026-11-23T10:15``. Raises InputError naming the scene."""
    try:
        return int(text) if text.isdecimal() else datetime.fromisoformat(text.upper())
    except ValueError as error:
        msg = f"{name!r}: {text!r} is neither a version nor a time; write NAME@7, NAME@2026-11-23T10:15"
        raise InputError(f"{msg}, or NAME@2026-11-23T10:15+01:00 with a time zone") from error


def _version_at(database: Database, scene: SceneInfo, time: datetime) -> int:
    record = database.row(EVENTS_AROUND, {"key": scene.key, "base": scene.base, "time": in_utc(time)})
    if record is None or not record["later"]:
        return scene.version
    began = record["began"].to_native().astimezone(time.tzinfo)
    if record["later"] == record["first"] and time < began:
        msg = f"{scene.name!r} begins at {began.isoformat(timespec='seconds')}, after {time.isoformat()}"
        raise InputError(f"{msg}; ask for a later time, or for its first state by {scene.name}@{scene.base}")
    return min(int(record["later"][0]) - 1, scene.version)


def _with_zone(time: datetime, name: str) -> datetime:
    try:
        there = time if time.tzinfo else time.astimezone()
        in_utc(there)
    except (InputError, OverflowError, OSError, ValueError) as error:
        raise InputError(f"{name!r}: the time {time.isoformat()} is out of range; ask for a later one") from error
    return there


def load_at(database: Database, name: str) -> LoadedScene:
    """Return a whole scene, now or, if `name` is ``NAME@VERSION`` or ``NAME@TIME``, as it was then.

    Raises SceneNotFound, SceneReplaced; InputError for a version or a time that the scene does not have.
    """
    found = find_at(database, name) if split_at(name) else None
    return load_version(database, found) if isinstance(found, SceneAt) else load_scene(database, name)


def load_version(database: Database, then: SceneAt, *, load: Load | None = None) -> LoadedScene:
    """Return a whole scene at an earlier version. Raises SceneReplaced, ServiceError.

    `load` returns the scene as it is now; None reads it from the database.
    """
    with waiting_for(f"{then.name!r}, which is read from the history"):
        now = (load or partial(load_generation, database))(then.scene)
        if now.info.version < then.version:
            raise SceneReplaced(then.scene.name)
        graph = now.graph
        for last, first in _spans(now.info.version, then.version):
            graph = apply(graph, _way_back(database, then.scene.key, last, first))
    info = replace(then.scene, version=then.version, nodes=len(graph.nodes), relations=len(graph.relations))
    return LoadedScene(info, graph)


@dataclass(frozen=True, slots=True)
class Moved:
    """A scene at a version, the Delta that led there from another, and the event that made it if that was read."""

    graph: SceneGraph
    delta: Delta
    event: Event | None


def reach(database: Database, then: SceneAt, graph: SceneGraph, version: int) -> Moved | None:
    """Return a scene at an earlier version, given its `graph` at `version`, in one read.

    Return None if too many versions are in between, or the events do not lead there. Raises ServiceError.
    """
    first, last = sorted((version, then.version))
    if last - first > FAR:
        return None
    events = {it.version: it for it in read_events(database, then.scene.key, after=first - 1, until=last)}
    if not all(it in events for it in range(first + 1, last + 1)):
        return None
    way = compose(events[it].delta for it in range(first + 1, last + 1))
    way, live = way if version < then.version else invert(way), LiveGraph(graph)
    try:
        live.apply(way)
    except ConflictError:  # the database was changed by hand
        return None
    return Moved(live.frozen(), way, events.get(then.version))


def _spans(last: int, first: int) -> list[tuple[int, int]]:
    """Return the way back from a version to an earlier one as pairs, each of at most VERSIONS_PER_READ versions."""
    return [*pairwise([*range(last, first, -VERSIONS_PER_READ), first])]


def _way_back(database: Database, key: str, last: int, first: int) -> Delta:
    """Return the Delta that leads from version `last` back to version `first`."""
    given = {"key": key, "after": first, "until": last}
    records = database.rows(DELTAS, given, timeout_s=2 * database.read_timeout_s)
    return invert(compose(delta_from_json(record["delta"]) for record in records))


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
            raise ServiceError(
                f"{then.name!r} has to be copied within the database before it can be queried, and this user may only "
                "read; have somebody who may write query it once, or read it by "
                f"`scenecypher scenes show {then.name}`"
            ) from error
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

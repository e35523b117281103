"""Scenes as they were: ``NAME@VERSION`` and ``NAME@TIME``, resolved to a version, and a whole scene at a version.

It is computed from the scene as it is now, by the events since.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Final, LiteralString, TypeAlias

from scenecypher.db.graph.delta import Delta, apply, compose, invert
from scenecypher.db.graph.graph_json import delta_from_json
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo, find_scene, lookup_longest, split_at
from scenecypher.db.store.clock import in_utc
from scenecypher.db.store.connection import Database
from scenecypher.db.store.history import Event, read_events
from scenecypher.db.store.load import LoadedScene, load_generation, load_scene
from scenecypher.errors import ConflictError, InputError, SceneReplaced
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

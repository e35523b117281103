"""A whole scene at an earlier version: the nearest graph that is known, and the events in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Final, LiteralString, TypeAlias

from scenecypher.db.graph.delta import Delta, apply, compose, invert
from scenecypher.db.graph.graph_json import delta_from_json
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.at import SceneAt, find_at
from scenecypher.db.store.catalog import SceneInfo, split_at
from scenecypher.db.store.connection import Database
from scenecypher.db.store.history import Event, read_events
from scenecypher.db.store.load import LoadedScene, load_generation, load_scene
from scenecypher.db.store.snapshots import keep_snapshot, read_snapshot, snapshot_versions
from scenecypher.errors import ConflictError, SceneReplaced
from scenecypher.waiting import waiting_for

Load: TypeAlias = Callable[[SceneInfo], LoadedScene]

FAR: Final = 500
"""Versions between a state and the nearest known graph, above which readers look for snapshots, and keep one."""
VERSIONS_PER_READ: Final = 2_000

DELTAS: Final[LiteralString] = """
MATCH (e:Event {scene: $key}) WHERE $after < e.version <= $until RETURN e.delta AS delta ORDER BY e.scene, e.version
"""


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
        known, graph = _nearest(database, then, load or partial(load_generation, database))
        for start, end in _spans(known, then.version):
            graph = apply(graph, _way(database, then.scene.key, start, end))
    if abs(known - then.version) > FAR:
        keep_snapshot(database, then.scene.key, then.version, graph)
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


def _nearest(database: Database, then: SceneAt, load: Load) -> tuple[int, SceneGraph]:
    """Return the known graph with the fewest versions in between: the scene's present one, or a snapshot."""
    scene, version = then.scene, then.version
    if scene.version - version > FAR:
        near = min(snapshot_versions(database, scene.key), key=lambda it: abs(it - version), default=scene.version)
        graph = read_snapshot(database, scene.key, near) if abs(near - version) < scene.version - version else None
        if graph is not None:
            return near, graph
    now = load(scene)
    if now.info.version < version:
        raise SceneReplaced(scene.name)
    return now.info.version, now.graph


def _spans(start: int, end: int) -> list[tuple[int, int]]:
    """Return the way from a version to another as pairs, each of at most VERSIONS_PER_READ versions."""
    step = VERSIONS_PER_READ if end > start else -VERSIONS_PER_READ
    stops = [*range(start, end, step), end]
    return [*pairwise(stops)]


def _way(database: Database, key: str, start: int, end: int) -> Delta:
    """Return the Delta that leads from version `start` to version `end`, an earlier or a later one."""
    given = {"key": key, "after": min(start, end), "until": max(start, end)}
    records = database.rows(DELTAS, given, timeout_s=2 * database.read_timeout_s)
    way = compose(delta_from_json(record["delta"]) for record in records)
    return way if end > start else invert(way)

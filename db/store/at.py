"""Scenes as they were: ``NAME@VERSION`` and ``NAME@TIME``, resolved to a version of a published scene."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString, TypeAlias

from scenecypher.db.store.catalog import SceneInfo, find_scene, lookup_longest, split_at
from scenecypher.db.store.clock import in_utc
from scenecypher.db.store.connection import Database
from scenecypher.errors import InputError

Moment: TypeAlias = int | datetime
"""A version of a scene, or a time; a time without zone is the user's."""

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

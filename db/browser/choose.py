"""What a view of Neo4j Browser needs to know: the room, the version or the run that is asked for, or the usual one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, LiteralString, assert_never

from scenecypher.db.browser.style import CONFIG
from scenecypher.db.browser.views import ViewName
from scenecypher.db.past import build_past
from scenecypher.db.store.catalog import SceneInfo, find_scene, lookup_scene, scene_of, split_at
from scenecypher.db.store.connection import Database
from scenecypher.db.store.runs import find_run, latest_runs
from scenecypher.errors import InputError, UnknownReference

ROOMS: Final[LiteralString] = """
MATCH (room:Place {scene: $key})
WHERE $room IS NULL OR $room IN [room.id, room.name, room.class]
RETURN room.id AS id
ORDER BY room.id = $room DESC, EXISTS { (:Agent {scene: $key})-[:INSIDE]->(room) } DESC, room.id LIMIT $limit
"""
BELIEFS: Final[LiteralString] = """
MATCH (b:Scene {status: 'ready', role: 'belief', world: $key}) WHERE b.name IS NOT NULL RETURN b.name AS name LIMIT 1
"""
CLIENT_CONFIG: Final[LiteralString] = """
CALL dbms.clientConfig() YIELD name, value WHERE name = 'browser.post_connect_cmd' RETURN value
"""
ROOMS_TOLD: Final = 8


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: a room by id, name or class, a version, and a run by number; None for the usual one."""

    room: str | None = None
    version: int | None = None
    run: int | None = None


def find_present(database: Database, name: str) -> SceneInfo:
    """Return the scene of this name; of a belief its world. Raises SceneNotFound; InputError for ``NAME@VERSION``."""
    parts = split_at(name)
    if parts is not None and lookup_scene(database, name) is None:
        msg = f"{name!r} is an earlier state; Browser shows a scene as it is now"
        raise InputError(f"{msg}, and what changed at a version with --scene {parts[0]} --version N")
    found = find_scene(database, name)
    return (scene_of(database, found.world) if found.world else None) or found


def tells_style(database: Database) -> bool:
    """Return True if the server tells Browser to use our style (`browser.post_connect_cmd`)."""
    record = database.row(CLIENT_CONFIG)
    return record is not None and CONFIG in (record["value"] or "")


def chosen_value(database: Database, scene: SceneInfo, view: ViewName, wanted: Wanted) -> str | int | None:
    """Return the value that a view of a scene needs, None if it needs none; build the scene's past if it shows it.

    Without a choice, it is the room of the first agent, the latest version, the latest run. Raises InputError for
    something that is not there.
    """
    match view:
        case "room":
            return _room(database, scene, wanted.room)
        case "version":
            return _version(database, scene, wanted.version)
        case "run":
            return _run(database, scene, wanted.run)
        case "belief":
            _check_belief(database, scene)
            return None
        case "overview" | "robot":
            return None
        case _:
            assert_never(view)


def _room(database: Database, scene: SceneInfo, room: str | None) -> str:
    found = _rooms(database, scene, room)
    if not found:
        known = _rooms(database, scene, None)
        has = (
            f"it has {', '.join(known)}{', ...' if len(known) == ROOMS_TOLD else ''}" if known else "it has none at all"
        )
        raise UnknownReference(f"{scene.name!r} has no room {room or ''!r}; {has}")
    if room is not None and room != found[0] and len(found) > 1:
        raise InputError(f"{scene.name!r} has several rooms {room!r}; name one by its id: {', '.join(found)}")
    return found[0]


def _rooms(database: Database, scene: SceneInfo, room: str | None) -> list[str]:
    """Return the ids of the rooms of this id, name or class, of all without one, the likeliest first."""
    given = {"key": scene.key, "room": room, "limit": ROOMS_TOLD}
    return [record["id"] for record in database.rows(ROOMS, given)]


def _version(database: Database, scene: SceneInfo, version: int | None) -> int:
    wanted = scene.version if version is None else version
    if not scene.base < wanted <= scene.version:
        msg = f"nothing has changed in {scene.name!r} yet" if not scene.version else f"there is no version {wanted}"
        raise InputError(f"{msg}; `scenecypher history {scene.name}` shows what happened")
    build_past(database, scene)
    return wanted - scene.base


def _run(database: Database, scene: SceneInfo, number: int | None) -> int:
    run = find_run(database, number) if number is not None else next(latest_runs(database, scene.name), None)
    if run is None or run.scene_name != scene.name:
        msg = f"run {number} was not in {scene.name!r}" if number is not None else f"{scene.name!r} has no runs yet"
        raise InputError(f"{msg}; `scenecypher runs list` shows those that are kept")
    build_past(database, scene)
    return run.number


def _check_belief(database: Database, scene: SceneInfo) -> None:
    if database.row(BELIEFS, {"key": scene.key}) is None:
        msg = f"there is no belief about {scene.name!r}; `scenecypher plan {scene.name} ... --belief` makes one"
        raise InputError(msg)

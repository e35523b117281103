"""What the database knows of each scene, besides its members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, LiteralString, TypeAlias

from neo4j import ManagedTransaction, Record

from scenecypher.db.schema import Declared
from scenecypher.db.store.bounds import Bounds, read_bounds
from scenecypher.db.store.connection import Database, twice
from scenecypher.errors import InputError, QueryTimeout, SceneNotFound, SceneReplaced, ServiceError

Role: TypeAlias = Literal["world", "belief"]
Status: TypeAlias = Literal["importing", "ready", "retired"]

SCENE_NAME_LENGTH: Final = 200
READ_TIMEOUT_S: Final = 30.0

FIND: Final[LiteralString] = "MATCH (s:Scene {name: $name}) RETURN s"
# A label that is there already takes the lock and writes nothing: whoever is half through a commit is waited for.
SETTLED: Final[LiteralString] = "MATCH (s:Scene {key: $key}) SET s:Scene RETURN s"
# The same for each question: a whole node would cost as much to take in as the rest of the look.
LOOK: Final[LiteralString] = "MATCH (s:Scene {key: $key}) SET s:Scene RETURN s.status AS status, s.version AS version"
REPLACED: Final[LiteralString] = """
MATCH (s:Scene {status: 'retired', was: $name}) RETURN s ORDER BY s.retired DESC LIMIT 1
"""
LIST: Final[LiteralString] = """
MATCH (s:Scene {status: 'ready'}) WHERE s.name IS NOT NULL AND ($leased OR s.leased IS NULL)
RETURN s ORDER BY s.name
"""


@dataclass(frozen=True, slots=True)
class SceneInfo:
    """One generation of a scene, as it stood when it was read.

    `key` is opaque and is what members carry; `version` counts commits since the import or copy. `bounds` may have
    grown since; None of a scene that was imported before they were kept.
    """

    key: str
    name: str
    role: Role
    vocabulary: str
    status: Status
    version: int
    declared: Declared = field(default_factory=Declared)
    source: str = ""
    nodes: int = 0
    relations: int = 0
    copied_from: str | None = None
    world: str | None = None
    world_version: int | None = None
    base: int = 0
    bounds: Bounds | None = None


def info_of(record: Mapping[str, Any]) -> SceneInfo:
    """The value of a Scene node that the server returned; a fact that it lacks is as if never said."""
    return SceneInfo(
        key=record["key"],
        name=record.get("name") or record.get("was") or record["key"],
        role=record.get("role", "world"),
        vocabulary=record.get("vocabulary", "generic"),
        status=record["status"],
        version=record["version"],
        declared=Declared(tuple(record.get("declared_relations", ())), tuple(record.get("declared_properties", ()))),
        source=record.get("source", ""),
        nodes=record.get("nodes", 0),
        relations=record.get("relations", 0),
        copied_from=record.get("copied_from"),
        world=record.get("world"),
        world_version=record.get("world_version"),
        base=record.get("base", 0),
        bounds=read_bounds(record),
    )


def find(database: Database, name: str) -> SceneInfo:
    """The published scene of this name. Raises SceneNotFound with the nearest names."""
    found = lookup(database, name)
    if found is None:
        raise SceneNotFound(name, [info.name for info in scenes(database)])
    return found


def lookup(database: Database, name: str) -> SceneInfo | None:
    """The published scene of this name, or None."""
    return _one(database, FIND, name)


def settled(database: Database, key: str) -> SceneInfo | None:
    """The scene between two commits; None where it is gone. What is read between two equal ones is one version.

    A version seen without waiting proves nothing: a server half through a commit may show it before or after the rest.
    Raises ServiceError where a writer keeps the scene for too long.
    """
    record = _looked(database, SETTLED, key)
    return info_of(record["s"]) if record else None


def settled_version(database: Database, key: str, name: str) -> int:
    """The same of a published scene's version alone. Raises SceneReplaced where this generation is not published."""
    record = _looked(database, LOOK, key)
    if record is None or record["status"] != "ready":
        raise SceneReplaced(name)
    return int(record["version"])


def _looked(database: Database, statement: LiteralString, key: str) -> Record | None:
    try:
        return twice(lambda: database.once(statement, {"key": key}, timeout_s=READ_TIMEOUT_S))
    except QueryTimeout as error:
        msg = (
            f"somebody has kept this scene locked for more than {READ_TIMEOUT_S:g} s, to write or to load all of it; "
            "ask again, and look at `SHOW TRANSACTIONS` in Neo4j Browser if that does not help"
        )
        raise ServiceError(msg, retryable=True) from error


def replaced(database: Database, name: str) -> SceneInfo:
    """The generation that had this name last and lost it. Raises InputError where none is left."""
    found = _one(database, REPLACED, name)
    if found is None:
        msg = f"no earlier generation of {name!r} is left: it was never replaced, or `db clean` has collected it"
        raise InputError(f"{msg}; compare with another scene, or with a version of this one")
    return found


def scenes(database: Database, *, leased: bool = False) -> list[SceneInfo]:
    """Every published scene by name; copies leased to a worker only where asked for."""

    def work(tx: ManagedTransaction) -> list[SceneInfo]:
        return [info_of(record["s"]) for record in tx.run(LIST, leased=leased)]

    return database.read(work, timeout_s=READ_TIMEOUT_S)


def _one(database: Database, statement: LiteralString, name: str) -> SceneInfo | None:
    def work(tx: ManagedTransaction) -> SceneInfo | None:
        record = tx.run(statement, name=name).single()
        return info_of(record["s"]) if record else None

    return database.read(work, timeout_s=READ_TIMEOUT_S)


def checked_name(name: str) -> str:
    """A scene's name as people may type it. Raises InputError."""
    if not name or len(name) > SCENE_NAME_LENGTH or not name.isprintable() or name != name.strip():
        msg = (
            f"{name[:60]!r} can't name a scene: use 1 to {SCENE_NAME_LENGTH} printable characters, no blank at the ends"
        )
        raise InputError(msg)
    return name

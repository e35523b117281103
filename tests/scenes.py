"""Scenes of tests on their server, which has thousands: deleted by a part of their names, hidden when spent."""

from __future__ import annotations

from typing import Final, LiteralString

from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore

NAMED: Final[LiteralString] = (
    "MATCH (s:Scene {status: 'ready'}) WHERE s.name CONTAINS $part RETURN s.name AS name ORDER BY name"
)
HIDE: Final[LiteralString] = (
    "MATCH (s:Scene {status: 'ready'}) WHERE s.name STARTS WITH 'test/' SET s.status = 'spent' REMOVE s.name"
)


def delete_scenes(store: SceneStore, part: str) -> None:
    """Delete the scenes that have a part in their names, without reading all others."""
    for row in store.database.rows(NAMED, {"part": part}):
        store.delete(row["name"])


def hide_spent_scenes(database: Database) -> None:
    """Hide all scenes called ``test/…``: every list of scenes would read them again, up to the last test."""
    database.execute(HIDE, timeout_s=60)

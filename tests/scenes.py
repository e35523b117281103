"""Scenes of tests on their server, which has thousands: deleted by a part of their names."""

from __future__ import annotations

from typing import Final, LiteralString

from scenecypher.db.store.scene_store import SceneStore

NAMED: Final[LiteralString] = (
    "MATCH (s:Scene {status: 'ready'}) WHERE s.name CONTAINS $part RETURN s.name AS name ORDER BY name"
)


def delete_scenes(store: SceneStore, part: str) -> None:
    """Delete the scenes that have a part in their names, without reading all others."""
    for row in store.database.rows(NAMED, {"part": part}):
        store.delete(row["name"])

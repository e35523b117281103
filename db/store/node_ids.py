"""The ids of a scene's nodes by their beginning, for completion at a prompt."""

from __future__ import annotations

from typing import Final, LiteralString

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.consistent_read import consistent_transaction

NODE_IDS: Final[LiteralString] = """
MATCH (n:Entity {scene: $key}) WHERE n.id STARTS WITH $start AND ($kind IS NULL OR $kind IN labels(n))
RETURN n.id AS id ORDER BY id LIMIT $most
"""


def node_ids(
    database: Database, scene: SceneInfo, start: str, *, kind: str | None = None, most: int, timeout_s: float
) -> list[str]:
    """Return the first `most` ids that begin with `start`, in order; with `kind` only those of its nodes.

    Raises DatabaseUnavailable, QueryTimeout, SceneReplaced.
    """
    given = {"key": scene.key, "start": start, "kind": kind, "most": most}
    records, _ = consistent_transaction(
        database, scene, lambda tx: [*tx.run(NODE_IDS, given)], timeout_s=timeout_s, status=scene.status
    )
    return [record["id"] for record in records]

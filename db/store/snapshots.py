"""Snapshots: compressed graphs of versions long past, kept so that they are read without the events in between.

Readers write them, never actions. A snapshot is a set of parts of bounded size, complete once all are there: one that
was left half-written is not read, and a reader that writes the same version completes it.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, LiteralString

from scenecypher.db.graph.graph_json import canonical_json, node_document, node_from
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.store.connection import Database
from scenecypher.db.store.stored_form import prepare
from scenecypher.errors import ServiceError

SNAPSHOTS_KEPT: Final = 20
"""Maximum number of snapshots of a scene."""
NODES_PER_PART: Final = 5_000
RELATIONS_PER_PART: Final = 20_000
FORM: Final = 1
"""Number of the stored form; snapshots of another form are not read, and written anew."""

COMPLETE: Final[LiteralString] = """
MATCH (p:Snapshot {scene: $key}) WHERE p.version >= 0 AND p.part >= 0 AND p.form = $form
WITH p.version AS version, count(p) AS present, max(p.parts) AS parts WHERE present = parts
RETURN version
"""
READ_PART: Final[LiteralString] = """
MATCH (p:Snapshot {scene: $key, version: $version, part: $part}) RETURN p.data AS data, p.parts AS parts
"""
# The scene's lock is held: a generation that is being deleted gets no new snapshot.
WRITE_PART: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene
WITH s WHERE s.status = 'ready'
MERGE (p:Snapshot {scene: $key, version: $version, part: $part})
SET p.parts = $parts, p.form = $form, p.data = $data
"""
ALL_VERSIONS: Final[LiteralString] = """
MATCH (p:Snapshot {scene: $key}) WHERE p.version >= 0 AND p.part >= 0
RETURN DISTINCT p.version AS version ORDER BY version
"""
DROP: Final[LiteralString] = "MATCH (p:Snapshot {scene: $key, version: $version}) WHERE p.part >= 0 DELETE p"


def snapshot_versions(database: Database, key: str) -> list[int]:
    """Return the versions of a scene of which there is a complete snapshot."""
    return [record["version"] for record in database.rows(COMPLETE, {"key": key, "form": FORM})]


def read_snapshot(database: Database, key: str, version: int) -> SceneGraph | None:
    """Return the graph of a snapshot; None if it was deleted meanwhile."""
    parts: list[dict[str, Any]] = []
    number = 1
    while len(parts) < number:
        record = database.row(READ_PART, {"key": key, "version": version, "part": len(parts)})
        if record is None:
            return None
        number = record["parts"]
        parts.append(json.loads(zlib.decompress(record["data"])))
    return SceneGraph.of(
        (node_from(node) for part in parts for node in part["nodes"]),
        (Relation(*row) for part in parts for row in part["relations"]),
    )


def keep_snapshot(database: Database, key: str, version: int, graph: SceneGraph) -> None:
    """Write a snapshot, and delete others if there are more than SNAPSHOTS_KEPT; do nothing if that is refused.

    A reader has its answer without: a user who may only read keeps none.
    """
    try:
        if not database.is_prepared:
            prepare(database)
        parts = [*_parts(graph)]
        for number, part in enumerate(parts):
            given = {"key": key, "version": version, "part": number, "parts": len(parts), "form": FORM, "data": part}
            database.execute(WRITE_PART, given, timeout_s=2 * database.commit_timeout_s)
        _drop_surplus(database, key, newest=version)
    except ServiceError:
        return


def surplus(versions: Sequence[int], *, newest: int, limit: int = SNAPSHOTS_KEPT) -> list[int]:
    """Return the versions to delete so that `limit` are left: those whose neighbours are closest, never `newest`."""
    kept, dropped = sorted(versions), list[int]()
    while len(kept) > limit:
        ends = [-math.inf, *kept, math.inf]
        gaps = {it: ends[place + 2] - ends[place] for place, it in enumerate(kept) if it != newest}
        dropped.append(min(gaps, key=lambda it: (gaps[it], it)))
        kept.remove(dropped[-1])
    return dropped


def _drop_surplus(database: Database, key: str, *, newest: int) -> None:
    versions = [record["version"] for record in database.rows(ALL_VERSIONS, {"key": key})]
    for version in surplus(versions, newest=newest):
        database.execute(DROP, {"key": key, "version": version}, timeout_s=2 * database.commit_timeout_s)


def _parts(graph: SceneGraph) -> Iterator[bytes]:
    """Yield a graph in compressed parts; equal graphs give equal parts, so that two writers don't mix them up."""
    nodes = [node_document(graph.nodes[node_id]) for node_id in sorted(graph.nodes)]
    relations = [[it.source, it.type, it.target] for it in graph.in_order()]
    number = max(1, -(-len(nodes) // NODES_PER_PART), -(-len(relations) // RELATIONS_PER_PART))
    for part in range(number):
        document = {
            "nodes": nodes[part * NODES_PER_PART : (part + 1) * NODES_PER_PART],
            "relations": relations[part * RELATIONS_PER_PART : (part + 1) * RELATIONS_PER_PART],
        }
        yield zlib.compress(canonical_json(document).encode())

"""Vectors of nodes, stored beside the graph as sets that never change.

Scenes name the sets that they use, so that a copy, a belief and a past share those of their scene, and a load reads no
vector. A set that no scene names is deleted with other leftovers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final, LiteralString
from uuid import uuid4

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.vectors import Row, VectorSource
from scenecypher.db.schema import VectorSpace
from scenecypher.db.store.catalog import lookup_scene
from scenecypher.db.store.connection import Database
from scenecypher.db.store.publish import Batch, Progress, write_batch

NUMBERS_PER_BATCH: Final = 131_072
"""Numbers in a transaction: 1 MB on the wire, 128 vectors of 1,024."""

ADD_VECTORS: Final[LiteralString] = """
UNWIND $rows AS row
MERGE (s:VectorSet {key: row.set}) ON CREATE SET s.made = datetime()
CREATE (v:Vector {set: row.set, id: row.id, values: row.values}) RETURN count(*) AS written
"""
READ_PAGE: Final[LiteralString] = """
MATCH (v:Vector) WHERE v.set = $set AND v.id > $after
RETURN v.id AS id, v.values AS values ORDER BY v.set, v.id LIMIT $limit
"""
READ_IDS: Final[LiteralString] = """
MATCH (v:Vector) WHERE v.set = $set AND v.id >= '' RETURN v.id AS id ORDER BY v.set, v.id
"""
UNUSED: Final[LiteralString] = """
MATCH (s:VectorSet) WHERE s.key >= '' AND s.made < datetime() - duration({seconds: $grace_s})
AND NOT EXISTS { MATCH (scene:Scene) WHERE scene.status >= '' AND scene.vectors CONTAINS s.key } RETURN s.key AS key
"""
DROP_VECTORS: Final[LiteralString] = """
MATCH (v:Vector) WHERE v.set = $set AND v.id >= '' WITH v LIMIT $limit DELETE v RETURN count(*) AS dropped
"""
DROP_SET: Final[LiteralString] = "MATCH (s:VectorSet {key: $set}) DELETE s"


def with_vectors(database: Database, scene: ImportedScene, *, progress: Progress | None = None) -> ImportedScene:
    """Write the vectors of a scene that is imported, unless the scene of its name has them; return it declaring them.

    Until it is published nobody finds them. Raises ServiceError.
    """
    if not scene.vectors:
        return scene
    known = lookup_scene(database, scene.name)
    stored = {replace(it, set=""): it for it in (known.declared.vectors if known else ())}
    spaces = tuple(stored.get(it.space) or _write(database, it, progress) for it in scene.vectors)
    return replace(scene, vectors=(), declared=replace(scene.declared, vectors=spaces))


def _write(database: Database, source: VectorSource, progress: Progress | None) -> VectorSpace:
    space, done, rows = replace(source.space, set=uuid4().hex), 0, source.rows()
    size = max(1, NUMBERS_PER_BATCH // space.dimension)
    while chunk := [vector_row(space.set, *it) for it in islice(rows, size)]:
        done += write_batch(database, Batch(ADD_VECTORS, {"rows": chunk}, len(chunk)))
        if progress:
            progress(done, source.count)
    return space


def vector_row(set_key: str, node_id: str, values: array[float]) -> dict[str, object]:
    """Return what ADD_VECTORS writes for a node."""
    return {"set": set_key, "id": node_id, "values": values.tolist()}


def read_ids(database: Database, space: VectorSpace) -> list[str]:
    """Return the ids of the nodes that have a vector, in the order of `read_vectors`."""
    return [record["id"] for record in database.rows(READ_IDS, {"set": space.set})]


def read_vectors(database: Database, space: VectorSpace) -> Iterator[Row]:
    """Yield the ids and vectors of a set, by id, read page by page."""
    after, limit = "", max(1, NUMBERS_PER_BATCH // space.dimension)
    while page := database.rows(READ_PAGE, {"set": space.set, "after": after, "limit": limit}):
        yield from ((record["id"], array("f", record["values"])) for record in page)
        after = page[-1]["id"]


def delete_unused(database: Database, *, grace_s: float) -> None:
    """Delete the sets that no scene names, if they were begun more than `grace_s` seconds ago."""
    for record in database.rows(UNUSED, {"grace_s": grace_s}):
        given = {"set": record["key"], "limit": 1_000}
        while (dropped := database.execute(DROP_VECTORS, given)) and dropped["dropped"]:
            pass
        database.execute(DROP_SET, given)

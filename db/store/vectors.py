"""Vectors of nodes, stored beside the graph as sets that never change.

Scenes name the sets that they use, so that a copy, a belief and a past share those of their scene, and a load reads no
vector. A set that no scene names is deleted with other leftovers. A large one has a label and a vector index of its
own, so that what is nearest is looked for in this set alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from typing import Final, LiteralString
from uuid import uuid4

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.vectors import NodeVectors, Row, single
from scenecypher.db.schema import VectorSpace, vector_label
from scenecypher.db.store.catalog import lookup_scene
from scenecypher.db.store.connection import Database
from scenecypher.db.store.publish import Batch, Progress, write_batch
from scenecypher.db.store.stored_form import prepare
from scenecypher.errors import QueryRefused

NUMBERS_PER_BATCH: Final = 131_072
"""Numbers in a transaction: 1 MB on the wire, 128 vectors of 1,024."""
MOST_COMPARED: Final = 50_000
"""The most vectors of a set without an index, which are compared one by one."""
NEAREST: Final = 1_000
"""The vectors of an indexed set that a text is compared with."""

ADD_VECTORS: Final[LiteralString] = """
UNWIND $rows AS row
MERGE (s:VectorSet {key: row.set}) ON CREATE SET s.made = datetime()
CREATE (v:Vector:$(row.labels) {set: row.set, id: row.id})
WITH v, row CALL db.create.setNodeVectorProperty(v, 'values', row.values) RETURN count(*) AS written
"""
READ_PAGE: Final[LiteralString] = """
MATCH (v:Vector) WHERE v.set = $set AND v.id > $after
RETURN v.id AS id, v.values AS values ORDER BY v.set, v.id LIMIT $limit
"""
UNUSED: Final[LiteralString] = """
MATCH (s:VectorSet) WHERE s.key >= '' AND s.made < datetime() - duration({seconds: $grace_s})
AND NOT EXISTS { MATCH (scene:Scene) WHERE scene.status >= '' AND scene.vectors CONTAINS s.key } RETURN s.key AS key
"""
DROP_VECTORS: Final[LiteralString] = """
MATCH (v:Vector) WHERE v.set = $set AND v.id >= '' WITH v LIMIT $limit DELETE v RETURN count(*) AS dropped
"""
READ_NEAREST: Final[LiteralString] = """
CALL db.index.vector.queryNodes($index, $nearest, $vector) YIELD node
RETURN node.id AS id, vector.similarity.cosine(node.values, $vector) AS near
"""
READ_STATE: Final[LiteralString] = """
SHOW VECTOR INDEXES YIELD name, state, populationPercent WHERE name = $index RETURN state, populationPercent AS percent
"""
DROP_SET: Final[LiteralString] = "MATCH (s:VectorSet {key: $set}) DELETE s"


def with_vectors(database: Database, scene: ImportedScene, *, progress: Progress | None = None) -> ImportedScene:
    """Write the vectors of a scene that is imported, unless the scene of its name has them; return it declaring them.

    Until the scene is published nobody finds them. Raises ServiceError.
    """
    if not scene.vectors:
        return scene
    if not database.is_prepared:
        prepare(database)
    known = lookup_scene(database, scene.name)
    stored = {replace(it, set="", indexed=False): it for it in (known.declared.vectors if known else ())}
    spaces = tuple(stored.get(it.space) or _write(database, it, progress) for it in scene.vectors)
    return replace(scene, vectors=(), declared=replace(scene.declared, vectors=spaces))


def _write(database: Database, vectors: NodeVectors, progress: Progress | None) -> VectorSpace:
    count, done, left = len(vectors.rows), 0, iter(vectors.rows.items())
    space = replace(vectors.space, set=uuid4().hex, indexed=count > MOST_COMPARED)
    while chunk := [vector_row(space, *it) for it in islice(left, NUMBERS_PER_BATCH // space.dimension)]:
        done += write_batch(database, Batch(ADD_VECTORS, {"rows": chunk}, len(chunk)))
        if progress:
            progress(done, count)
    create_index(database, space)
    return space


def vector_row(space: VectorSpace, node_id: str, values: Row) -> dict[str, object]:
    """Return what ADD_VECTORS writes for a node."""
    labels = [vector_label(space.set)] if space.indexed else []
    return {"set": space.set, "labels": labels, "id": node_id, "values": values.tolist()}


def create_index(database: Database, space: VectorSpace) -> None:
    """Have the server begin to index the written vectors of a set, if it is to be indexed."""
    if space.indexed:
        label, config = vector_label(space.set), {"vector.dimensions": space.dimension}
        text: LiteralString = "CREATE VECTOR INDEX " + label + " IF NOT EXISTS FOR (v:" + label + ") ON (v.values)"
        given = {"options": {"indexConfig": {**config, "vector.similarity_function": "cosine"}}}
        database.execute(text + " OPTIONS $options", given)


def nearest(database: Database, space: VectorSpace, vector: list[float], *, timeout_s: float) -> dict[str, float]:
    """Return how near the nearest vectors of an indexed set are to another, by node. Raises QueryRefused meanwhile."""
    given = {"index": vector_label(space.set), "nearest": NEAREST, "vector": vector}
    found = database.row(READ_STATE, given, timeout_s=timeout_s)  # a search would wait for an index that is being made
    if found is None or found["state"] != "ONLINE":
        is_made = found is not None and found["state"] != "FAILED"
        state = f"still being made ({found['percent']:.0f} %)" if found and is_made else "lost"
        hint = f"compare names and classes, or {'ask again in some minutes' if is_made else 'import the scene again'}"
        raise QueryRefused("vectors", f"the index of the vectors {space.name} is {state}", hint=hint)
    return {record["id"]: record["near"] for record in database.rows(READ_NEAREST, given, timeout_s=timeout_s)}


def read_vectors(database: Database, space: VectorSpace, nodes: Collection[str]) -> NodeVectors:
    """Return the vectors of a set that these nodes have, by id, read page by page."""
    rows, after, limit = dict[str, Row](), "", NUMBERS_PER_BATCH // space.dimension
    while page := database.rows(READ_PAGE, {"set": space.set, "after": after, "limit": limit}):
        rows |= {it["id"]: single(it["values"]) for it in page if it["id"] in nodes}
        after = page[-1]["id"]
    return NodeVectors(space, rows)


def delete_unused(database: Database, *, grace_s: float) -> None:
    """Delete the sets that no scene names, if they were begun more than `grace_s` seconds ago."""
    for record in database.rows(UNUSED, {"grace_s": grace_s}):
        given = {"set": record["key"], "limit": 1_000}
        database.execute("DROP INDEX " + vector_label(record["key"]) + " IF EXISTS")
        while (dropped := database.execute(DROP_VECTORS, given)) and dropped["dropped"]:
            pass
        database.execute(DROP_SET, given)

"""Read of a part of a scene without a lock, by the same plan as an action's."""

from __future__ import annotations

from neo4j import ManagedTransaction

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import partial_graph
from scenecypher.db.store.connection import Database
from scenecypher.db.store.footprint import Footprint
from scenecypher.errors import SceneReplaced


def read_part(database: Database, scene: SceneInfo, footprint: Footprint) -> SceneGraph:
    """Return the part of the scene that `footprint` names, in one round trip. Raises SceneReplaced."""
    text, parameters = footprint.plan.read_statement, footprint.parameters

    def work(tx: ManagedTransaction) -> SceneGraph:
        record = tx.run(text, parameters, key=scene.key).single()
        if record is None or record["status"] != "ready":
            raise SceneReplaced(scene.name)
        return partial_graph(record["nodes"], record["relations"])

    return database.read(work)

"""Read of a part of a scene by the same plan as an action's."""

from __future__ import annotations

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import partial_graph
from scenecypher.db.store.connection import Database
from scenecypher.db.store.footprint import Footprint
from scenecypher.db.store.steady import steady_record


def read_part(database: Database, scene: SceneInfo, footprint: Footprint) -> SceneGraph:
    """Return the part of the scene that `footprint` names, at one version. Raises SceneReplaced, ServiceError."""
    text, parameters = footprint.plan.read_statement, footprint.parameters
    record = steady_record(database, scene, text, parameters)
    return partial_graph(record["nodes"], record["relations"])

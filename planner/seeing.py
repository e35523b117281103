"""How a planner looks at the part of a scene that a goal is about."""

from __future__ import annotations

from scenecypher.db.condition import Condition
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.planner.actions.pddl_part import sought_for
from scenecypher.planner.actions.pddl_planner import ReadPart
from scenecypher.planner.relevant import relevant


def seeing(database: Database, scene: SceneInfo, goal: Condition) -> ReadPart:
    """How to look at the part of a scene that a goal is about: one query."""
    sought = sought_for(goal)

    def see(wide: bool) -> SceneGraph:  # noqa: FBT001 - what a See takes
        return relevant(database, scene, sought, wide=wide)

    return see

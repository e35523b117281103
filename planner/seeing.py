"""How a planner looks at the part of a scene that a goal is about."""

from __future__ import annotations

from db.catalog import SceneInfo
from db.condition import Condition
from db.connection import Database
from db.relevant import relevant
from db.scene import SceneGraph
from planner.actions.pddl_part import sought_for
from planner.actions.pddl_planner import See


def seeing(database: Database, scene: SceneInfo, goal: Condition) -> See:
    """How to look at the part of a scene that a goal is about: one query."""
    sought = sought_for(goal)

    def see(wide: bool) -> SceneGraph:  # noqa: FBT001 - what a See takes
        return relevant(database, scene, sought, wide=wide)

    return see

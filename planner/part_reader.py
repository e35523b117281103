"""How a planner looks at the part of a scene that a goal is about."""

from __future__ import annotations

from scenecypher.db.condition import Condition
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.planner.actions.pddl_part import sought_for
from scenecypher.planner.actions.pddl_planner import See
from scenecypher.planner.relevant import read_relevant_part


def part_reader(database: Database, scene: SceneInfo, goal: Condition) -> See:
    """How to look at the part of a scene that a goal is about: one query."""
    sought = sought_for(goal)

    def see(wide: bool) -> SceneGraph:  # noqa: FBT001 - what a See takes
        return read_relevant_part(database, scene, sought, wide=wide)

    return see

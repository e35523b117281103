"""Reader of the part of a scene that is relevant to a goal, for the PDDL planner."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.condition import Condition
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.planner.actions.pddl_part import sought_for
from scenecypher.planner.actions.pddl_planner import ReadPart
from scenecypher.planner.relevant import read_relevant_part
from scenecypher.planner.vocabularies.registry import vocabulary_named

EVERY_NODE: Final = 2**31
"""Size up to which a scene is read whole, if all of it is asked for."""


def part_reader(database: Database, scene: SceneInfo, goal: Condition) -> ReadPart:
    """Return a function that reads the part relevant to `goal` by one query.

    The wide part is the whole scene for actions read from PDDL: nothing is known of what they need besides the goal.
    """
    chosen = vocabulary_named(scene.vocabulary)
    query = replace(sought_for(goal, chosen.operators), small=chosen.planning.small_scene)
    is_unknown = any(effort.lifted for effort in chosen.planning.efforts)

    def read(wide: bool) -> SceneGraph:  # noqa: FBT001 - what a ReadPart takes
        asked = replace(query, small=EVERY_NODE) if wide and is_unknown else query
        return read_relevant_part(database, scene, asked, wide=wide)

    return read

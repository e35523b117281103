"""BabyAI's vocabulary: grid worlds of MiniGrid, with rooms, doors, and things in cells."""

from __future__ import annotations

from typing import Final

from scenecypher.db.vocabulary import Conventions
from scenecypher.planner.vocabularies.babyai import traversal
from scenecypher.planner.vocabularies.babyai.operators import COLORS, OPERATORS, with_obstacles
from scenecypher.planner.vocabularies.vocabulary import Looking, Planning, ReasoningTool, Vocabulary, words_beside

SMALL_SCENE_NODES: Final = 1_000
"""Goals don't name the keys and obstacles on the way: a grid is planned on whole."""


VOCABULARY: Final = Vocabulary(
    name="babyai",
    about="BabyAI's actions; each walks up to its node first.",
    conventions=Conventions(
        containment=("INSIDE", "ON"),
        one_parent=True,
        notes=(
            "Doors join rooms: (:Place)-[:CONNECTS]-(:Door)-[:CONNECTS]-(:Place).",
            "A locked door has the state 'locked' and opens with a key of its color.",
            "center is a grid cell: center.x and center.y.",
        ),
        texts=__name__,
        properties=("color", "center", "size_x", "size_y"),
        classes=("root", "room", "agent", "door", "key", "ball", "box"),
    ),
    operators=OPERATORS,
    looking=Looking(whole_rooms=True, colors=COLORS, affordances_of=lambda _: ("grabbable",)),
    **words_beside(__name__),
    planning=Planning(keeps_one_parent=True, prepare=with_obstacles, rehearsed=False, small_scene=SMALL_SCENE_NODES),
    tools={traversal.NAME: ReasoningTool(traversal.traverse_room, traversal.ARGUMENTS, traversal.ANNOTATION)},
)

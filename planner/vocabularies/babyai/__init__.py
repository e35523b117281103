"""BabyAI's vocabulary: grid worlds of MiniGrid, with rooms, doors, and things in cells."""

from __future__ import annotations

from typing import Final

from scenecypher.db.vocabulary import Conventions
from scenecypher.planner.vocabularies.babyai import traversal
from scenecypher.planner.vocabularies.babyai.operators import COLORS, OPERATORS, with_obstacles
from scenecypher.planner.vocabularies.vocabulary import Looking, Planning, Problems, ReasoningTool, Vocabulary, Words

SMALL_SCENE_NODES: Final = 1_000
"""Goals don't name the keys and obstacles on the way: a grid is planned on whole."""

ENVIRONMENT: Final = """\
The environment is a grid of cells with walls, seen from above: x grows to the right, y downwards. Rooms are \
rectangles enclosed by walls; a room's center is the middle of its rectangle and its size_x and size_y count cells, \
walls included, so that the cells within the walls of a room of size 6 at center (2.5, 2.5) are (1, 1) to (4, 4). \
Doors stand in the walls and join two rooms. Keys, balls and boxes lie in cells, each in a cell of its own, and the \
agent can't walk over them: what lies in the cell before a door blocks it, on either side, and what lies in a narrow \
place may block the way. A locked door opens with a key of its own color in the agent's hand, which holds one thing; \
it keeps the key until another thing is picked up, and may remove things with its hand full."""

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
    words=Words(
        environment=ENVIRONMENT,
        questions=("find the ",),
    ),
    looking=Looking(whole_rooms=True, colors=COLORS, affordances_of=lambda _: ("grabbable",)),
    planning=Planning(keeps_one_parent=True, prepare=with_obstacles, rehearsed=False, small_scene=SMALL_SCENE_NODES),
    problems=Problems(
        argument_places=dict.fromkeys(("pickup", "remove", "open"), (0,)),
        required_affordances={"holds": (1, "grabbable"), "opened": (1, "can_open")},
        relation_predicates={},
        closed=False,
    ),
    tools={traversal.NAME: ReasoningTool(traversal.traverse_room, traversal.ARGUMENTS, traversal.ANNOTATION)},
)

"""The papers' "environment explanation" of prompts, by vocabulary, in our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenecypher.db.schema import family

EXPLANATIONS: Final[Mapping[str, str]] = {
    "babyai": """\
The environment is a grid of cells with walls, seen from above: x grows to the right, y downwards. Rooms are \
rectangles enclosed by walls; a room's center is the middle of its rectangle and its size_x and size_y count cells, \
walls included, so that the cells within the walls of a room of size 6 at center (2.5, 2.5) are (1, 1) to (4, 4). \
Doors stand in the walls and join two rooms. Keys, balls and boxes lie in cells, each in a cell of its own, and the \
agent can't walk over them: what lies in the cell before a door blocks it, on either side, and what lies in a narrow \
place may block the way. A locked door opens with a key of its own color in the agent's hand, which holds one thing; \
it keeps the key until another thing is picked up, and may remove things with its hand full.""",
    "virtualhome": """\
The environment is a home with several rooms. Furniture and appliances stand in rooms; things lie on them, in them or \
in a room. Things have states, such as open or closed, on or off, and affordances, which say what can be done with \
them. A character acts there; it has two hands and must be close to what it uses.""",
    "grasif": """\
The environment is a building with several rooms. Assets (furniture and appliances) stand in rooms and stay there; \
objects are on, in or under assets or other objects and can be moved. Things have states, such as open or closed, \
on or off, and affordances, which say what can be done with them. A robot acts there and holds one object at a time.""",
}
DEFAULT_EXPLANATION: Final = "The environment is a set of places with things in them, and an agent that acts there."


def environment_explanation(vocabulary: str) -> str:
    """Return the prompt's description of the world that scene graphs of this vocabulary represent."""
    return EXPLANATIONS.get(family(vocabulary), DEFAULT_EXPLANATION)

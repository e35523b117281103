"""VirtualHome's actions with the meaning that its `evolving_graph` engine gives them, oddities included.

Where the engine's own outcome follows Python's set order (which thing an object was taken from, where several qualify;
which of two rooms), ours is the first by id. What the engine remembers besides the graph is here in the graph: a thing
that was grabbed has one of the relations `db.schema.REMEMBERED` to where it was.
"""

from __future__ import annotations

from typing import Final

from planner.actions import virtualhome_hands, virtualhome_moves, virtualhome_things

OPERATORS: Final = {
    **virtualhome_moves.OPERATORS,
    **virtualhome_hands.OPERATORS,
    **virtualhome_things.OPERATORS,
}

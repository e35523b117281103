"""VirtualHome's actions with the semantics of its `evolving_graph` engine, oddities included.

If the engine's result depends on Python's set order (the origin of a grabbed object if several qualify; the room if two
qualify), ours is the first by id. What the engine stores besides its graph is part of ours: a grabbed object has one of
the relations `scenecypher.db.schema.REMEMBERED` to its origin.
"""

from __future__ import annotations

from typing import Final

from scenecypher.planner.vocabularies.virtualhome import hands, moves, things

OPERATORS: Final = {
    operator.name: operator
    for operator in (
        *(moves.WALK, hands.GRAB, hands.PUT_ON, hands.PUT_IN),
        *(things.OPEN, things.CLOSE, things.SWITCH_ON, things.SWITCH_OFF),
        *(moves.RUN, moves.FIND, moves.SIT, moves.LIE, moves.STAND_UP, moves.SLEEP, moves.WAKE_UP),
        *(moves.TURN_TO, moves.LOOK_AT, moves.POINT_AT, moves.WATCH, moves.GREET),
        *(hands.PUT_BACK, hands.DROP, hands.RELEASE, hands.POUR, hands.WEAR, hands.PUT_OFF),
        *(hands.READ, hands.DRINK, hands.EAT),
        *(things.PLUG_IN, things.PLUG_OUT, things.WASH, things.RINSE, things.SCRUB, things.WIPE),
        *(things.SQUEEZE, things.TOUCH, things.TYPE, things.CUT, things.PUSH, things.PULL, things.MOVE),
    )
}
"""The most frequent actions come first, as models are shown them."""

"""The worked task of ReAct's prompt: mail to be put into a tray, in a small office of three rooms."""

from __future__ import annotations

from typing import Final

from scenecypher.db.graph.scene import Relation, SceneGraph
from tests.planner.actions.grasif_worlds import node

BRING_THE_MAIL: Final = "put the mail into the tray in the studio"

MAIL: Final = SceneGraph.of(
    [
        *(node(room, "Place") for room in ("hall-1", "porch-1", "studio-1")),
        node("agent-1", "Agent"),
        node("bench-1", "Asset", affordances="put_on"),
        node("locker-1", "Asset", states="closed", affordances="open close put_inside"),
        node("desk-2", "Asset", affordances="put_on"),
        node("hat-1", "Object", affordances="pick_up"),
        node("mail-1", "Object", affordances="pick_up"),
        node("tray-1", "Object", affordances="pick_up put_inside"),
    ],
    [
        *(Relation(x, "INSIDE", "hall-1") for x in ("agent-1", "bench-1", "locker-1")),
        Relation("desk-2", "INSIDE", "studio-1"),
        Relation("hat-1", "ON", "bench-1"),
        Relation("mail-1", "INSIDE", "locker-1"),
        Relation("tray-1", "ON", "desk-2"),
    ],
)
"""The mail is in the locker, which is closed."""

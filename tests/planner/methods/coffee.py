"""The task of LookPlanGraph's prompts (appendix F-3 to F-5): a coffee for Tom, in a home of four rooms."""

from __future__ import annotations

import json
from typing import Final

from scenecypher.db.graph.scene import Relation, SceneGraph
from tests.planner.actions.grasif_worlds import node

INSTRUCTION: Final = "make a coffee for Tom and place it in his room."

COFFEE: Final = SceneGraph.of(
    [
        *(node(room, "Place") for room in ("toms_room-1", "jack_room-1", "kitchen-1", "living_room-1")),
        node("agent-1", "Agent"),
        node("table-1", "Asset", affordances="put_on"),
        node("table-2", "Asset", affordances="put_on"),
        node("shelf-1", "Asset", affordances="put_on"),
        node("cupboard-1", "Asset", states="closed", affordances="open close put_inside"),
        node("coffee_machine-1", "Asset", states="off", affordances="put_inside turn_on turn_off"),
        node("cup-1", "Object", affordances="pick_up"),
        node("spoon-1", "Object", affordances="pick_up"),
        node("book-2", "Object", affordances="pick_up"),
    ],
    [
        *(Relation(x, "INSIDE", "kitchen-1") for x in ("table-1", "cupboard-1", "coffee_machine-1")),
        *(Relation(x, "INSIDE", "toms_room-1") for x in ("agent-1", "table-2")),
        Relation("shelf-1", "INSIDE", "jack_room-1"),
        Relation("cup-1", "ON", "table-1"),
        Relation("spoon-1", "INSIDE", "cupboard-1"),
        Relation("book-2", "ON", "table-2"),
    ],
)
"""The agent stands in Tom's room; the cup is on the kitchen's table."""


def step(reason: str, name: str, node: str, relation: str | None = None, destination: str | None = None) -> str:
    """Return a reply in LookPlanGraph's form."""
    action = {"function_name": name, "node": node, "relation": relation, "destination": destination}
    return json.dumps({"reason": reason, "action": action})


STEPS: Final = (
    step("Tom's room has no cup, so I look in the kitchen.", "go_to", "kitchen-1"),
    step("A cup should be on the table; I make sure.", "discover_objects", "table-1"),
    step("The cup has to be filled.", "rearrange", "cup-1", "inside", "coffee_machine-1"),
    step("The coffee has to be brewed.", "turn_on", "coffee_machine-1"),
    step("It is ready.", "turn_off", "coffee_machine-1"),
    step("Tom wants it in his room.", "rearrange", "cup-1", "ontop", "table-2"),
    step("The cup is there.", "done", "cup-1"),
)
"""The example's steps, without the walk that the simulator adds."""

"""Notes on datasets' and robot maps' conventions that matter to queries, for readers of the schema text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NOTES: Final[Mapping[str, tuple[str, ...]]] = {
    "virtualhome": (
        "A thing in a container is INSIDE the container and INSIDE its room too; so is a thing that lies ON something.",
        "(x)-[:INSIDE]->(:Place) gives the room of anything in one step.",
        "Containment has cycles and a thing may be ON several others: bound variable-length paths and use DISTINCT.",
        "Ids and names are the class and a number ('cup_2004'), so look things up by class.",
        "What an agent holds is HOLDS_RH or HOLDS_LH, by hand; ask for both.",
    ),
    "grasif": (
        "Each thing is INSIDE, ON, UNDER or ATTACHED_TO one other thing or place, at most.",
        "The room of a thing ends its chain: (x)-[:INSIDE|ON|UNDER|ATTACHED_TO*1..5]->(:Place).",
    ),
    "babyai": (
        "Doors join rooms: (:Place)-[:CONNECTS]-(:Door)-[:CONNECTS]-(:Place).",
        "A locked door has the state 'locked' and opens with a key of its color.",
        "center is a grid cell: center.x and center.y.",
    ),
}
"""Notes by vocabulary, as `scenecypher.db.schema.VOCABULARIES` names them; others need none."""

MAP_NOTES: Final = (
    "Rooms are (:Place {layer: 'ROOMS'}); a :Waypoint is only a spot of free space or ground in a room.",
    "The room of a thing is one or two steps away: (x)-[:INSIDE*1..2]->(:Place {layer: 'ROOMS'}).",
    "A robot's center is where it was last; path and times list where and when it was, oldest first.",
    "The time of a robot's center is a.times[-1].",
)
"""Notes for the maps of robots, whatever their vocabulary."""
MAP_MEANINGS: Final[Mapping[str, str]] = {
    "layer": "text, the part of the map that a node belongs to",
    "path": "list of points, where a robot was, oldest first",
    "times": "list of whole numbers, when a robot was at each point of its path, in nanoseconds",
    "distance": "number, metres from a waypoint to the nearest obstacle",
    "last_update_time_ns": "whole number, when the map last changed the node, in nanoseconds",
}
"""Meanings of properties in the maps of robots."""
MAP_INTERNALS: Final = frozenset(
    {
        *("node_type", "semantic_label", "is_active", "is_predicted", "registered", "real_place"),
        *("position", "rotation", "pose_rotation", "box_type", "box_rotation"),
    }
)
"""Properties of a map that its software needs; a query may use them, a model is not told of them."""

"""Notes on conventions that matter to queries, for readers of the schema text: robots' maps, declared properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MAP_NOTES: Final = (
    "Rooms are (:Place {layer: 'ROOMS'}); a :Waypoint is only a spot of free space or ground in a room.",
    "INSIDE leads up the layers: things and waypoints in rooms, rooms in buildings; some waypoints are in no room.",
    "The room of a thing is one or two steps away: (x)-[:INSIDE*1..2]->(:Place {layer: 'ROOMS'}).",
)
"""Notes for the maps of robots, whatever their vocabulary."""
PATH_NOTES: Final = (
    "A robot's center is where it was last; path and times list where and when it was, oldest first.",
    "The time of a robot's center is a.times[-1].",
)
"""Notes for those that hold a robot with its path."""
MAP_MEANINGS: Final[Mapping[str, str]] = {
    "layer": "text, the part of the map that a node belongs to",
    "path": "list of points, where a robot was, oldest first",
    "times": "list of whole numbers, when a robot was at each point of its path, in nanoseconds",
    "distance": "number, metres from a waypoint to the nearest obstacle",
    "last_update_time_ns": "whole number, when the map last changed the node, in nanoseconds",
}
"""Meanings of properties in the maps of robots."""
MEANINGS: Final[Mapping[str, str]] = {
    "traits": "list of text, what tells a thing from others of its class: whose it is, its condition, what it is for",
}
"""Meanings of properties that scenes declare, by their names."""
MAP_INTERNALS: Final = frozenset(
    {
        *("node_type", "semantic_label", "is_active", "is_predicted", "registered", "real_place"),
        *("position", "rotation", "pose_rotation", "box_type", "box_rotation"),
    }
)
"""Properties of a map that its software needs; a query may use them, a model is not told of them."""

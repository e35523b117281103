"""The poses of a 3D scene graph: those of one robot are one Agent that knows its path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from scenecypher.db.graph.scene import LIST_LENGTH, Node, Point, Properties, Value
from scenecypher.db.schema import LAYER
from scenecypher.importers.dsg_format import AGENTS, LAYERS, PATH, TIMES, DsgNode, rotation_value

INDEX_BITS: Final = 56


@dataclass(frozen=True, slots=True)
class Robot:
    """A robot and its poses, oldest first; `id` is the letter of their symbols."""

    id: str
    poses: tuple[DsgNode, ...]

    @property
    def latest(self) -> DsgNode:
        """The latest pose."""
        return self.poses[-1]

    def node(self) -> Node:
        """Return the Agent: the latest pose is its `center`; `path` and `times` list the latest LIST_LENGTH poses."""
        kept = self.poses[-LIST_LENGTH:]
        path = tuple(Point(*pose.attributes.position) for pose in kept if pose.attributes.position is not None)
        times = tuple(pose.time for pose in kept if pose.time is not None)
        properties: dict[str, Value | None] = {
            LAYER: AGENTS,
            "center": path[-1] if path else None,
            "pose_rotation": rotation_value(self.latest.attributes.pose_rotation),
            PATH: path or None,
            TIMES: times if len(times) == len(path) else None,
        }
        layer = LAYERS[AGENTS]
        return Node(self.id, layer.kind, f"{layer.class_}_{self.id}", layer.class_, (), (), Properties(properties))

    @property
    def omitted(self) -> int:
        """The number of oldest poses that the Agent's lists have no room for."""
        return max(0, len(self.poses) - LIST_LENGTH)


def robots_of(poses: Iterable[DsgNode]) -> list[Robot]:
    """Return the robots of the poses, by id."""
    groups: dict[str, list[DsgNode]] = {}
    for pose in poses:
        groups.setdefault(_robot_id(pose.id >> INDEX_BITS), []).append(pose)
    return [Robot(robot_id, tuple(sorted(groups[robot_id], key=_when))) for robot_id in sorted(groups)]


def _robot_id(letter: int) -> str:
    text = chr(letter)
    return text if text.isascii() and text.isalpha() else f"robot_{letter}"


def _when(pose: DsgNode) -> tuple[int, int]:
    return pose.time or 0, pose.id

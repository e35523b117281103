"""A home from above: rooms outlined, furniture and things at their positions, and the path of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.graph.value import Point

MARGIN_M: Final = 0.5


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle seen from above, in the scene's units; `x` and `y` are its left upper corner."""

    id: str
    name: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Spot:
    """A thing or an agent seen from above."""

    id: str
    name: str
    x: float
    y: float
    is_agent: bool


@dataclass(frozen=True, slots=True)
class PlanView:
    """What has a position, from above. `box` is left, top, width and height of all of it; `path` a robot's way."""

    rooms: tuple[Box, ...]
    furniture: tuple[Box, ...]
    spots: tuple[Spot, ...]
    path: tuple[tuple[float, float], ...]
    box: tuple[float, float, float, float]


def plan_of(graph: SceneGraph, vocabulary: str, *, things: bool = True) -> PlanView | None:
    """Return the plan of a scene, None where no room has a position; without `things` only rooms, agents and the path.

    VirtualHome's second axis points up, so that its plan shows the first and the third; elsewhere it shows the first
    two.
    """
    up = 1 if vocabulary.startswith("virtualhome") else 2
    at = {node.id: found for node in graph.nodes.values() if (found := _above(node.properties.get("center"), up))}
    rooms = tuple(_room(graph, node, at, up) for node in graph.nodes.values() if node.kind == "Place" and node.id in at)
    if not rooms:
        return None
    shown = (node for node in graph.nodes.values() if node.id in at and (things or node.kind == "Agent"))
    furniture, spots = list[Box](), list[Spot]()
    for node in shown:
        x, y = at[node.id]
        if node.kind == "Asset" and (size := _size(node, up)):
            furniture.append(Box(node.id, node.name, x - size[0] / 2, y - size[1] / 2, *size))
        elif node.kind in {"Asset", "Object", "Agent"}:
            spots.append(Spot(node.id, node.name, x, y, node.kind == "Agent"))
    path = tuple(_path(graph, up))
    return PlanView(rooms, tuple(furniture), tuple(spots), path, _bounds(rooms, spots, path))


def _above(value: object, up: int) -> tuple[float, float] | None:
    if not isinstance(value, Point):
        return None
    return value.x, value.z if up == 1 and value.z is not None else value.y


def _size(node: Node, up: int) -> tuple[float, float] | None:
    width = node.properties.get("size_x")
    depth = node.properties.get("size_z" if up == 1 else "size_y")
    if isinstance(width, int | float) and isinstance(depth, int | float) and width > 0 and depth > 0:
        return float(width), float(depth)
    return None


def _room(graph: SceneGraph, node: Node, at: dict[str, tuple[float, float]], up: int) -> Box:
    """Return a room's outline: its own size, else the box around all that is in it."""
    x, y = at[node.id]
    if size := _size(node, up):
        return Box(node.id, node.name, x - size[0] / 2, y - size[1] / 2, *size)
    inside = [at[it] for it in graph.reaching(node.id, "INSIDE", "ON") if it in at] + [(x, y)]
    left, top = min(it[0] for it in inside), min(it[1] for it in inside)
    right, bottom = max(it[0] for it in inside), max(it[1] for it in inside)
    return Box(node.id, node.name, left, top, max(right - left, MARGIN_M), max(bottom - top, MARGIN_M))


def _path(graph: SceneGraph, up: int) -> list[tuple[float, float]]:
    for agent in graph.by_kind.get("Agent", ()):
        points = graph.nodes[agent].properties.get("path")
        if isinstance(points, tuple):
            return [found for it in points if (found := _above(it, up))]
    return []


def _bounds(
    rooms: tuple[Box, ...], spots: list[Spot], path: tuple[tuple[float, float], ...]
) -> tuple[float, float, float, float]:
    xs = [it.x for it in rooms] + [it.x + it.width for it in rooms] + [it.x for it in spots] + [it[0] for it in path]
    ys = [it.y for it in rooms] + [it.y + it.height for it in rooms] + [it.y for it in spots] + [it[1] for it in path]
    left, top = min(xs) - MARGIN_M, min(ys) - MARGIN_M
    return left, top, max(xs) + MARGIN_M - left, max(ys) + MARGIN_M - top

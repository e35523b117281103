"""MiniGrid's grid as a scene graph: a root, rooms, doors between them, items and the agent (SG², Figure 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph
from scenecypher.importers.word_tables import listed, tables

GridCell: TypeAlias = tuple[int, int]
"""Column and row from 0 at the top left, including walls."""

ROOT: Final = "root"
AGENT: Final = "agent"

THINGS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    word: (kind, listed(affordances)) for word, (kind, affordances) in tables("words")["babyai"].items()
}
"""MiniGrid's types, which become classes, with kind and affordances."""
Things: TypeAlias = Mapping[str, Any]
"""MiniGrid's objects by node id."""


@dataclass(frozen=True, slots=True)
class GridRoom:
    """A region of cells enclosed by walls and doors."""

    id: str
    cells: frozenset[GridCell]

    @property
    def corners(self) -> tuple[GridCell, GridCell]:
        """Return the top left and bottom right cells, including walls."""
        xs, ys = ([cell[axis] for cell in self.cells] for axis in (0, 1))
        return (min(xs) - 1, min(ys) - 1), (max(xs) + 1, max(ys) + 1)


def neighbors(cell: GridCell) -> tuple[GridCell, ...]:
    """Return the four adjacent cells: right, below, left, above, in MiniGrid's order of directions."""
    x, y = cell
    return (x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)


def position(env: Any) -> GridCell:
    """Return the agent's cell."""
    x, y = env.agent_pos
    return int(x), int(y)


def grid_cells(env: Any) -> dict[GridCell, Any]:
    """Return the object in each cell, None for an empty one, row by row."""
    return {(x, y): env.grid.get(x, y) for y in range(env.grid.height) for x in range(env.grid.width)}


def things_by_id(env: Any) -> dict[str, Any]:
    """Return every object by node id, such as ``key_2``: numbered by type, row by row, contained and held ones last."""
    found = [thing for thing in grid_cells(env).values() if thing is not None and thing.type in THINGS]
    found += [env.carrying] if env.carrying else []
    for thing in found:
        if thing.contains is not None:
            found.append(thing.contains)
    numbers: dict[str, int] = {}
    things: dict[str, Any] = {}
    for thing in found:
        numbers[thing.type] = numbers.get(thing.type, 0) + 1
        things[f"{thing.type}_{numbers[thing.type]}"] = thing
    return things


def rooms(env: Any) -> tuple[GridRoom, ...]:
    """Return the rooms in the order of their first cells, row by row; cells outside of all walls form none."""
    grid = grid_cells(env)
    left = {cell for cell, thing in grid.items() if thing is None or thing.type not in {"wall", "door"}}
    found: list[frozenset[GridCell]] = []
    for cell in grid:
        if cell in left:
            cells = region(cell, left)
            left -= cells
            is_at_edge = any(x in {0, env.grid.width - 1} or y in {0, env.grid.height - 1} for x, y in cells)
            if position(env) in cells or not is_at_edge:
                found.append(cells)
    return tuple(GridRoom(f"room_{number}", cells) for number, cells in enumerate(found, 1))


def grid_scene_graph(env: Any, things: Things) -> SceneGraph:
    """Return the graph of the grid as it is now; `things` come from `things_by_id` at the episode's start."""
    places = rooms(env)
    room_of = {cell: room.id for room in places for cell in room.cells}
    where = {id(thing): cell for cell, thing in grid_cells(env).items() if thing is not None}
    nodes = [Node(ROOT, "Place", ROOT, ROOT), *map(_room_node, places)]
    nodes.append(Node(AGENT, "Agent", AGENT, AGENT, properties=Properties({"center": Point(*position(env))})))
    relations = [Relation(room.id, "INSIDE", ROOT) for room in places]
    here = position(env)  # in a doorway the room that the agent faces is its room
    room_of_agent = room_of.get(here) or room_of.get(neighbors(here)[env.agent_dir], ROOT)
    relations.append(Relation(AGENT, "INSIDE", room_of_agent))
    for node_id, thing in things.items():
        cell = where.get(id(thing))
        parent = next((box_id for box_id, box in things.items() if box.contains is thing), None)
        if cell is not None:
            links = _links(node_id, thing, cell, room_of)
        elif thing is env.carrying:
            links = [Relation(AGENT, "HOLDS", node_id)]
        elif parent is not None:
            links, cell = [Relation(node_id, "INSIDE", parent)], where.get(id(things[parent]))
        else:
            continue
        nodes.append(_thing_node(node_id, thing, cell or position(env)))
        relations += links
    return SceneGraph.of(nodes, relations)


def region(start: GridCell, among: set[GridCell]) -> frozenset[GridCell]:
    """Return the cells that a way over cells `among` these joins to the first."""
    found, waiting = {start}, [start]
    while waiting:
        fresh = {cell for cell in neighbors(waiting.pop()) if cell in among} - found
        found |= fresh
        waiting += fresh
    return frozenset(found)


def _links(node_id: str, thing: Any, cell: GridCell, room_of: Mapping[GridCell, str]) -> list[Relation]:
    if thing.type != "door":
        return [Relation(node_id, "INSIDE", room_of.get(cell, ROOT))]
    joined = dict.fromkeys(room_of[beside] for beside in neighbors(cell) if beside in room_of)
    return [Relation(one, "CONNECTS", other) for room in joined for one, other in ((node_id, room), (room, node_id))]


def _room_node(room: GridRoom) -> Node:
    (left, top), (right, bottom) = room.corners
    center = Point((left + right) / 2, (top + bottom) / 2)
    properties = Properties({"center": center, "size_x": right - left + 1, "size_y": bottom - top + 1})
    return Node(room.id, "Place", room.id, "room", properties=properties)


def _thing_node(node_id: str, thing: Any, cell: GridCell) -> Node:
    kind, affordances = THINGS[thing.type]
    properties = Properties({"color": str(thing.color), "center": Point(*cell)})
    name, states = f"{thing.color} {thing.type}", tuple(_states(thing))
    return Node(node_id, kind, name, thing.type, states, affordances, properties)


def _states(thing: Any) -> Iterator[str]:
    if thing.type == "door":
        yield "open" if thing.is_open else "closed"
        if thing.is_locked:
            yield "locked"

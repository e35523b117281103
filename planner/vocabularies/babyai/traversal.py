"""traverse_room: the items to remove on the way between two cells of a room (SG2, "2D Grid World Traversal")."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from scenecypher.errors import ReplyRejected
from scenecypher.importers.babyai_grid import GridCell

NAME: Final = "traverse_room"
ARGUMENTS: Final = ("room_center", "room_size", "items", "start", "goal")
ANNOTATION: Final = """\
traverse_room(room_center, room_size, items, start, goal)
    Finds which items have to be removed so that the agent can walk within one room from one cell to another.
    room_center: [x, y], the center of the room as the graph has it.
    room_size: [size_x, size_y], walls included.
    items: a list of [id, x, y], one for each key, ball and box that lies in the room.
    start: [x, y], the cell where the agent is.
    goal: [x, y], the cell to reach; it may be that of an item in the room or of a door in its wall.
    Returns the list of the ids to remove, in the order in which they are met; [] where the way is free. \
What lies in the cell goal itself is never among them."""
HINT: Final = f"call it as {NAME}([x, y], [size_x, size_y], [[id, x, y], ...], [x, y], [x, y])"
MAX_ROOM_CELLS: Final = 200
"""Largest size of a room along an axis, in cells."""
REMOVAL_COST: Final = MAX_ROOM_CELLS**2
"""Cost of an item on the path, in steps: any detour is preferred to removing one."""


@dataclass(frozen=True, slots=True)
class RoomCells:
    """Cells within a room's walls, by corners, and the items in them."""

    low: GridCell
    high: GridCell
    items: Mapping[GridCell, str]

    def near(self, cell: GridCell, ends: frozenset[GridCell]) -> Iterator[GridCell]:
        """Yield the adjacent walkable cells, with or without items; `ends` may lie in the wall."""
        x, y = cell
        for beside in ((x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)):
            within = all(a <= b <= c for a, b, c in zip(self.low, beside, self.high, strict=True))
            if within or beside in ends:
                yield beside


def traverse_room(room_center: Any, room_size: Any, items: Any, start: Any, goal: Any) -> list[str]:
    """Return the ids of the items to remove on the best path, by A*: the fewest items, then the fewest steps.

    Raises ReplyRejected, with a hint on the call, for malformed arguments and if there is no path.
    """
    room = _room(_pair(room_center, "room_center"), _pair(room_size, "room_size"), items)
    path = _shortest_path(room, _cell(start, "start"), _cell(goal, "goal"))
    return [room.items[cell] for cell in path[1:-1] if cell in room.items]


def _shortest_path(room: RoomCells, start: GridCell, goal: GridCell) -> list[GridCell]:
    """Return the cells of the best path, both ends included."""
    ends, before, cost = frozenset({start, goal}), {start: start}, {start: 0}
    open_: list[tuple[int, GridCell]] = [(_distance(start, goal), start)]
    while open_:
        _, cell = heapq.heappop(open_)
        if cell == goal:
            return _path_from(before, goal)
        for beside in room.near(cell, ends):
            more = cost[cell] + 1 + (REMOVAL_COST if beside in room.items and beside != goal else 0)
            if more < cost.get(beside, more + 1):
                before[beside], cost[beside] = cell, more
                heapq.heappush(open_, (more + _distance(beside, goal), beside))
    raise ReplyRejected(f"no way leads from {list(start)} to {list(goal)} within this room; give cells of one room")


def _path_from(before: Mapping[GridCell, GridCell], goal: GridCell) -> list[GridCell]:
    path = [goal]
    while before[path[-1]] != path[-1]:
        path.append(before[path[-1]])
    return path[::-1]


def _distance(one: GridCell, other: GridCell) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _room(center: tuple[float, float], size: tuple[float, float], items: Any) -> RoomCells:
    if any(not 0 < length <= MAX_ROOM_CELLS for length in size):
        raise ReplyRejected(f"room_size is {list(size)}; {HINT}")
    corners = [
        (round(middle - (length - 1) / 2), round(middle + (length - 1) / 2))
        for middle, length in zip(center, size, strict=True)
    ]
    if not isinstance(items, list | tuple):
        raise ReplyRejected(f"items is no list; {HINT}")
    (left, right), (top, bottom) = corners
    return RoomCells((left + 1, top + 1), (right - 1, bottom - 1), dict(map(_item, items)))


def _item(item: Any) -> tuple[GridCell, str]:
    match item:
        case [str(id_), x, y] | [str(id_), [x, y]]:
            return _cell([x, y], "an item"), id_
        case {"id": str(id_), "x": x, "y": y} | {"id": str(id_), "center": {"x": x, "y": y} | [x, y]}:
            return _cell([x, y], "an item"), id_
    raise ReplyRejected(f"an item is no [id, x, y]; {HINT}")


def _cell(value: Any, name: str) -> GridCell:
    x, y = _pair(value, name)
    return round(x), round(y)


def _pair(value: Any, name: str) -> tuple[float, float]:
    """Return two numbers, written as [x, y] or {"x": x, "y": y}."""
    match value:
        case [int() | float() as x, int() | float() as y] | {"x": int() | float() as x, "y": int() | float() as y}:
            if all(abs(number) < REMOVAL_COST for number in (x, y)):
                return float(x), float(y)
    raise ReplyRejected(f"{name} is not two numbers; {HINT}")

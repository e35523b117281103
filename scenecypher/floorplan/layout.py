"""Where a home is drawn: rooms beside those that they are joined with, furniture in rooms, things on what bears them.

One layout serves the page's canvas, files and pictures. A room without a position has a size that depends on its
furniture alone, and a place that depends on the sizes and doors of rooms: what agents move moves nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt
from typing import Any, Final

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.graph.value import Point
from scenecypher.floorplan.home_view import HomeView, Mark, Thing, adjacent_rooms

FURNITURE: Final = (4.6, 3.0)
"""Width and height of a piece of furniture without a position; a thing is at most 2 by 1."""
THING: Final = (2.0, 1.0)
TITLE, FLOOR, EDGE = 1.4, 2.2, 0.2
"""Heights of a room's title and of the strip for what stands on its floor; the margin around boxes."""
AGENTS_WIDTH: Final = THING[0] + EDGE
"""Width of the strip's left end, which is the agents': who walks in or out moves nothing else."""
DOOR: Final = 1.6
DOOR_M: Final = 0.9
SHARED: Final = 0.2
"""The shortest stretch of a common wall that a door is drawn in."""
THING_M, FURNITURE_M = 0.25, 0.6
SIDES_M: Final = {"Asset": FURNITURE_M, "Waypoint": 0.1}
"""Sides of a thing, of furniture and of a waypoint with a position and without a size."""
MARGIN_M: Final = 0.5
MOST_PLACED: Final = 150
"""Up to so many rooms with doors each is put beside those that it is joined with; more stand in rows."""
HEAD: Final = 0.32
"""The part of a box's height that is its own name, where things are in or on it."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; `x` and `y` are its left upper corner, `y` grows downwards."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        """The centre."""
        return self.x + self.width / 2, self.y + self.height / 2

    def within(self, left: float, top: float, right: float, bottom: float) -> Box:
        """Return the rectangle without these margins; never turned inside out."""
        width, height = max(self.width - left - right, 0), max(self.height - top - bottom, 0)
        return Box(self.x + left, self.y + top, width, height)

    def moved(self, x: float, y: float) -> Box:
        """Return the rectangle elsewhere."""
        return replace(self, x=x, y=y)

    def meets(self, other: Box) -> bool:
        """Check if the two overlap by more than an edge."""
        across = self.x < other.x + other.width - 1e-9 and other.x < self.x + self.width - 1e-9
        return across and self.y < other.y + other.height - 1e-9 and other.y < self.y + self.height - 1e-9


@dataclass(frozen=True, slots=True)
class Shape:
    """A node where it is drawn, with what it is called and why it stands out.

    `parent` is the shape that it lies in, `height` how high its middle is, 0 where it is not known.
    """

    id: str
    name: str
    class_: str
    kind: str
    states: tuple[str, ...]
    mark: Mark
    parent: str
    box: Box
    height: float = 0.0

    def document(self) -> list[Any]:
        """Return what the page's script draws, numbers to two digits."""
        words = [self.id, self.name, self.class_, self.kind, self.parent, [*self.states], self.mark]
        return [*words, *_rounded(self.box), round(self.height, 2)]


@dataclass(frozen=True, slots=True)
class Doorway:
    """A line between two rooms: an opening in their wall if `is_in_wall`, else they are joined from afar."""

    ends: tuple[float, float, float, float]
    is_in_wall: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """A home as shapes, what others lie in first. In metres if `is_metric`.

    `path` is a robot's way, `lattice` the pairs of a map's waypoints that are joined.
    """

    shapes: tuple[Shape, ...]
    doors: tuple[Doorway, ...]
    path: tuple[tuple[float, float], ...]
    bounds: Box
    is_metric: bool
    lattice: tuple[tuple[str, str], ...] = ()

    def document(self) -> dict[str, Any]:
        """Return what the page's script draws: a list for each shape, numbers to two digits."""
        return {
            "shapes": [it.document() for it in self.shapes],
            "doors": [[*(round(end, 2) for end in it.ends), it.is_in_wall] for it in self.doors],
            "lattice": [[*pair] for pair in self.lattice],
            "path": [[round(x, 2), round(y, 2)] for x, y in self.path],
            "bounds": _rounded(self.bounds),
            "metric": self.is_metric,
        }


def drawing_of(graph: SceneGraph, view: HomeView) -> Drawing:
    """Return where all nodes of a view are drawn, seen from above; by their positions if a room has one."""
    places = {it.id: found for it in graph.nodes.values() if (found := _position(it)) is not None}
    parts = {it.id: _own(it) for it in view.rooms if _own(it) or not any(in_it.kind == "Place" for in_it in it.things)}
    rooms = {it.id: it for it in view.rooms if it.id in parts}
    is_metric = any(it in places for it in rooms)
    elsewhere = tuple(it for it in view.elsewhere if not (is_metric and it.id in places))
    if elsewhere:
        rooms[""] = Thing("", "in no room", "", "Place", "", (), "", (), 0)
        parts[""] = elsewhere
    boxes = _measured(graph, rooms, places) if is_metric else _arranged({it: _size(parts[it]) for it in rooms}, graph)
    drawer = Drawer(graph, places if is_metric else {})
    for room_id, room in rooms.items():
        drawer.add(room, "", boxes[room_id])
        drawer.room(room_id, boxes[room_id], parts[room_id])
    if is_metric:
        drawer.placed("", view.elsewhere)
    path = tuple(_path(graph)) if is_metric else ()
    bounds = _around([*(it.box for it in drawer.shapes), *(Box(x, y, 0, 0) for x, y in path)])
    joined = ((one, other) for one in boxes if one for other in sorted(adjacent_rooms(graph, one) & {*boxes}))
    wide = DOOR_M if is_metric else DOOR
    doors = tuple(_doorway(boxes[one], boxes[other], wide) for one, other in joined if one < other)
    points = [it for it in graph.by_kind.get("Waypoint", ()) if it in places] if is_metric else []
    ways = ((one, it) for one in points for it in sorted(graph.targets(one, "CONNECTS")))
    lattice = tuple((one, it) for one, it in ways if one < it and it in places)
    return Drawing(tuple(drawer.shapes), doors, path, bounds, is_metric, lattice)


def _own(room: Thing) -> tuple[Thing, ...]:
    return tuple(it for it in room.things if it.kind not in {"Place", "Door"})


@dataclass(slots=True)
class Drawer:
    """Collects the shapes of one home."""

    graph: SceneGraph
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    shapes: list[Shape] = field(default_factory=list)

    def add(self, thing: Thing, parent: str, box: Box) -> None:
        """Draw a thing without what is in or on it."""
        high = _height(self.graph.nodes[thing.id]) if thing.id in self.places else 0.0
        shape = Shape(thing.id, thing.name, thing.class_, thing.kind, thing.states, thing.mark, parent, box, high)
        self.shapes.append(shape)

    def room(self, room: str, box: Box, things: Sequence[Thing]) -> None:
        """Draw what is in a room: by positions, else furniture in a grid and the rest in a strip below it."""
        inner = box.within(EDGE, TITLE, EDGE, EDGE)
        if self.places:
            small = min(box.width, box.height) / 8
            self.fill(room, box.within(small, small, small, small), self.placed(room, things))
            return
        furniture = sorted((it for it in things if it.kind == "Asset"), key=lambda it: (it.name, it.id))
        columns = _columns(len(furniture))
        for number, one in enumerate(furniture):
            at = inner.x + number % columns * FURNITURE[0], inner.y + number // columns * FURNITURE[1]
            self.within(one, room, Box(*at, *FURNITURE).within(EDGE, EDGE, EDGE, EDGE))
        self.floor(room, box, [it for it in things if it.kind != "Asset"], furniture=len(furniture))

    def floor(self, room: str, box: Box, things: Sequence[Thing], *, furniture: int) -> None:
        """Draw what stands in a room and is no furniture: in the strip below so much of it, agents at its left end."""
        below = ceil(furniture / _columns(furniture)) * FURNITURE[1]
        strip = box.within(EDGE, TITLE, EDGE, EDGE).within(EDGE, below, EDGE, EDGE)
        self.fill(room, replace(strip, width=AGENTS_WIDTH), [it for it in things if it.kind == "Agent"])
        self.fill(room, strip.within(AGENTS_WIDTH, 0, 0, 0), [it for it in things if it.kind != "Agent"])

    def fill(self, parent: str, area: Box, things: Sequence[Thing]) -> None:
        """Draw things side by side in an area, as large as fits."""
        if not things:
            return
        columns = _fitting(len(things), area)
        rows = ceil(len(things) / columns)
        size = min(area.width / columns, THING[0]), min(area.height / rows, THING[1])
        for number, one in enumerate(sorted(things, key=lambda it: (it.kind != "Agent", it.name, it.id))):
            at = area.x + number % columns * size[0], area.y + number // columns * size[1]
            edge = min(size) * 0.08
            self.within(one, parent, Box(*at, *size).within(edge, edge, edge, edge))

    def within(self, thing: Thing, parent: str, box: Box) -> None:
        """Draw a thing, and below its name what is in or on it."""
        self.add(thing, parent, box)
        self.contents(thing.id, box, thing.things)

    def contents(self, holder: str, box: Box, things: Sequence[Thing]) -> None:
        """Draw what is in or on a thing, below its name."""
        edge = min(box.width, box.height) * 0.06
        inner = box.within(edge, max(box.height * HEAD, edge), edge, edge)
        self.fill(holder, inner, self.placed(holder, things))

    def placed(self, parent: str, things: Iterable[Thing]) -> list[Thing]:
        """Draw the things that have positions, and return the others."""
        others = list[Thing]()
        for one in things:
            at = self.places.get(one.id)
            if at is None:
                others.append(one)
                continue
            side = SIDES_M.get(one.kind, THING_M)
            width, depth = _sides(self.graph.nodes[one.id]) or (side, side)
            self.within(one, parent, Box(at[0] - width / 2, at[1] - depth / 2, width, depth))
        return others


def _columns(furniture: int) -> int:
    return max(2, round(sqrt(furniture * FURNITURE[1] / FURNITURE[0] * 1.3)))


def _fitting(number: int, area: Box) -> int:
    """Return the number of columns by which cells of an area are nearest to the form of a thing."""
    if area.width <= 0 or area.height <= 0:
        return number
    wanted = sqrt(number * area.width / area.height * THING[1] / THING[0])
    return min(max(1, round(wanted)), number)


def _size(things: Iterable[Thing]) -> tuple[float, float]:
    """Return a room's width and height, by the number of its furniture."""
    furniture = sum(it.kind == "Asset" for it in things)
    columns = _columns(furniture)
    return columns * FURNITURE[0] + 2 * EDGE, TITLE + ceil(furniture / columns) * FURNITURE[1] + FLOOR + EDGE


def _arranged(sizes: Mapping[str, tuple[float, float]], graph: SceneGraph) -> dict[str, Box]:
    """Return each room at a wall of one that it is joined with, from the one with most doors on; the others in rows."""
    joined = {it: adjacent_rooms(graph, it) & {*sizes} if it else set[str]() for it in sizes}
    order = [*_by_doors(joined)]
    with_doors = [it for it in order if joined[it]]
    found = dict[str, Box]()
    for room in with_doors if len(with_doors) <= MOST_PLACED else ():
        walls = [box for it, box in found.items() if it in joined[room]]
        found[room] = _at_a_wall(Box(0, 0, *sizes[room]), walls, [*found.values()])
    whole = _around([*found.values()], 0) if found else Box(0, 0, 0, 0)
    found |= _in_rows([it for it in order if it not in found], sizes, whole)
    return {it: found[it] for it in sizes}


def _at_a_wall(box: Box, walls: Sequence[Box], taken: Sequence[Box]) -> Box:
    """Return a box where it is free beside one of `walls`, else beside any that is taken."""
    for near in (walls, taken):
        free = [it for wall in near for it in _beside(wall, box) if not any(map(it.meets, taken))]
        if free:
            return min(free, key=lambda it: _cost(it, walls, taken))
    return box


def _by_doors(joined: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield rooms, those with most doors first, each followed by the rooms that it is joined with."""
    waiting, seen = sorted(joined, key=lambda it: (not it, -len(joined[it]), it)), set[str]()
    for start in waiting:
        line = [start]
        while line:
            room = line.pop(0)
            if room not in seen:
                seen.add(room)
                yield room
                line += sorted(joined[room] - seen, key=lambda it: (-len(joined[it]), it))


def _beside(wall: Box, box: Box) -> Iterator[Box]:
    """Yield a box at the four sides of another, flush with its corners and in the middle."""
    for share in (0, 0.5, 1):
        x = wall.x + share * (wall.width - box.width)
        y = wall.y + share * (wall.height - box.height)
        yield from (box.moved(wall.x + wall.width, y), box.moved(x, wall.y + wall.height))
        yield from (box.moved(wall.x - box.width, y), box.moved(x, wall.y - box.height))


def _cost(box: Box, walls: Iterable[Box], all_: Iterable[Box]) -> tuple[float, float, float]:
    """Return how bad a place is: how far from the rooms that it is joined with, and how large the whole becomes."""
    x, y = box.middle
    far = sum(abs(it.middle[0] - x) + abs(it.middle[1] - y) for it in walls)
    whole = _around([box, *all_], 0)
    return round(far + 2 * max(whole.width, 1.4 * whole.height), 6), round(y, 6), round(x, 6)


def _in_rows(rooms: Sequence[str], sizes: Mapping[str, tuple[float, float]], above: Box) -> dict[str, Box]:
    """Return rooms in rows below a box."""
    wide = max(above.width, 1.2 * sqrt(sum(width * height for width, height in map(sizes.__getitem__, rooms))))
    found, x, y, tall = dict[str, Box](), above.x, above.y + above.height, 0.0
    for room in rooms:
        width, height = sizes[room]
        if x > above.x and x + width > above.x + wide:
            x, y, tall = above.x, y + tall, 0.0
        found[room] = Box(x, y, width, height)
        x, tall = x + width, max(tall, height)
    return found


def _measured(graph: SceneGraph, rooms: Iterable[str], places: Mapping[str, tuple[float, float]]) -> dict[str, Box]:
    """Return the rooms' outlines: their own sizes, else the boxes around what is in them; others stand below."""
    found = {it: _outline(graph, it, places) for it in rooms if it in places}
    whole = _around([*found.values()], 2 * MARGIN_M)
    x = whole.x
    for room in rooms:
        if room not in found:
            side = max(whole.width / 4, FURNITURE_M)
            found[room] = Box(x, whole.y + whole.height, side, side)
            x += side + MARGIN_M
    return found


def _outline(graph: SceneGraph, room: str, places: Mapping[str, tuple[float, float]]) -> Box:
    x, y = places[room]
    if size := _sides(graph.nodes[room]):
        return Box(x - size[0] / 2, y - size[1] / 2, *size)
    inside = [Box(*places[it], 0, 0) for it in graph.reaching(room, "INSIDE", "ON") if it in places]
    return _around([Box(x, y, 0, 0), *inside])


def _position(node: Node) -> tuple[float, float] | None:
    """Return where a node is seen from above: its second axis there points up on the page."""
    value = node.properties.get("center")
    return _from_above(value) if isinstance(value, Point) else None


def _from_above(point: Point) -> tuple[float, float]:
    return point.x, -point.y


def _height(node: Node) -> float:
    value = node.properties.get("center")
    return value.z or 0.0 if isinstance(value, Point) else 0.0


def _sides(node: Node) -> tuple[float, float] | None:
    width, depth = node.properties.get("size_x"), node.properties.get("size_y")
    if isinstance(width, int | float) and isinstance(depth, int | float) and width > 0 and depth > 0:
        return float(width), float(depth)
    return None


def _path(graph: SceneGraph) -> Iterator[tuple[float, float]]:
    for agent in graph.by_kind.get("Agent", ()):
        points = graph.nodes[agent].properties.get("path")
        if isinstance(points, tuple):
            yield from (_from_above(it) for it in points if isinstance(it, Point))
            return


def _around(boxes: Sequence[Box], margin: float = MARGIN_M) -> Box:
    if not boxes:
        return Box(0, 0, 1, 1)
    left, top = min(it.x for it in boxes) - margin, min(it.y for it in boxes) - margin
    right, bottom = max(it.x + it.width for it in boxes) + margin, max(it.y + it.height for it in boxes) + margin
    return Box(left, top, right - left, bottom - top)


def _doorway(one: Box, other: Box, width: float) -> Doorway:
    """Return the line of two rooms that are joined."""
    near = SHARED * width
    left, right = max(one.x, other.x), min(one.x + one.width, other.x + other.width)
    top, bottom = max(one.y, other.y), min(one.y + one.height, other.y + other.height)
    if abs(right - left) < near and bottom - top > near:
        x, y, half = (left + right) / 2, (top + bottom) / 2, min(width, bottom - top) / 2
        return Doorway((x, y - half, x, y + half), is_in_wall=True)
    if abs(bottom - top) < near and right - left > near:
        x, y, half = (left + right) / 2, (top + bottom) / 2, min(width, right - left) / 2
        return Doorway((x - half, y, x + half, y), is_in_wall=True)
    return Doorway((*one.middle, *other.middle), is_in_wall=False)


def _rounded(box: Box) -> list[float]:
    return [round(it, 2) for it in (box.x, box.y, box.width, box.height)]

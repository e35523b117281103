"""MiniGrid's egocentric view: the visible cells of the world, and the things in them.

The agent of SG2's BabyAI tasks has this 7 x 7 view; a vision model gets a picture of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from scenecypher.chat.model import Image
from scenecypher.db.graph.scene import Node, Point, Properties, SceneGraph
from scenecypher.importers.babyai_grid import THINGS, GridCell, position
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.picture import encode_png

TILE_PIXELS: Final = 32


@dataclass(frozen=True, slots=True)
class Pose:
    """The agent's cell and direction (MiniGrid's number), with the width of its view in cells."""

    cell: GridCell
    direction: int
    size: int = 7

    @classmethod
    def of(cls, env: Any) -> Pose:
        """Return the agent's present pose."""
        return cls(position(env), int(env.agent_dir), int(env.agent_view_size))

    def cell_at(self, column: int, row: int) -> GridCell:
        """Return the world's cell at a cell of the view; the agent is in the middle of the lowest row."""
        ahead, aside = self.size - 1 - row, column - self.size // 2
        (x, y), (forward_x, forward_y) = self.cell, _FORWARD[self.direction]
        return x + ahead * forward_x - aside * forward_y, y + ahead * forward_y + aside * forward_x


_FORWARD: Final[tuple[GridCell, ...]] = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(frozen=True, slots=True)
class GridThing:
    """A thing in a view; `id` is set if the simulator provides it."""

    class_: str
    color: str
    cell: GridCell
    states: tuple[str, ...] = ()
    id: str | None = None


@dataclass(frozen=True, slots=True)
class GridView:
    """View from `pose`: the visible cells, without the agent's own, and the things in them."""

    pose: Pose
    cells: frozenset[GridCell]
    things: tuple[GridThing, ...]


def simulator_view(env: Any, things: Mapping[str, Any] | None = None) -> GridView:
    """Return the simulator's own view, without pictures; `things` are its objects by the ids to use."""
    ids = {id(thing): node_id for node_id, thing in (things or {}).items()}
    contents = dict(_visible_contents(env))
    found = tuple(_thing(thing, cell, ids.get(id(thing))) for cell, thing in contents.items() if _is_thing(thing))
    return GridView(Pose.of(env), frozenset(contents), found)


def join_views(first: GridView, second: GridView) -> GridView:
    """Join two views from the same cell."""
    new = tuple(it for it in second.things if it.cell not in first.cells)
    return GridView(second.pose, first.cells | second.cells, first.things + new)


def render_view(env: Any) -> Image:
    """Render the view as a picture by MiniGrid; hidden cells are dark."""
    pixels = env.get_pov_render(TILE_PIXELS)
    height, width, _ = pixels.shape
    return encode_png(pixels.tobytes(), width=width, height=height)


def visible_cells(env: Any) -> frozenset[GridCell]:
    """Return the cells visible to the agent, as a distance sensor would measure them."""
    return frozenset(cell for cell, _ in _visible_contents(env))


def observations(belief: SceneGraph, view: GridView, *, step: int) -> tuple[Observation, ...]:
    """Return an observation for each room and door of the belief that is in view."""
    return (*_of_rooms(belief, view, step), *_of_doors(belief, view, step))


def _visible_contents(env: Any) -> Iterator[tuple[GridCell, Any]]:
    grid, mask = env.gen_obs_grid()
    pose = Pose.of(env)
    for column in range(pose.size):
        for row in range(pose.size):
            cell = pose.cell_at(column, row)
            if mask[column, row] and cell != pose.cell:
                yield cell, grid.get(column, row)


def _is_thing(thing: Any) -> bool:
    return thing is not None and thing.type in THINGS


def _thing(thing: Any, cell: GridCell, node_id: str | None) -> GridThing:
    states: tuple[str, ...] = ()
    if thing.type == "door":
        states = ("open",) if thing.is_open else ("closed", "locked") if thing.is_locked else ("closed",)
    return GridThing(str(thing.type), str(thing.color), cell, states, node_id)


def _of_rooms(belief: SceneGraph, view: GridView, step: int) -> Iterator[Observation]:
    for room in sorted(belief.by_kind.get("Place", ())):
        cells = frozenset(view.cells & _cells_of(belief.nodes[room]))
        things = [it for it in view.things if it.cell in cells and THINGS[it.class_][0] == "Object"]
        if cells:
            sightings = tuple(_sighting(thing, room) for thing in things)
            yield Observation(room, sightings, step, ("INSIDE",), cells=cells)


def _of_doors(belief: SceneGraph, view: GridView, step: int) -> Iterator[Observation]:
    doors = {_cell_of(belief.nodes[door]): door for door in belief.by_kind.get("Door", ())}
    for thing in view.things:
        if thing.class_ == "door" and thing.cell in doors:
            yield Observation(doors[thing.cell], (), step, (), states=thing.states)


def _sighting(thing: GridThing, room: str) -> Sighting:
    return Sighting(
        f"{thing.color} {thing.class_}",
        thing.class_,
        ("INSIDE", room),
        thing.states,
        THINGS[thing.class_][1],
        thing.id,
        position=Point(*thing.cell),
        traits=Properties({"color": thing.color}),
    )


def _cell_of(node: Node) -> GridCell | None:
    center = node.properties.get("center")
    return (round(center.x), round(center.y)) if isinstance(center, Point) else None


def _cells_of(room: Node) -> frozenset[GridCell]:
    """Return the cells within a room's walls; none for a place of unknown size, such as the root."""
    facts = room.properties
    match facts.get("center"), facts.get("size_x"), facts.get("size_y"):
        case Point(x=x, y=y), int(width) | float(width), int(height) | float(height):
            left, top = round(x - (width - 1) / 2), round(y - (height - 1) / 2)
            inside = range(left + 1, round(left + width - 1)), range(top + 1, round(top + height - 1))
            return frozenset((column, row) for column in inside[0] for row in inside[1])
    return frozenset()

"""MiniGrid's egocentric view: the visible cells of the world, and the things in them.

The agent of SG2's BabyAI tasks has this 7 x 7 view; a vision model gets a picture of it, which it describes first, and
then puts into a form by cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from scenecypher.chat import Image, Message, Model, Usage
from scenecypher.db.graph.scene import Node, Point, Properties, SceneGraph
from scenecypher.importers.babyai_grid import THINGS, GridCell, position
from scenecypher.planner.perception.naming import TEXTS
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.picture import encode_png
from scenecypher.planner.perception.placing import cell_of
from scenecypher.planner.perception.vision import describe_images, parse_description

TILE_PIXELS: Final = 32
DOOR_STATES: Final[Mapping[object, tuple[str, ...]]] = {
    "open": ("open",),
    "closed": ("closed",),
    "locked": ("closed", "locked"),
}


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
    contents, found = dict(_visible_contents(env)), list[GridThing]()
    for cell, thing in contents.items():
        if thing is not None and thing.type in THINGS:
            is_door = thing.type == "door"
            state = is_door and ("open" if thing.is_open else "locked" if thing.is_locked else "closed")
            states = DOOR_STATES.get(state, ())
            found.append(GridThing(thing.type, thing.color, cell, states, ids.get(id(thing))))
    return GridView(Pose.of(env), frozenset(contents), tuple(found))


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


def observations(belief: SceneGraph, view: GridView, *, step: int) -> Iterator[Observation]:
    """Yield an observation for each room and door of the belief that is in view."""
    for room in sorted(belief.by_kind.get("Place", ())):
        cells = frozenset(view.cells & _cells_of(belief.nodes[room]))
        things = (it for it in view.things if it.cell in cells and THINGS[it.class_][0] == "Object")
        if cells:
            yield Observation(room, tuple(_sighting(it, room) for it in things), step, ("INSIDE",), cells=cells)
    doors = {cell_of(belief.nodes[door]): door for door in belief.by_kind.get("Door", ())}
    for thing in view.things:
        if thing.class_ == "door" and thing.cell in doors:
            yield Observation(doors[thing.cell], (), step, (), states=thing.states)


def _visible_contents(env: Any) -> Iterator[tuple[GridCell, Any]]:
    grid, mask = env.gen_obs_grid()
    pose = Pose.of(env)
    for column, row in product(range(pose.size), repeat=2):
        cell = pose.cell_at(column, row)
        if mask[column, row] and cell != pose.cell:
            yield cell, grid.get(column, row)


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


def _cells_of(room: Node) -> frozenset[GridCell]:
    """Return the cells within a room's walls; none for a place of unknown size, such as the root."""
    facts = room.properties
    match facts.get("center"), facts.get("size_x"), facts.get("size_y"):
        case Point(x=x, y=y), int(width) | float(width), int(height) | float(height):
            left, top = round(x - (width - 1) / 2), round(y - (height - 1) / 2)
            columns, rows = range(left + 1, round(left + width - 1)), range(top + 1, round(top + height - 1))
            return frozenset(product(columns, rows))
    return frozenset()


class SeenCell(BaseModel):
    """One thing in a reply."""

    kind: Literal["key", "ball", "box", "door", "goal", "lava"]
    color: Literal["red", "green", "blue", "purple", "yellow", "grey"] | None
    column: Annotated[int, Field(ge=0)]
    row: Annotated[int, Field(ge=0)]
    state: Literal["open", "closed", "locked"] | None


class Cells(BaseModel):
    """A reply: how much of the picture could be made out, and all that it shows."""

    extent: Literal["whole", "part", "nothing"]
    things: Annotated[list[SeenCell], Field(max_length=500)]


def read_view(model: Model, image: Image, *, pose: Pose, visible: frozenset[GridCell]) -> tuple[GridView, Usage]:
    """Read the view in a picture taken from `pose`; `visible` are the visible cells, as measured by sensors.

    Things outside visible cells, and second things in a cell, are ignored. Of a picture that could be made out in part,
    only the cells of things count as seen. Raises ReplyRejected, ModelUnavailable.
    """
    frame = {"size": pose.size, "middle": pose.size // 2, "last": pose.size - 1}
    description, described = describe_images(model, (image,), TEXTS["grid_describe"].format_map(frame))
    asked = Message("user", TEXTS["grid_parse"].format(**frame, description=description))
    cells, usage = parse_description(model, (asked,), Cells, spent=described)
    found = {thing.cell: thing for thing in reversed([*_things(cells, pose)]) if thing.cell in visible}
    if cells.extent == "nothing":
        found = {}
    made_out = visible if cells.extent == "whole" else frozenset(found)
    return GridView(pose, made_out, tuple(found[cell] for cell in sorted(found))), usage


def _things(cells: Cells, pose: Pose) -> Iterator[GridThing]:
    for seen in cells.things:
        cell = pose.cell_at(seen.column, seen.row)
        if seen.color is not None or seen.kind in {"goal", "lava"}:
            yield GridThing(seen.kind, seen.color or "", cell, DOOR_STATES.get(seen.state, ()))

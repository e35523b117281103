"""A MiniGrid level as an environment: actions are MiniGrid's own steps, observations its 7 x 7 view.

The agent of SG2's BabyAI tasks has this view: the visible cells of the world, and the things in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any, Final

from scenecypher.chat import Image
from scenecypher.db.graph.scene import Node, Point, Properties, SceneGraph
from scenecypher.errors import UnknownReference
from scenecypher.importers.babyai import level_instance
from scenecypher.importers.babyai_grid import THINGS, GridCell, neighbors, position
from scenecypher.planner.actions.text import ActionIds, parse_action
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.picture import encode_png
from scenecypher.planner.perception.placing import cell_of
from scenecypher.planner.perception.truth import Body
from scenecypher.planner.worlds.minigrid import Executor

TILE_PIXELS: Final = 32
DOOR_STATES: Final = {"open": ("open",), "closed": ("closed",), "locked": ("closed", "locked")}


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
    """View of an agent: the visible cells, without its own, and the things in them."""

    cells: frozenset[GridCell]
    things: tuple[GridThing, ...]


def simulator_view(env: Any, things: Mapping[str, Any] | None = None) -> GridView:
    """Return the simulator's own view, without pictures; `things` are its objects by the ids to use."""
    ids = {id(thing): node_id for node_id, thing in (things or {}).items()}
    contents, found = dict(_visible_contents(env)), list[GridThing]()
    for cell, thing in contents.items():
        if thing is not None and thing.type in THINGS:
            states: tuple[str, ...] = ()
            if thing.type == "door":
                states = DOOR_STATES["open" if thing.is_open else "locked" if thing.is_locked else "closed"]
            found.append(GridThing(thing.type, thing.color, cell, states, ids.get(id(thing))))
    return GridView(frozenset(contents), tuple(found))


def join_views(first: GridView, second: GridView) -> GridView:
    """Join two views from the same cell."""
    new = tuple(it for it in second.things if it.cell not in first.cells)
    return GridView(first.cells | second.cells, first.things + new)


def render_view(env: Any) -> Image:
    """Render the view as a picture by MiniGrid; hidden cells are dark."""
    pixels = env.get_pov_render(TILE_PIXELS)
    height, width, _ = pixels.shape
    return encode_png(pixels.tobytes(), width=width, height=height)


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
    """Yield the visible cells with what is in them; the agent's own, left out, is in the middle of the lowest row."""
    (grid, mask), size = env.gen_obs_grid(), int(env.agent_view_size)
    (x, y), (forward_x, forward_y) = position(env), neighbors((0, 0))[int(env.agent_dir)]
    for column, row in product(range(size), repeat=2):
        ahead, aside = size - 1 - row, column - size // 2
        cell = x + ahead * forward_x - aside * forward_y, y + ahead * forward_y + aside * forward_x
        if mask[column, row] and (ahead or aside):
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


DIRECTIONS: Final = 4


class MiniGridEnvironment:
    """One instance of a level, such as ``trv1`` with the seed 7: the world behind the scene ``babyai/trv1/7``.

    Raises InputError for an unknown level.
    """

    def __init__(self, level: str, seed: int) -> None:
        self._level, self._seed = level, seed
        self._fulfilled = False
        self._start()

    @property
    def fulfilled(self) -> bool:
        """True once MiniGrid reports its mission as done."""
        return self._fulfilled

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        """Walk and act by real steps. Raises ActionRefused if it can't be done; steps may have been taken by then.

        Raises InputError if another action has this id.
        """
        del because  # no history is kept
        call = parse_action(action)
        if not self._done.has(action_id, call):
            self._fulfilled = self._executor.do(call).fulfilled or self._fulfilled
            self._done.add(action_id, call)

    def observe(self, of: str, *, step: int) -> Observation:
        """Turn the agent around once and return what this shows of a room, a door or an object.

        What is out of view is left out: it counts neither as present nor as absent. Raises UnknownReference, and
        ActionRefused if the episode has ended.
        """
        if of not in self._map:
            msg = f"there is no {of[:100]!r} in {self._level}/{self._seed} to look at; use the id of a node in it"
            raise UnknownReference(msg)
        view = reduce(join_views, [self._turn_and_read() for _ in range(DIRECTIONS)])
        found = {it.of: it for it in observations(self._map, view, step=step)}
        return found.get(of, Observation(of, (), step, ()))

    def body(self, agent: str) -> Body | None:
        """Return what the agent carries; its place is known by a look only."""
        carried = self._env.unwrapped.carrying
        held = (node_id for node_id, thing in self._things.items() if thing is carried and carried is not None)
        return Body(agent, tuple(("HOLDS", self._map.nodes[node_id]) for node_id in held))

    def reset(self) -> None:
        """Start the same instance again."""
        self._start()

    def _start(self) -> None:
        started = level_instance(self._level, self._seed)
        self._env, self._things, self._map = started.env, started.things, started.scene.graph
        self._executor = Executor(started.env, started.things)
        self._done = ActionIds()
        self._fulfilled = False

    def _turn_and_read(self) -> GridView:
        self._executor.turn()
        return simulator_view(self._env, self._things)

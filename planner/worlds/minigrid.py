"""A graph's actions in MiniGrid's own steps: paths, walks, turns, and places where the held item blocks nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from scenecypher.errors import ActionRefused, did_you_mean
from scenecypher.importers.babyai_grid import GridCell, Things, grid_cells, neighbors, position, rooms
from scenecypher.planner.actions.text import ActionCall


@dataclass(frozen=True, slots=True)
class GridLayout:
    """Cells by content: `empty`, `floor`, `open` and `shut` doors, and `things`, which can be picked up.

    The agent can stand in `empty`, `open` and `floor`, an item only in `empty`. All other cells are obstacles.
    """

    empty: frozenset[GridCell]
    floor: frozenset[GridCell]
    open: frozenset[GridCell]
    shut: frozenset[GridCell]
    things: frozenset[GridCell]

    @classmethod
    def of(cls, env: Any) -> GridLayout:
        """Return the layout of the grid as it is now; the agent occupies no cell."""
        groups: dict[str, set[GridCell]] = {name: set() for name in ("empty", "floor", "open", "shut", "things")}
        for cell, thing in grid_cells(env).items():
            if name := _group(thing):
                groups[name].add(cell)
        return cls(**{name: frozenset(group) for name, group in groups.items()})

    def with_thing(self, cell: GridCell) -> GridLayout:
        """Return the layout with an item added in `cell`."""
        return replace(self, empty=self.empty - {cell}, things=self.things | {cell})

    def with_doors_open(self) -> GridLayout:
        """Return the layout with every door open."""
        return replace(self, open=self.open | self.shut, shut=frozenset())

    def reachable(self, start: GridCell) -> dict[GridCell, GridCell]:
        """Return the reachable cells, the nearest first, each with its predecessor; `start` with itself."""
        free = self.empty | self.floor | self.open
        before = {start: start}
        waiting = [start]
        for cell in waiting:
            fresh = [beside for beside in neighbors(cell) if beside in free and beside not in before]
            before |= dict.fromkeys(fresh, cell)
            waiting += fresh
        return before

    def path_beside(self, start: GridCell, goal: GridCell) -> list[GridCell] | None:
        """Return the path from `start` (excluded) to the nearest cell beside `goal`; None if there is none."""
        stand = next((cell for cell in self.reachable(start) if goal in neighbors(cell)), None)
        return None if stand is None else self.path_to(start, stand)

    def path_to(self, start: GridCell, goal: GridCell) -> list[GridCell]:
        """Return the path from `start` (excluded) to `goal`, which must be reachable."""
        before, path = self.reachable(start), [goal]
        while path[-1] != start:
            path.append(before[path[-1]])
        return path[-2::-1]

    def drop_spot(self, start: GridCell, preferred: Iterable[GridCell] = ()) -> tuple[GridCell, GridCell] | None:
        """Return where to stand and where to put the held item: the nearest such pair, `preferred` cells first.

        Every item and door that is reachable before is reachable afterwards, with the doors as they are and with all
        open.
        """
        spots = [(stand, cell) for stand in self.reachable(start) for cell in neighbors(stand) if cell in self.empty]
        preferred_cells = frozenset(preferred)
        spots.sort(key=lambda spot: spot[1] not in preferred_cells)
        return next((spot for spot in spots if self._harmless(*spot)), None)

    def _harmless(self, stand: GridCell, cell: GridCell) -> bool:
        before, after = self, self.with_thing(cell)
        return all(
            one.touchable(stand) <= other.touchable(stand)
            for one, other in ((before, after), (before.with_doors_open(), after.with_doors_open()))
        )

    def touchable(self, start: GridCell) -> set[GridCell]:
        """Return the cells of items and doors that can be walked up to."""
        near = {beside for cell in self.reachable(start) for beside in (cell, *neighbors(cell))}
        return near & (self.things | self.shut | self.open)


def turns(direction: int, cell: GridCell, beside: GridCell) -> Iterator[str]:
    """Yield the turns of an agent in `cell`, looking in MiniGrid's `direction`, to face the cell `beside`."""
    quarter = (neighbors(cell).index(beside) - direction) % 4
    yield from ["left"] if quarter == 3 else ["right"] * quarter


def _group(thing: Any) -> str | None:
    if thing is None:
        return "empty"
    if thing.type == "door":
        return "open" if thing.is_open else "shut"
    if thing.can_pickup():
        return "things"
    return "floor" if thing.type == "floor" else None


MOVES: Final = {"left": 0, "right": 1, "forward": 2, "pickup": 3, "drop": 4, "toggle": 5}
"""MiniGrid's action numbers for `step`."""

ACTIONS: Final = ("pickup", "remove", "open")
"""Actions that walk to a node first; a closed door is neither walked through nor opened on the way.

- ``pickup(x)``: x comes into the one hand. The item held before is put down in the agent's room.
- ``remove(x)``: x is put where it blocks nothing, in its own room if possible. The held item is put down meanwhile and
  picked up again.
- ``open(x)``: a locked door requires the key of its colour in the hand, where it stays.
"""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """A carried-out action: its number of low-level steps, and whether MiniGrid reports the mission as fulfilled."""

    steps: int
    fulfilled: bool


class Executor:
    """Acts in an environment that has been reset; `things` are its objects by node id at the episode's start."""

    def __init__(self, env: Any, things: Things) -> None:
        self.env = env
        self.things = things
        self._steps_taken = 0
        self._action = self._end_message = ""
        self._fulfilled = False

    def do(self, call: ActionCall) -> ActionResult:
        """Carry out one action of ACTIONS.

        Raises ActionRefused if it can't be done; steps may have been taken by then.
        """
        if call.name not in ACTIONS or len(call.arguments) != 1:
            raise ActionRefused(str(call), [f"choose one of {', '.join(f'{name}(node)' for name in ACTIONS)}"])
        self._action, before = str(call), self._steps_taken
        {"pickup": self._pickup, "remove": self._remove, "open": self._open}[call.name](call.arguments[0])
        return ActionResult(self._steps_taken - before, self._fulfilled)

    def turn(self) -> None:
        """Turn left once, to look around. Raises ActionRefused if the episode has ended."""
        self._action = "turn"
        self._step("left")

    def _refusal(self, why: str) -> ActionRefused:
        return ActionRefused(self._action, [why])

    def _pickup(self, node_id: str) -> None:
        thing = self._reachable_item(node_id)
        self._put_down_held()
        self._pick_up(thing, node_id)

    def _remove(self, node_id: str) -> None:
        thing, held = self._reachable_item(node_id), self.env.carrying
        room = next((room.cells for room in rooms(self.env) if self._cell(thing, node_id) in room.cells), ())
        self._put_down_held()
        self._pick_up(thing, node_id)
        spot = GridLayout.of(self.env).drop_spot(position(self.env), room)
        if spot is None:
            self._step("drop")
            self._pick_up_again(held)
            raise self._refusal(f"there is no free place for {node_id}; remove something else first")
        self._put_down(*spot)
        self._pick_up_again(held)

    def _open(self, node_id: str) -> None:
        door = self._thing(node_id)
        if door.type != "door":
            raise self._refusal(f"{node_id} is no door; choose a door")
        if door.is_open:
            raise self._refusal(f"{node_id} is open already; go on with the next action")
        self._go_beside(self._cell(door, node_id), node_id)
        self._step("toggle")
        if not door.is_open:
            held = self.env.carrying
            hand = f"a {held.color} {held.type} is" if held else "nothing is"
            raise self._refusal(f"{node_id} is locked, and {hand} in the hand; pick up the {door.color} key first")

    def _reachable_item(self, node_id: str) -> Any:
        """Return the item after checking that the agent can walk to it and pick it up."""
        thing = self._thing(node_id)
        if not thing.can_pickup():
            raise self._refusal(f"{node_id} can not be lifted; choose a key, a ball or a box")
        if thing is self.env.carrying:
            raise self._refusal(f"{node_id} is in the hand already; go on with the next action")
        self._path_beside(self._cell(thing, node_id), node_id)
        return thing

    def _thing(self, node_id: str) -> Any:
        if node_id not in self.things:
            hint = did_you_mean(node_id[:60], tuple(self.things))
            raise self._refusal(f"no thing has the id {node_id[:60]!r}{hint}; choose a door or an item of the scene")
        return self.things[node_id]

    def _cell(self, thing: Any, node_id: str) -> GridCell:
        for cell, one in grid_cells(self.env).items():
            if one is thing:
                return cell
        raise self._refusal(f"{node_id} stands nowhere in the grid; choose what lies in a room")

    def _path_beside(self, cell: GridCell, node_id: str) -> list[GridCell]:
        path = GridLayout.of(self.env).path_beside(position(self.env), cell)
        if path is None:
            raise self._refusal(f"no way leads to {node_id}; remove what is in the way, or open a door")
        return path

    def _pick_up(self, thing: Any, node_id: str) -> None:
        self._go_beside(self._cell(thing, node_id), node_id)
        self._step("pickup")

    def _put_down_held(self) -> None:
        """Put the held item, if any, down in the agent's room where it blocks nothing."""
        if self.env.carrying is None:
            return
        here = position(self.env)
        room = next((room.cells for room in rooms(self.env) if here in room.cells), ())
        spot = GridLayout.of(self.env).drop_spot(here, room)
        if spot is None:
            raise self._refusal("there is no free place for what is in the hand; go elsewhere first")
        self._put_down(*spot)

    def _pick_up_again(self, held: Any) -> None:
        if held is not None:
            self._pick_up(held, next(node_id for node_id, thing in self.things.items() if thing is held))

    def _put_down(self, stand: GridCell, cell: GridCell) -> None:
        self._walk(GridLayout.of(self.env).path_to(position(self.env), stand))
        self._look_at(cell)
        self._step("drop")

    def _go_beside(self, cell: GridCell, node_id: str) -> None:
        self._walk(self._path_beside(cell, node_id))
        self._look_at(cell)

    def _walk(self, path: list[GridCell]) -> None:
        for cell in path:
            self._look_at(cell)
            self._step("forward")

    def _look_at(self, cell: GridCell) -> None:
        for move in turns(int(self.env.agent_dir), position(self.env), cell):
            self._step(move)

    def _step(self, move: str) -> None:
        if self._end_message:
            raise self._refusal(self._end_message)
        _, reward, terminated, truncated, _ = self.env.step(MOVES[move])
        self._steps_taken += 1
        self._fulfilled = self._fulfilled or (terminated and reward > 0)
        if terminated or truncated:
            self._end_message = f"the episode ended after {self._steps_taken} steps; begin another"

"""A graph's actions carried out in MiniGrid's own steps, including walks, turns and putting the held item aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from scenecypher.errors import ActionRefused, did_you_mean
from scenecypher.importers.babyai_grid import GridCell, Things, grid_cells, position, rooms
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.worlds.minigrid_paths import GridLayout, turns

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
        self._end_message = ""
        self._fulfilled = False

    def do(self, call: ActionCall) -> ActionResult:
        """Carry out one action of ACTIONS.

        Raises ActionRefused if it can't be done; steps may have been taken by then.
        """
        if call.name not in ACTIONS or len(call.arguments) != 1:
            raise ActionRefused(str(call), [f"choose one of {', '.join(f'{name}(node)' for name in ACTIONS)}"])
        before = self._steps_taken
        try:
            self._act(call.name, call.arguments[0])
        except _Refused as refused:
            raise ActionRefused(str(call), [str(refused)]) from None
        return ActionResult(self._steps_taken - before, self._fulfilled)

    def turn(self) -> None:
        """Turn left once, to look around. Raises ActionRefused if the episode has ended."""
        try:
            self._step("left")
        except _Refused as refused:
            raise ActionRefused("turn", [str(refused)]) from None

    def _act(self, name: str, node_id: str) -> None:
        match name:
            case "pickup":
                self._pickup(node_id)
            case "remove":
                self._remove(node_id)
            case _:
                self._open(node_id)

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
            raise _Refused(f"there is no free place for {node_id}; remove something else first")
        self._put_down(*spot)
        self._pick_up_again(held)

    def _open(self, node_id: str) -> None:
        door = self._thing(node_id)
        if door.type != "door":
            raise _Refused(f"{node_id} is no door; choose a door")
        if door.is_open:
            raise _Refused(f"{node_id} is open already; go on with the next action")
        self._go_beside(self._cell(door, node_id), node_id)
        self._step("toggle")
        if not door.is_open:
            held = self.env.carrying
            hand = f"a {held.color} {held.type} is" if held else "nothing is"
            raise _Refused(f"{node_id} is locked, and {hand} in the hand; pick up the {door.color} key first")

    def _reachable_item(self, node_id: str) -> Any:
        """Return the item after checking that the agent can walk to it and pick it up."""
        thing = self._thing(node_id)
        if not thing.can_pickup():
            raise _Refused(f"{node_id} can not be lifted; choose a key, a ball or a box")
        if thing is self.env.carrying:
            raise _Refused(f"{node_id} is in the hand already; go on with the next action")
        self._path_beside(self._cell(thing, node_id), node_id)
        return thing

    def _thing(self, node_id: str) -> Any:
        if node_id not in self.things:
            hint = did_you_mean(node_id[:60], tuple(self.things))
            raise _Refused(f"no thing has the id {node_id[:60]!r}{hint}; choose a door or an item of the scene")
        return self.things[node_id]

    def _cell(self, thing: Any, node_id: str) -> GridCell:
        for cell, one in grid_cells(self.env).items():
            if one is thing:
                return cell
        raise _Refused(f"{node_id} stands nowhere in the grid; choose what lies in a room")

    def _path_beside(self, cell: GridCell, node_id: str) -> list[GridCell]:
        path = GridLayout.of(self.env).path_beside(position(self.env), cell)
        if path is None:
            raise _Refused(f"no way leads to {node_id}; remove what is in the way, or open a door")
        return path

    def _pick_up(self, thing: Any, node_id: str) -> None:
        self._go_beside(self._cell(thing, node_id), node_id)
        self._step("pickup")

    def _put_down_held(self) -> None:
        """Put the held item, if any, down in the agent's room where it blocks nothing."""
        if self.env.carrying is None:
            return
        here = position(self.env)
        spot = GridLayout.of(self.env).drop_spot(
            here, next((room.cells for room in rooms(self.env) if here in room.cells), ())
        )
        if spot is None:
            raise _Refused("there is no free place for what is in the hand; go elsewhere first")
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
            raise _Refused(self._end_message)
        _, reward, terminated, truncated, _ = self.env.step(MOVES[move])
        self._steps_taken += 1
        self._fulfilled = self._fulfilled or (terminated and reward > 0)
        if terminated or truncated:
            self._end_message = f"the episode ended after {self._steps_taken} steps; begin another"


class _Refused(Exception):
    """The reason that an action can't be done. Never leaves this module."""

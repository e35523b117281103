"""A graph's actions carried out in MiniGrid: walks, turns, and what is in the hand put aside and taken up again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from scenecypher.errors import ActionRefused, did_you_mean
from scenecypher.importers.babyai_grid import GridCell, Things, grid_cells, position, rooms
from scenecypher.planner.actions.minigrid_ways import Layout, turns
from scenecypher.planner.actions.text import Call

MOVES: Final = {"left": 0, "right": 1, "forward": 2, "pickup": 3, "drop": 4, "toggle": 5}
"""MiniGrid's numbers for what `step` takes."""

ACTIONS: Final = ("pickup", "remove", "open")
"""Each walks up to a node first; a closed door is not walked through, nor opened on the way.

- ``pickup(x)``: x comes into the one hand. What was there is laid down in the room where the agent is.
- ``remove(x)``: x is put where it is in the way of nothing, in its own room if possible. What was in the hand is laid
  down for that time and taken up again.
- ``open(x)``: a locked door takes the key of its colour in the hand, where it stays.
"""


@dataclass(frozen=True, slots=True)
class Done:
    """An action came off: the low-level steps that it took, and whether MiniGrid says that the mission is fulfilled."""

    steps: int
    fulfilled: bool


class Executor:
    """Acts in an environment that has been reset; `things` are its objects by node id, as when the episode began."""

    def __init__(self, env: Any, things: Things) -> None:
        self.env = env
        self.things = things
        self._taken = 0
        self._ended = ""
        self._fulfilled = False

    def do(self, call: Call) -> Done:
        """Carry out one action of ACTIONS. Raises ActionRefused where it can't be done; steps may have been taken."""
        if call.name not in ACTIONS or len(call.arguments) != 1:
            raise ActionRefused(str(call), [f"choose one of {', '.join(f'{name}(node)' for name in ACTIONS)}"])
        before = self._taken
        try:
            self._act(call.name, call.arguments[0])
        except _Refused as refused:
            raise ActionRefused(str(call), [str(refused)]) from None
        return Done(self._taken - before, self._fulfilled)

    def turn(self) -> None:
        """One turn to the left, to look around. Raises ActionRefused where the episode has ended."""
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
        thing = self._liftable(node_id)
        self._lay_aside()
        self._lift(thing, node_id)

    def _remove(self, node_id: str) -> None:
        thing, held = self._liftable(node_id), self.env.carrying
        room = next((room.cells for room in rooms(self.env) if self._cell(thing, node_id) in room.cells), ())
        self._lay_aside()
        self._lift(thing, node_id)
        spot = Layout.of(self.env).spot(position(self.env), room)
        if spot is None:
            self._step("drop")
            self._take_again(held)
            raise _Refused(f"there is no free place for {node_id}; remove something else first")
        self._lay(*spot)
        self._take_again(held)

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

    def _liftable(self, node_id: str) -> Any:
        """The thing, once it is sure that the agent can walk up to it and lift it."""
        thing = self._thing(node_id)
        if not thing.can_pickup():
            raise _Refused(f"{node_id} can not be lifted; choose a key, a ball or a box")
        if thing is self.env.carrying:
            raise _Refused(f"{node_id} is in the hand already; go on with the next action")
        self._way(self._cell(thing, node_id), node_id)
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

    def _way(self, cell: GridCell, node_id: str) -> list[GridCell]:
        way = Layout.of(self.env).way_beside(position(self.env), cell)
        if way is None:
            raise _Refused(f"no way leads to {node_id}; remove what is in the way, or open a door")
        return way

    def _lift(self, thing: Any, node_id: str) -> None:
        self._go_beside(self._cell(thing, node_id), node_id)
        self._step("pickup")

    def _lay_aside(self) -> None:
        """Put down what is in the hand, if anything: where it shuts nothing in, in the room where the agent is."""
        if self.env.carrying is None:
            return
        here = position(self.env)
        spot = Layout.of(self.env).spot(here, next((room.cells for room in rooms(self.env) if here in room.cells), ()))
        if spot is None:
            raise _Refused("there is no free place for what is in the hand; go elsewhere first")
        self._lay(*spot)

    def _take_again(self, held: Any) -> None:
        if held is not None:
            self._lift(held, next(node_id for node_id, thing in self.things.items() if thing is held))

    def _lay(self, stand: GridCell, cell: GridCell) -> None:
        self._walk(Layout.of(self.env).way_to(position(self.env), stand))
        self._look_at(cell)
        self._step("drop")

    def _go_beside(self, cell: GridCell, node_id: str) -> None:
        self._walk(self._way(cell, node_id))
        self._look_at(cell)

    def _walk(self, way: list[GridCell]) -> None:
        for cell in way:
            self._look_at(cell)
            self._step("forward")

    def _look_at(self, cell: GridCell) -> None:
        for move in turns(int(self.env.agent_dir), position(self.env), cell):
            self._step(move)

    def _step(self, move: str) -> None:
        if self._ended:
            raise _Refused(self._ended)
        _, reward, terminated, truncated, _ = self.env.step(MOVES[move])
        self._taken += 1
        self._fulfilled = self._fulfilled or (terminated and reward > 0)
        if terminated or truncated:
            self._ended = f"the episode ended after {self._taken} steps; begin another"


class _Refused(Exception):
    """Why an action can't be done; it never leaves this module."""

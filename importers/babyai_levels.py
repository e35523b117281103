"""The papers' levels on MiniGrid, two of traversal and one of questions. Importing this module needs MiniGrid."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from minigrid.core.constants import COLOR_NAMES
from minigrid.core.world_object import Ball
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling, RoomGridLevel
from minigrid.envs.babyai.core.verifier import ActionInstr, ObjDesc, PickupInstr
from minigrid.envs.blockedunlockpickup import BlockedUnlockPickupEnv

from scenecypher.importers.babyai_grid import grid_cells, neighbors, position, region

KINDS: Final = ("key", "ball", "box")
PLURALS: Final = {"key": "keys", "ball": "balls", "box": "boxes"}
ROOM_SIZE: Final = 6
MAX_STEPS: Final = 16 * ROOM_SIZE**2
"""The most low-level steps of an episode, as in BlockedUnlockPickup."""
_RIGHT: Final = 0
_BLOCKED: Any = BlockedUnlockPickupEnv
_LEVEL: Any = RoomGridLevel
_INSTRUCTION: Any = ActionInstr
_PICKUP: Any = PickupInstr
_DESCRIPTION: Any = ObjDesc
_BALL: Any = Ball
# MiniGrid's classes are hardly typed, so these aliases are Any.


class Trv1(_BLOCKED):  # type: ignore[misc]
    """Two rooms with a locked door that a ball blocks, its key and keys of other colours, and a box behind the door."""

    def _gen_grid(self, width: int, height: int) -> None:
        super()._gen_grid(width, height)
        add_other_keys(self)
        while not is_all_within_reach(self):
            super()._gen_grid(width, height)
            add_other_keys(self)


class Trv2(_LEVEL):  # type: ignore[misc]
    """Trv1 with another ball on the far side of the door."""

    def __init__(self, **options: Any) -> None:
        super().__init__(room_size=ROOM_SIZE, num_rows=1, num_cols=2, max_steps=MAX_STEPS, **options)

    def gen_mission(self) -> None:
        """Fill the grid. Raises RejectSampling if the draw does not fit."""
        box, _ = self.add_object(1, 0, "box")
        door, (x, y) = self.add_door(0, 0, _RIGHT, locked=True)
        if self.grid.get(x + 1, y) is not None:
            raise RejectSampling("the box stands where the ball shall be")
        for side in (-1, 1):
            self.put_obj(_BALL(self._rand_color()), x + side, y)
        self.add_object(0, 0, "key", door.color)
        self.place_agent(0, 0)
        add_other_keys(self)
        if not is_all_within_reach(self):
            raise RejectSampling("a thing in the first room is out of reach")
        self.instrs = _PICKUP(_DESCRIPTION(box.type, box.color))


def add_other_keys(level: Any) -> None:
    """Add one or two keys that do not fit the door to the agent's room."""
    (door,) = (thing for thing in level.grid.grid if thing is not None and thing.type == "door")
    others = level._rand_subset([color for color in COLOR_NAMES if color != door.color], level._rand_int(1, 3))  # noqa: SLF001
    for color in others:
        level.add_object(0, 0, "key", color)


def is_all_within_reach(level: Any) -> bool:
    """Return True if the agent can reach everything in its room, with room to turn, without moving anything."""
    free = {cell for cell, thing in grid_cells(level).items() if thing is None}
    reached = region(position(level), free)
    touched = {beside for cell in reached for beside in neighbors(cell)}
    room = level.room_from_pos(*level.agent_pos)
    inside = ((x, y) for x in range(1, room.size[0] - 1) for y in range(1, room.size[1] - 1))
    return all((x, y) in reached | touched for x, y in inside)


class QuestionInstr(_INSTRUCTION):  # type: ignore[misc]
    """An instruction that is answered in words; no step fulfils it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def surface(self, _env: Any) -> str:
        """Return the question."""
        return self.text

    def verify_action(self, _action: int) -> str:
        """Return that the instruction is neither fulfilled nor failed."""
        return "continue"


class NumQA(_LEVEL):  # type: ignore[misc]
    """Three by three rooms; one is identified by a number of equal items in it, and the target is in an adjacent room.

    No other room has exactly or at least that number of them. Among the rooms that share a door with it there is one
    item of the target's type. `answer` is its colour.
    """

    answer: str

    def __init__(self, **options: Any) -> None:
        super().__init__(room_size=7, num_rows=3, num_cols=3, max_steps=MAX_STEPS, **options)

    def gen_mission(self) -> None:
        """Fill the grid. Raises RejectSampling if the draw does not fit."""
        self.place_agent()
        self.connect_all()
        known = self._rand_elem(self._rooms())
        number, color = int(self._rand_int(2, 5)), self._rand_color()
        kind, wanted = self._rand_subset(KINDS, 2)
        near = self._next_to(known)
        for _ in range(number):
            self.add_object(*known, kind, color)
        self.answer = self._rand_color()
        self.add_object(*self._rand_elem(near), wanted, self.answer)
        self._distract(near, wanted=wanted, look_alike=(kind, color), at_most=number - 1)
        self._check(known, near, wanted=wanted, named=(number, kind, color))
        self.instrs = QuestionInstr(question_text(wanted, number, color, kind))

    def _rooms(self) -> list[tuple[int, int]]:
        return [(i, j) for j in range(self.num_rows) for i in range(self.num_cols)]

    def _next_to(self, place: tuple[int, int]) -> list[tuple[int, int]]:
        room = self.get_room(*place)
        joined = [neighbor for neighbor, door in zip(room.neighbors, room.doors, strict=True) if door]
        return [other for other in self._rooms() if self.get_room(*other) in joined]

    def _distract(self, near: list[tuple[int, int]], *, wanted: str, look_alike: tuple[str, str], at_most: int) -> None:
        """Add a few items to each room: none of the target's type next door, some of the counted sort elsewhere."""
        for place in self._rooms():
            kinds = [kind for kind in KINDS if kind != wanted] if place in near else KINDS
            for _ in range(self._rand_int(1, 4)):
                self.add_object(*place, self._rand_elem(kinds), self._rand_color())
        for _ in range(at_most):
            self.add_object(*self._rand_elem(self._rooms()), *look_alike)

    def _check(
        self, known: tuple[int, int], near: list[tuple[int, int]], *, wanted: str, named: tuple[int, str, str]
    ) -> None:
        number, *sort = named
        counts = {
            place: Counter((thing.type, thing.color) for thing in self.get_room(*place).objs) for place in self._rooms()
        }
        if [place for place, count in counts.items() if count[sort[0], sort[1]] >= number] != [known]:
            raise RejectSampling("several rooms could be meant")
        if counts[known][sort[0], sort[1]] != number:
            raise RejectSampling("the room holds more than the number")
        if sum(n for place in near for (kind, _), n in counts[place].items() if kind == wanted) != 1:
            raise RejectSampling("several things could be meant")
        self.check_objs_reachable()


def question_text(wanted: str, number: int, color: str, kind: str) -> str:
    """Return the papers' template, filled in."""
    return f"find the color of the {wanted} in a room next to the room with {number} {color} {PLURALS[kind]}"

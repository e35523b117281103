"""The papers' levels on MiniGrid, two to traverse and one of questions; to import this module takes the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from minigrid.core.constants import COLOR_NAMES
from minigrid.core.world_object import Ball
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling, RoomGridLevel
from minigrid.envs.babyai.core.verifier import ActionInstr, ObjDesc, PickupInstr
from minigrid.envs.blockedunlockpickup import BlockedUnlockPickupEnv

KINDS: Final = ("key", "ball", "box")
PLURALS: Final = {"key": "keys", "ball": "balls", "box": "boxes"}
ROOM_SIZE: Final = 6
MAX_STEPS: Final = 16 * ROOM_SIZE**2
"""Low-level steps that an episode may take: BlockedUnlockPickup's own number."""
_RIGHT: Final = 0
_BLOCKED: Any = BlockedUnlockPickupEnv
_LEVEL: Any = RoomGridLevel
_INSTRUCTION: Any = ActionInstr
_PICKUP: Any = PickupInstr
_DESCRIPTION: Any = ObjDesc
_BALL: Any = Ball
# MiniGrid's classes say little of their types, so that these stand for any.


class Trv1(_BLOCKED):  # type: ignore[misc]
    """Two rooms, a locked door between and a ball before it; its key and keys of other colours, and behind it a box."""

    def _gen_grid(self, width: int, height: int) -> None:
        super()._gen_grid(width, height)
        add_other_keys(self)
        while not starts_well(self):
            super()._gen_grid(width, height)
            add_other_keys(self)


class Trv2(_LEVEL):  # type: ignore[misc]
    """The same with a ball on the other side of the door as well."""

    def __init__(self, **options: Any) -> None:
        super().__init__(room_size=ROOM_SIZE, num_rows=1, num_cols=2, max_steps=MAX_STEPS, **options)

    def gen_mission(self) -> None:
        """Fill the grid. Raises RejectSampling where the draw does not fit."""
        box, _ = self.add_object(1, 0, "box")
        door, (x, y) = self.add_door(0, 0, _RIGHT, locked=True)
        if self.grid.get(x + 1, y) is not None:
            raise RejectSampling("the box stands where the ball shall be")
        for side in (-1, 1):
            self.put_obj(_BALL(self._rand_color()), x + side, y)
        self.add_object(0, 0, "key", door.color)
        self.place_agent(0, 0)
        add_other_keys(self)
        if not starts_well(self):
            raise RejectSampling("a thing in the first room is out of reach")
        self.instrs = _PICKUP(_DESCRIPTION(box.type, box.color))


def add_other_keys(level: Any) -> None:
    """One or two keys in the agent's room that do not fit the door."""
    (door,) = (thing for thing in things(level) if thing.type == "door")
    others = level._rand_subset([color for color in COLOR_NAMES if color != door.color], level._rand_int(1, 3))  # noqa: SLF001
    for color in others:
        level.add_object(0, 0, "key", color)


def things(level: Any) -> Iterator[Any]:
    """All that stands in the grid but walls."""
    return (thing for thing in level.grid.grid if thing is not None and thing.type != "wall")


def starts_well(level: Any) -> bool:
    """Whether everything in the agent's room can be reached with nothing moved, with room to turn."""
    reached: set[tuple[int, int]] = set()
    touched: set[tuple[int, int]] = set()
    waiting = [(int(level.agent_pos[0]), int(level.agent_pos[1]))]
    while waiting:
        x, y = waiting.pop()
        if (x, y) in reached:
            continue
        reached.add((x, y))
        for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            (waiting.append if level.grid.get(*cell) is None else touched.add)(cell)
    room = level.room_from_pos(*level.agent_pos)
    inside = ((x, y) for x in range(1, room.size[0] - 1) for y in range(1, room.size[1] - 1))
    return all((x, y) in reached | touched for x, y in inside)


class QuestionInstr(_INSTRUCTION):  # type: ignore[misc]
    """An instruction that no step fulfils: it is answered in words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def surface(self, _env: Any) -> str:
        """The question."""
        return self.text

    def verify_action(self, _action: int) -> str:
        """Never fulfilled, never failed."""
        return "continue"


class NumQA(_LEVEL):  # type: ignore[misc]
    """Three by three rooms; one is known by how many things of a sort it holds, and the target is next door.

    Of no other room can it be said, neither as "exactly" nor as "at least" so many, and next door, which is through
    one door, there is one thing of the target's type. `answer` is its colour.
    """

    answer: str

    def __init__(self, **options: Any) -> None:
        super().__init__(room_size=7, num_rows=3, num_cols=3, max_steps=MAX_STEPS, **options)

    def gen_mission(self) -> None:
        """Fill the grid. Raises RejectSampling where the draw does not fit."""
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
        """A few things a room: next door none of the target's type, elsewhere also some of the counted sort."""
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
    """The papers' template, filled in."""
    return f"find the color of the {wanted} in a room next to the room with {number} {color} {PLURALS[kind]}"

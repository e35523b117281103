"""Ways through a grid, and where a thing may be put down without shutting anything in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from scenecypher.importers.babyai_grid import GridCell, grid_cells, neighbors


@dataclass(frozen=True, slots=True)
class Layout:
    """What is where: `empty` cells, doors that stand `open` or are `shut`, and `things`, which can be lifted.

    The agent can stand in `empty`, `open` and `floor`, and a thing in `empty` alone. All else is in the way.
    """

    empty: frozenset[GridCell]
    floor: frozenset[GridCell]
    open: frozenset[GridCell]
    shut: frozenset[GridCell]
    things: frozenset[GridCell]

    @classmethod
    def of(cls, env: Any) -> Layout:
        """The grid as it is now; the agent takes no cell."""
        groups: dict[str, set[GridCell]] = {name: set() for name in ("empty", "floor", "open", "shut", "things")}
        for cell, thing in grid_cells(env).items():
            if name := _group(thing):
                groups[name].add(cell)
        return cls(**{name: frozenset(group) for name, group in groups.items()})

    def lifted(self, cell: GridCell) -> Layout:
        """The layout without the thing in `cell`."""
        return replace(self, empty=self.empty | {cell}, things=self.things - {cell})

    def laid(self, cell: GridCell) -> Layout:
        """The layout with a thing in `cell` too."""
        return replace(self, empty=self.empty - {cell}, things=self.things | {cell})

    def all_open(self) -> Layout:
        """The layout with every door open."""
        return replace(self, open=self.open | self.shut, shut=frozenset())

    def reached(self, start: GridCell) -> dict[GridCell, GridCell]:
        """The cells that can be walked to, the nearest first, each with the one before it; `start` with itself."""
        free = self.empty | self.floor | self.open
        before = {start: start}
        waiting = [start]
        for cell in waiting:
            fresh = [beside for beside in neighbors(cell) if beside in free and beside not in before]
            before |= dict.fromkeys(fresh, cell)
            waiting += fresh
        return before

    def way_beside(self, start: GridCell, goal: GridCell) -> list[GridCell] | None:
        """The cells to walk over, `start` left out, to the nearest one beside `goal`; None where there is no way."""
        stand = next((cell for cell in self.reached(start) if goal in neighbors(cell)), None)
        return None if stand is None else self.way_to(start, stand)

    def way_to(self, start: GridCell, goal: GridCell) -> list[GridCell]:
        """The cells to walk over, `start` left out, to `goal`, which can be reached."""
        before, way = self.reached(start), [goal]
        while way[-1] != start:
            way.append(before[way[-1]])
        return way[-2::-1]

    def spot(self, start: GridCell, rather: Iterable[GridCell] = ()) -> tuple[GridCell, GridCell] | None:
        """Where to stand and where to lay what is carried: as near as can be, one of the cells `rather` if possible.

        Whatever could be touched before can be touched afterwards, as the doors are and with all of them open.
        """
        spots = [(stand, cell) for stand in self.reached(start) for cell in neighbors(stand) if cell in self.empty]
        wished = frozenset(rather)
        spots.sort(key=lambda spot: spot[1] not in wished)
        return next((spot for spot in spots if self._harmless(*spot)), None)

    def _harmless(self, stand: GridCell, cell: GridCell) -> bool:
        before, after = self, self.laid(cell)
        return all(
            one.touched(stand) <= other.touched(stand)
            for one, other in ((before, after), (before.all_open(), after.all_open()))
        )

    def touched(self, start: GridCell) -> set[GridCell]:
        """The things and doors that can be walked up to."""
        near = {beside for cell in self.reached(start) for beside in (cell, *neighbors(cell))}
        return near & (self.things | self.shut | self.open)


def turns(direction: int, cell: GridCell, beside: GridCell) -> Iterator[str]:
    """The turns after which an agent in `cell` that looks in MiniGrid's `direction` looks at the cell `beside`."""
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

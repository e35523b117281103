"""Paths through a grid, and cells where an item may be put down without blocking anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from scenecypher.importers.babyai_grid import GridCell, grid_cells, neighbors


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

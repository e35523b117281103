"""Pictures of things that MiniGrid draws, laid out in rows: what a table may look like from above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball, Box, Door, Key

from scenecypher.chat import Image
from scenecypher.planner.perception.picture import encode_png
from scenecypher.planner.worlds.minigrid_world import TILE_PIXELS

KINDS: Any = {"ball": Ball, "box": Box, "key": Key, "cabinet": Door}
WIDTH = 5


def table(things: Sequence[str]) -> Image:
    """A picture of things such as ``red ball``, five a row."""
    rows = len(things) // WIDTH + 2
    grid = Grid(WIDTH, max(rows, 3))
    for number, (color, kind) in enumerate(thing.split() for thing in things):
        grid.set(number % WIDTH, number // WIDTH, KINDS[kind](color))
    mask = np.ones((grid.width, grid.height), dtype=bool)
    pixels = grid.render(TILE_PIXELS, (-1, -1), highlight_mask=mask)
    height, width, _ = pixels.shape
    return encode_png(pixels.tobytes(), width=width, height=height)


def framed(size: tuple[int, int], things: dict[tuple[int, int], str], *, dark: bool = False) -> Any:
    """Return pixels of a grid in a grey frame; `dark` hides its inside.

    Things such as ``red ball`` are at cells, a cabinet is MiniGrid's door: ``red cabinet``, ``red cabinet open``.
    """
    columns, rows = size
    grid = Grid(columns + 2, rows + 2)
    grid.wall_rect(0, 0, columns + 2, rows + 2)
    for (column, row), thing in things.items():
        color, kind, *is_open = thing.split()
        grid.set(column + 1, row + 1, KINDS[kind](color, *map(bool, is_open)))
    mask = np.ones((grid.width, grid.height), dtype=bool)
    if dark:
        grid, lit = Grid(grid.width, grid.height), mask
        grid.wall_rect(0, 0, grid.width, grid.height)
        lit[1:-1, 1:-1] = False
    return grid.render(TILE_PIXELS, (-1, -1), highlight_mask=mask)


def blurred(pixels: Any, *, radius: int = 40) -> Any:
    """Return pixels as they look through a lens that is out of focus: means of squares, twice."""
    found = pixels.astype(np.int64)
    for _ in range(2):
        for axis in (0, 1):
            padded = np.concatenate(
                [found.take([0] * radius, axis), found, found.take([-1] * radius, axis)], axis=axis
            ).cumsum(axis=axis)
            width = found.shape[axis]
            upper = padded.take(range(2 * radius, 2 * radius + width), axis)
            lower = np.concatenate([np.zeros_like(padded.take([0], axis)), padded], axis=axis).take(range(width), axis)
            found = (upper - lower) // (2 * radius + 1)
    return found.astype(np.uint8)


def encoded(pixels: Any) -> Image:
    """Return pixels as a picture."""
    height, width, _ = pixels.shape
    return encode_png(np.ascontiguousarray(pixels).tobytes(), width=width, height=height)

"""Pictures of things that MiniGrid draws, laid out in rows: what a table may look like from above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball, Box, Key

from scenecypher.chat import Image
from scenecypher.planner.perception.grid_view import TILE_PIXELS
from scenecypher.planner.perception.picture import encode_png

KINDS: Any = {"ball": Ball, "box": Box, "key": Key}
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

"""A server that speaks the chat-completions protocol and reads MiniGrid's pictures by template matching: no model.

It decodes the picture that it is sent, compares each tile with what MiniGrid draws for each thing, and answers in
words; asked about words, it answers with the form. So pictures take the way that they take with a model.

    with ScriptedModel(GridReader(at="table-1")) as server: ...
"""

from __future__ import annotations

import base64
import json
import os
import re
from functools import cache
from io import BytesIO
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from minigrid.core.constants import COLOR_NAMES
from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball, Box, Door, Goal, Key, Lava, Wall

from tests.scripted_model import Fail, Step

TILE: Final = 32
AMOUNT: Final = re.compile(r"There are (\d+) (\w+) (key|ball|box)s? (on top of|inside) (\S+)\.")

Pixels = npt.NDArray[np.float32]


class GridReader:
    """A script: pictures become words, how many there are of each kind, and words become the form."""

    def __init__(self, *, at: str, relation: str = "on top of") -> None:
        self.at, self.relation = at, relation
        self.pictures = 0

    def __call__(self, request: dict[str, Any]) -> Step:
        content = request["messages"][-1]["content"]
        if isinstance(content, str):
            return json.dumps(amounts_of(content))
        if len(content) != 2 or content[1]["type"] != "image_url":
            return Fail(400, "send one text and one picture")
        self.pictures += 1
        return self._counted(read(decoded(content[1]["image_url"]["url"])))

    def _counted(self, seen: dict[tuple[int, int], tuple[str, str, str]]) -> str:
        kinds = sorted((color, kind) for kind, color, _ in seen.values() if kind in {"key", "ball", "box"})
        told = [
            f"There are {kinds.count(it)} {it[0]} {it[1]}s {self.relation} {self.at}." for it in dict.fromkeys(kinds)
        ]
        return " ".join(told) or "There is nothing there."


def decoded(url: str) -> Pixels:
    """Rows of pixels of a data URL's picture, by a decoder that is not ours."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame

    head, _, data = url.partition(",")
    assert head == "data:image/png;base64", head
    surface = pygame.image.load(BytesIO(base64.b64decode(data, validate=True)))
    return np.transpose(pygame.surfarray.array3d(surface), (1, 0, 2)).astype(np.float32)


def read(pixels: Pixels) -> dict[tuple[int, int], tuple[str, str, str]]:
    """Return the nearest template of each bright cell, except for the agent's own cell."""
    names, library = templates()
    rows, columns = pixels.shape[0] // TILE, pixels.shape[1] // TILE
    found = {}
    for row in range(rows):
        for column in range(columns):
            tile = pixels[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE].ravel()
            nearest = names[int(np.argmin(((library - tile) ** 2).sum(axis=1)))]
            if nearest[0] != "dark" and (column, row) != (columns // 2, rows - 1):
                found[column, row] = nearest
    return found


@cache
def templates() -> tuple[list[tuple[str, str, str]], Pixels]:
    """Return MiniGrid's drawing of each thing in view, and of things that are not."""
    lava: Any = Lava
    made: list[tuple[tuple[str, str, str], Any]] = [(("nothing", "", ""), None), (("wall", "", ""), Wall())]
    made += [(("goal", "", ""), Goal()), (("lava", "", ""), lava())]
    for color in COLOR_NAMES:
        made += [((kind.__name__.lower(), color, ""), kind(color)) for kind in (Key, Ball, Box)]
        made += [
            (("door", color, "open"), Door(color, is_open=True)),
            (("door", color, "closed"), Door(color)),
            (("door", color, "locked"), Door(color, is_locked=True)),
        ]
    drawn = [(name, Grid.render_tile(thing, highlight=True, tile_size=TILE)) for name, thing in made]
    drawn.append((("dark", "", ""), Grid.render_tile(None, tile_size=TILE)))
    return [name for name, _ in drawn], np.stack([tile.astype(np.float32).ravel() for _, tile in drawn])


def amounts_of(words: str) -> dict[str, Any]:
    """The form of a thing's surroundings: how many of what on or in what."""
    relations = {"on top of": "ontop_of", "inside": "inside_of"}
    plain: dict[str, Any] = {"states": [], "confidence": None}
    objects = [
        plain | {"name": f"{color} {kind}", "count": int(n), "relation": relations[how], "related_to": on}
        for n, color, kind, how, on in AMOUNT.findall(words)
    ]
    return {"extent": "whole", "part": None, "reason": None, "objects": objects}

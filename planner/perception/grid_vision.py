"""Reader of MiniGrid's view from its picture by a vision-language model: described first, then parsed by cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, Field

from scenecypher.chat import Image, Message, Model, Usage
from scenecypher.importers.babyai_grid import GridCell
from scenecypher.planner.perception.grid_view import GridThing, GridView, Pose
from scenecypher.planner.perception.vision import describe_images, parse_description

Color: TypeAlias = Literal["red", "green", "blue", "purple", "yellow", "grey"]

DESCRIBE: Final = """\
This picture shows a grid of {size} by {size} square cells, seen from above. Columns are counted from the left and rows
from the top, both from 0. The red triangle at column {middle}, row {last} is you; you look up. Grey cells are walls.
Say for each key, ball, box, door, goal (a green square) and lava (an orange one) in which column and row it is, and
of what colour; of a door too whether it is open (a thin frame), closed (a round knob), or locked (a keyhole).
If the picture, or a part of it, can't be made out, say so."""

PARSE: Final = """\
A picture of a grid of {size} by {size} cells was described so:
---
{description}
---
List each key, ball, box, door, goal and lava that it names, with column and row as they stand there.
"state" is a door's; null for all else. "extent" is how much of the picture could be made out: whole unless the
description says otherwise, part, or nothing. Add nothing that the description does not say."""


class SeenCell(BaseModel):
    """One thing in a reply."""

    kind: Literal["key", "ball", "box", "door", "goal", "lava"]
    color: Color | None
    column: Annotated[int, Field(ge=0)]
    row: Annotated[int, Field(ge=0)]
    state: Literal["open", "closed", "locked"] | None


class Cells(BaseModel):
    """A reply: how much of the picture could be made out, and all that it shows."""

    extent: Literal["whole", "part", "nothing"]
    things: Annotated[list[SeenCell], Field(max_length=500)]


def read_view(model: Model, image: Image, *, pose: Pose, visible: frozenset[GridCell]) -> tuple[GridView, Usage]:
    """Read the view in a picture taken from `pose`; `visible` are the visible cells, as measured by sensors.

    Things outside visible cells, and second things in a cell, are ignored. Of a picture that could be made out in part,
    only the cells of things count as seen. Raises ReplyRejected, ModelUnavailable.
    """
    frame = {"size": pose.size, "middle": pose.size // 2, "last": pose.size - 1}
    description, described = describe_images(model, (image,), DESCRIBE.format_map(frame))
    asked = Message("user", PARSE.format(**frame, description=description))
    cells, usage = parse_description(model, (asked,), Cells, spent=described)
    found = {thing.cell: thing for thing in reversed([*_things(cells, pose)]) if thing.cell in visible}
    if cells.extent == "nothing":
        found = {}
    made_out = visible if cells.extent == "whole" else frozenset(found)
    return GridView(pose, made_out, tuple(found[cell] for cell in sorted(found))), usage


def _things(cells: Cells, pose: Pose) -> Iterator[GridThing]:
    for seen in cells.things:
        cell = pose.cell_at(seen.column, seen.row)
        states = {"open": ("open",), "closed": ("closed",), "locked": ("closed", "locked")}.get(seen.state or "", ())
        if seen.color is not None or seen.kind in {"goal", "lava"}:
            yield GridThing(seen.kind, seen.color or "", cell, states)

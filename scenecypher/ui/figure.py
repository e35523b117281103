"""A home as a figure for print: rooms in three columns, furniture as boxes, things as text, as SVG without a style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from xml.sax.saxutils import escape

from scenecypher.ui.home_view import HomeView, Thing

COLUMNS, COLUMN_WIDTH, GAP = 3, 300, 14
LINE, SIZE = 15, 11
LETTERS = 46
"""Letters in a line of a column: at this size a letter of a sans-serif font is about 5.6 units wide."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A room as a title and its boxes of lines; `height` is that of the whole."""

    title: str
    boxes: tuple[tuple[str, ...], ...]
    height: int


def figure_of(view: HomeView, title: str) -> str:
    """Return the figure as an SVG document."""
    rooms = [_block(room.name, room.things, view.doors.get(room.id, ())) for room in view.rooms]
    blocks = rooms + ([_block("in no room", view.elsewhere, ())] if view.elsewhere else [])
    heights = [GAP + 2 * LINE] * COLUMNS
    parts = list[str]()
    for block in sorted(blocks, key=lambda it: -it.height):
        column = heights.index(min(heights))
        parts += _drawn(block, GAP + column * (COLUMN_WIDTH + GAP), heights[column])
        heights[column] += block.height + GAP
    width = COLUMNS * (COLUMN_WIDTH + GAP) + GAP
    head = f'<text x="{GAP}" y="{GAP + LINE}" font-size="16" font-weight="bold">{escape(title)}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{max(heights)}" '
        f'viewBox="0 0 {width} {max(heights)}" font-family="Helvetica, Arial, sans-serif" font-size="{SIZE}">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{head}\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _block(name: str, things: Sequence[Thing], doors: Sequence[str]) -> _Block:
    shown = [it for it in things if it.kind not in {"Place", "Door"}]
    boxes = [tuple(_lines(it)) for it in shown if it.things]
    if alone := ", ".join(_words(it) for it in shown if not it.things):
        boxes.append(tuple(wrap(alone, LETTERS)))
    title = name + (f"  (doors to {', '.join(doors)})" if doors else "")
    height = 2 * LINE + sum(len(box) * LINE + 8 for box in boxes)
    return _Block(title, tuple(boxes), height)


def _lines(thing: Thing) -> Iterator[str]:
    """Yield a thing's own line, then what is in and on it, folded."""
    yield _words(thing)
    inner = ", ".join(_nested(it) for it in thing.things)
    for line in wrap(inner, LETTERS - 4):
        yield "    " + line


def _nested(thing: Thing) -> str:
    relation = f"{thing.relation}: " if thing.relation not in {"", "on", "inside"} else ""
    within = f" ({', '.join(_nested(it) for it in thing.things)})" if thing.things else ""
    return relation + _words(thing) + within


def _words(thing: Thing) -> str:
    states = f" [{', '.join(thing.states)}]" if thing.states else ""
    return thing.name + states


def _drawn(block: _Block, x: int, y: int) -> Iterator[str]:
    yield (
        f'<rect x="{x}" y="{y}" width="{COLUMN_WIDTH}" height="{block.height}" rx="6" fill="none" stroke="black"/>'
        f'<text x="{x + 8}" y="{y + LINE}" font-weight="bold">{escape(_cut(block.title))}</text>'
    )
    at = y + 2 * LINE - 6
    for box in block.boxes:
        height = len(box) * LINE + 4
        yield (
            f'<rect x="{x + 6}" y="{at}" width="{COLUMN_WIDTH - 12}" height="{height}" rx="3" fill="none" '
            'stroke="#888" stroke-width=".6"/>'
        )
        for number, line in enumerate(box):
            indent = 12 if line.startswith("    ") else 0
            text = escape(_cut(line.strip()))
            yield f'<text x="{x + 12 + indent}" y="{at + (number + 1) * LINE - 3}">{text}</text>'
        at += height + 4


def _cut(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"

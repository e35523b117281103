"""A home as a picture for print: its drawing as SVG with its own style, to be shown anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape

from scenecypher.db.browser.style import OTHER, PALETTE
from scenecypher.floorplan.layout import Drawing, Shape

WIDTH: Final = 1_100
"""The picture's width in pixels; its height follows."""
HEAD: Final = 34
LETTER: Final = 0.56
"""Width of a letter of a sans-serif font, as a part of its size."""
SMALLEST, LARGEST = 4.5, 15.0
"""Sizes of letters in pixels: smaller names are left to the title that a pointer shows."""
FONTS: Final = "Helvetica, Arial, Liberation Sans, DejaVu Sans, Noto Sans, sans-serif"
"""Fonts by name: what makes a PNG knows no general one, and draws no words in a font that is not there."""
MARKS: Final = {"found": "#d89b00", "changed": "#1b7a3a"}
"""The stroke of what stands out; the page's style has the same."""


def figure_of(drawing: Drawing, title: str) -> str:
    """Return the picture as an SVG document."""
    scale = WIDTH / drawing.bounds.width
    height = round(drawing.bounds.height * scale) + HEAD
    pen = _Pen(drawing, scale)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="{FONTS}">\n<rect width="100%" height="100%" fill="white"/>\n'
        f'<text x="12" y="23" font-size="16" font-weight="bold">{escape(title)}</text>\n'
        + "\n".join(pen.lines())
        + "\n</svg>\n"
    )


def thumbnail_of(drawing: Drawing) -> str:
    """Return the rooms, furniture and things as a small SVG document without words."""
    bounds, lines = drawing.bounds, []
    thin = max(bounds.width, bounds.height) / 300
    for shape in drawing.shapes:
        colours = PALETTE.get(shape.kind, OTHER)
        box, width = shape.box, 3 * thin if shape.kind == "Place" else thin
        lines.append(
            f'<rect x="{box.x:.2f}" y="{box.y:.2f}" width="{box.width:.2f}" height="{box.height:.2f}" '
            f'fill="{colours.light}" stroke="{colours.line}" stroke-width="{width:.2f}"/>'
        )
    view = f"{bounds.x:.2f} {bounds.y:.2f} {bounds.width:.2f} {bounds.height:.2f}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}">' + "".join(lines) + "</svg>"


class _Pen:
    """Writes the shapes of one drawing at one scale."""

    def __init__(self, drawing: Drawing, scale: float) -> None:
        self._drawing, self._scale = drawing, scale
        self._bearing = {it.parent for it in drawing.shapes}

    def lines(self) -> Iterator[str]:
        rooms = [it for it in self._drawing.shapes if it.kind == "Place"]
        yield from (line for it in rooms for line in self._shape(it))
        for door in self._drawing.doors:
            (left, top), (right, bottom) = self._at(*door.ends[:2]), self._at(*door.ends[2:])
            look = 'stroke="#fff" stroke-width="5"' if door.is_in_wall else 'stroke="#8a8a8a" stroke-dasharray="4 4"'
            yield f'<line x1="{left:.1f}" y1="{top:.1f}" x2="{right:.1f}" y2="{bottom:.1f}" {look}/>'
        if self._drawing.path:
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self._at(*it) for it in self._drawing.path))
            yield f'<polyline points="{points}" fill="none" stroke="#0b5cb8" stroke-width="1.5" stroke-opacity=".6"/>'
        yield from (line for it in self._drawing.shapes if it.kind != "Place" for line in self._shape(it))

    def _shape(self, shape: Shape) -> Iterator[str]:
        (x, y), box = self._at(shape.box.x, shape.box.y), shape.box
        width, height = box.width * self._scale, box.height * self._scale
        colours = PALETTE.get(shape.kind, OTHER)
        is_room = shape.kind == "Place"
        thick = 2.5 if is_room or shape.mark else 0.8
        states = f" ({', '.join(shape.states)})" if shape.states else ""
        yield (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{0 if is_room else 2}" '
            f'fill="{colours.light}" stroke="{MARKS.get(shape.mark, colours.line)}" stroke-width="{thick}">'
            f"<title>{escape(shape.name + states)}</title></rect>"
        )
        bears = shape.id in self._bearing
        room = height * 0.3 if bears else height
        size = 13.0 if is_room else min(LARGEST, room * 0.62, max(SMALLEST, width / (LETTER * max(len(shape.name), 1))))
        letters = int((width - 4) / (size * LETTER))
        if size < SMALLEST or letters < 2:
            return
        name = shape.name if len(shape.name) <= letters else shape.name[: letters - 1] + "…"
        down = 16 if is_room else (room + size * 0.7) / 2
        look = ' font-weight="bold"' if is_room else ' fill="#fff"' if shape.kind == "Agent" else ""
        yield f'<text x="{x + 3:.1f}" y="{y + down:.1f}" font-size="{size:.1f}"{look}>{escape(name)}</text>'
        if shape.states and not is_room and size >= 7:
            words = ", ".join(shape.states)
            rest = letters - len(name) - 1
            if rest >= len(words):
                yield (
                    f'<text x="{x + width - 3:.1f}" y="{y + down:.1f}" font-size="{size * 0.8:.1f}" fill="#777" '
                    f'text-anchor="end">{escape(words)}</text>'
                )

    def _at(self, x: float, y: float) -> tuple[float, float]:
        bounds = self._drawing.bounds
        return (x - bounds.x) * self._scale, (y - bounds.y) * self._scale + HEAD

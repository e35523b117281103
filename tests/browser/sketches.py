"""`python -m tests.browser.sketches FOLDER`: the two designs of a home's page that were weighed, as wireframes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from scenecypher.db.browser.style import PALETTE
from scenecypher.files import write_file

WIDTH, HEIGHT, FOLD = 800, 660, 562
"""Pixels of a sketch; what is below the fold is seen after scrolling (a window of 1,280 by 900)."""
HOME: Final = (
    ("kitchen", (0.0, 0.0, 0.55, 0.62), ("fridge", "counter", "table", "sink")),
    ("bathroom", (0.55, 0.0, 0.45, 0.38), ("basin", "shelf")),
    ("bedroom", (0.55, 0.38, 0.45, 0.62), ("bed", "desk", "lamp")),
    ("hall", (0.0, 0.62, 0.55, 0.38), ("coats", "mirror")),
)
"""The rooms of the home that is sketched, by parts of the map's width and height, with their furniture."""


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of a page, with what it is."""

    x: float
    y: float
    width: float
    height: float
    words: str = ""

    def lines(self, fill: str = "#fff", dash: str = "") -> Iterator[str]:
        """Yield it as SVG, its words in the left upper corner."""
        yield (
            f'<rect x="{self.x:.0f}" y="{self.y:.0f}" width="{self.width:.0f}" height="{self.height:.0f}" rx="4" '
            f'fill="{fill}" stroke="#777" stroke-dasharray="{dash}"/>'
        )
        yield text(self.x + 8, self.y + 17, self.words)


def text(x: float, y: float, words: str, *, size: int = 12, fill: str = "#333") -> str:
    """Return words at a place."""
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{fill}">{escape(words)}</text>'


def plan(area: Area) -> Iterator[str]:
    """Yield a home from above in an area."""
    yield from area.lines()
    inner = Area(area.x + 10, area.y + 10, area.width - 20, area.height - 20)
    place, asset = PALETTE["Place"], PALETTE["Asset"]
    for name, (left, top, wide, high), furniture in HOME:
        x, y = inner.x + left * inner.width, inner.y + top * inner.height
        width, height = wide * inner.width, high * inner.height
        yield f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" fill="{place.light}" '
        yield f'stroke="{place.line}" stroke-width="2"/>'
        is_small = area.width < 300
        if not is_small:
            yield text(x + 8, y + 18, name)
        step = (width - 16) / len(furniture)
        for number, one in enumerate(furniture):
            down = 8 if is_small else 30
            yield f'<rect x="{x + 8 + number * step:.0f}" y="{y + down:.0f}" width="{step - 6:.0f}" '
            yield f'height="{height * 0.3:.0f}" fill="{asset.light}" stroke="{asset.line}"/>'
            if not is_small:
                yield text(x + 12 + number * step, y + down + 15, one, size=10)
    agent = PALETTE["Agent"].line
    yield f'<circle cx="{inner.x + 30:.0f}" cy="{inner.y + inner.height * 0.5:.0f}" r="8" fill="{agent}"/>'


MAP_IN_COLUMNS: Final = Area(560, 132, 228, 198)
MAP_OF_PAGE: Final = Area(12, 92, 560, 402)


def columns() -> Iterator[str]:
    """Yield the first design: rooms as cards with lists of words, the map in a panel beside them."""
    for number, words in enumerate(("Find", "Ask", "Act", "Plan, by method", "Cypher", "Version", "Copy to")):
        yield from Area(12 + number % 4 * 195, 46 + number // 4 * 40, 185, 32, words).lines("#f2f2f2")
    for number, (name, _, furniture) in enumerate(HOME):
        card = Area(12 + number % 2 * 270, 132 + number // 2 * 230, 260, 220, name)
        yield from card.lines("#fafafa")
        for row, one in enumerate((*furniture, "…", "…", "…")):
            words = one if one == "…" else f"{one}: on it …"
            yield text(card.x + 20, card.y + 42 + row * 22, words, size=11, fill="#555")
    yield from plan(MAP_IN_COLUMNS)
    yield from Area(560, 340, 228, 212, "What happened").lines("#fafafa")
    yield from Area(12, FOLD + 24, 776, 60, "more rooms, answers and refusals on pages of their own").lines(
        "none", "4 4"
    )


def map_page() -> Iterator[str]:
    """Yield the second design: the map fills the window, the bar above, what is chosen beside, the versions below."""
    yield from Area(12, 46, 776, 36, "Ask, find, act, plan or query: one bar, Enter does what the text is").lines(
        "#f2f2f2"
    )
    yield from plan(MAP_OF_PAGE)
    yield from Area(584, 92, 204, 190, "Answer, rows, Cypher").lines("#fafafa")
    yield from Area(584, 292, 204, 260, "What is chosen: its states,").lines("#fafafa")
    yield text(592, 326, "relations, and buttons for")
    yield text(592, 343, "what can be done with it now")
    yield from Area(12, 504, 560, 48, "versions: play, drag; runs as spans, refusals as rings").lines("#f2f2f2")
    for number in range(24):
        yield f'<rect x="{30 + number * 22}" y="530" width="2" height="14" fill="#0072b2"/>'
    yield from Area(12, FOLD + 24, 776, 60, "the same as a list, for screen readers and print").lines("none", "4 4")


def share(area: Area) -> str:
    """Return the part of the first screen that an area takes."""
    return f"{area.width * area.height / (WIDTH * FOLD):.0%}"


SKETCHES: Final[Mapping[str, tuple[str, Area]]] = {
    "sketch-columns": ("A: columns of cards with a map panel", MAP_IN_COLUMNS),
    "sketch-map": ("B: the map is the page", MAP_OF_PAGE),
}


def sketch(name: str) -> str:
    """Return a sketch as an SVG document."""
    title, area = SKETCHES[name]
    lines: Sequence[str] = [*(columns() if area is MAP_IN_COLUMNS else map_page())]
    fold = f'<line x1="0" y1="{FOLD}" x2="{WIDTH}" y2="{FOLD}" stroke="#c2414b" stroke-dasharray="8 5"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="Helvetica, Arial, sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n'
        + text(12, 28, f"{title} ({share(area)} of the first screen is map)", size=16, fill="#111")
        + "\n"
        + "\n".join(lines)
        + f"\n{fold}\n{text(640, FOLD + 14, 'end of the first screen', fill='#c2414b')}\n</svg>\n"
    )


def main(folder: Path) -> None:
    """Write both sketches."""
    for name in SKETCHES:
        write_file(folder / f"{name}.svg", sketch(name))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""One palette: the page, pictures, Neo4j Browser and the terminal share it, and the colour-blind can read it."""

from __future__ import annotations

from itertools import combinations, starmap

import pytest

from scenecypher.db.browser.style import PALETTE, STYLE, css_variables, line_colour
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.floorplan.figure import figure_of
from scenecypher.floorplan.home_view import view_of
from scenecypher.floorplan.layout import drawing_of
from scenecypher.ui.render import static_text
from tests.planner.actions.household_worlds import NODES, RELATIONS

Rows = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
# What eyes without one kind of cones see of linear RGB: Machado, Oliveira and Fernandes, 2009, severity 1.
SEEN: dict[str, Rows] = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
TO_XYZ: Rows = ((0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722), (0.0177, 0.1095, 0.8729))
"""Linear sRGB to XYZ, each as a part of white's (D65)."""


def times(rows: Rows, of: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(min(1.0, max(0.0, sum(a * b for a, b in zip(row, of, strict=True)))) for row in rows)


def linear(colour: str) -> tuple[float, ...]:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return tuple(it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in parts)


def lab(colour: str, eyes: str) -> tuple[float, float, float]:
    x, y, z = (
        it ** (1 / 3) if it > 0.008856 else 7.787 * it + 16 / 116
        for it in times(TO_XYZ, times(SEEN[eyes], linear(colour)))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def differ(one: str, other: str, eyes: str) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(lab(one, eyes), lab(other, eyes), strict=True)) ** 0.5)


@pytest.mark.parametrize("eyes", SEEN)
def test_kinds_are_told_apart_by_all_usual_eyes(eyes: str) -> None:
    lines = [it.line for it in PALETTE.values()]
    assert min(starmap(lambda one, other: differ(one, other, eyes), combinations(lines, 2))) >= 20


def test_the_earlier_green_of_things_and_red_of_agents_are_alike_by_this_measure() -> None:
    assert differ("#5db075", "#c2414b", "deuteranopia") < 20


def test_the_page_pictures_and_browser_have_the_same_colours() -> None:
    picture = figure_of(drawing_of(graph := SceneGraph.of(NODES, RELATIONS), view_of(graph)), "home")
    for kind in ("Place", "Asset", "Object", "Agent"):
        colour = line_colour(kind)
        assert STYLE[f"node.{kind}"]["color"] == colour
        assert f"--{kind.lower()}-line: {colour}" in css_variables()
        assert f'stroke="{colour}"' in picture
    assert static_text("home.css").startswith(css_variables())

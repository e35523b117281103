"""The pictures of the docs: drawn by their scripts, in the palette's own colours, and the moving one small enough."""

from __future__ import annotations

import shutil
import subprocess
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageColor

from scenecypher.db.browser.style import PALETTE
from scenecypher.floorplan.figure import figure_of
from scenecypher.floorplan.home_view import view_of
from scenecypher.floorplan.layout import drawing_of
from scenecypher.ui.render import png_of
from tests.browser.screenshots import FILM
from tests.browser.sketches import SKETCHES, sketch
from tests.planner.actions.household_worlds import SILENT

IMAGES = Path(__file__).parents[2] / "docs" / "images"
MOST_BYTES = 1_500_000


@pytest.mark.parametrize("name", SKETCHES)
def test_a_sketch_is_what_its_script_draws(name: str) -> None:
    assert (IMAGES / f"{name}.svg").read_text(encoding="utf-8") == sketch(name)


@pytest.mark.parametrize("kind", ["Agent", "Asset", "Object"])
def test_a_home_is_shown_in_the_palettes_own_colours(kind: str) -> None:
    """The red of agents was a brown: 96 usual colours of a page have none for one small box."""
    with Image.open(IMAGES / "home.png") as image:
        colours = {colour for _, colour in image.convert("RGB").getcolors(image.width * image.height) or []}
    assert ImageColor.getrgb(PALETTE[kind].light) in colours


def test_the_moving_picture_moves_and_is_small() -> None:
    file = IMAGES / f"{FILM}.webp"
    with Image.open(file) as image:
        assert getattr(image, "n_frames", 1) > 20
    assert file.stat().st_size < MOST_BYTES


@pytest.mark.skipif(not shutil.which("fc-list"), reason="no list of this machine's fonts")
def test_a_png_has_words_in_the_fonts_of_this_machine() -> None:
    """Where there is neither Helvetica nor Arial, as on most servers, a PNG had no words at all."""
    known = subprocess.run(["fc-list"], capture_output=True, text=True, check=True).stdout
    if not any(it in known for it in ("DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica")):
        pytest.skip("none of the fonts that we name")
    figure = figure_of(drawing_of(SILENT, view_of(SILENT)), "a home with a title")
    with Image.open(BytesIO(png_of(figure))) as image:
        title = image.convert("L").crop((0, 0, image.width, 60))
    assert min(title.tobytes()) < 128

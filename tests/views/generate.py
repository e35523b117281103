"""`python -m tests.views.generate`: generate the rendered MiniGrid views with their gold subgraphs.

Tables are things laid out in rows, seen from above; rooms are MiniGrid's own 7 x 7 view at the start of an episode. The
prior belief differs from the picture: things are gone, things are new, and some are interchangeable. `hard.py` has the
views of what a picture may lack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from random import Random
from typing import Final

from scenecypher.chat import Image
from scenecypher.evaluation.views import bundled_views
from scenecypher.importers.babyai import level_instance
from scenecypher.importers.babyai_grid import THINGS
from scenecypher.planner.worlds.minigrid_world import render_view, simulator_view
from tests.pictures import table
from tests.views.hard import hard_views
from tests.views.made import SORTS, MadeView, listed

TABLES: Final = 20
ROOMS: Final = 16
TABLE_CONVENTIONS: Final = (
    "The picture shows a table from above, drawn in squares; all of it is in view, and empty squares are its top."
)
ROOM_CONVENTIONS: Final = (
    "The picture shows a room from above, drawn in squares. The red triangle is you, no thing of the room. Grey "
    "squares are walls, dark ones are behind them; what is in view counts as the whole room. Doors belong to the "
    "walls: leave them out. Things are balls, boxes and keys, each inside the room itself; call them by colour and "
    "kind."
)
MIN_THINGS: Final = 2
"""Number of things that a room's view must show to be used."""


def make_views() -> Iterator[MadeView]:
    """Yield all views."""
    yield from (_table(number) for number in range(1, TABLES + 1))
    yield from _rooms()
    yield from hard_views()


def main() -> None:
    """Write all files."""
    for one in make_views():
        for name, picture in one.pictures.items():
            (bundled_views() / name).write_bytes(picture.data)
        (bundled_views() / f"{one.name}.json").write_text(one.text(), encoding="utf-8")


def _table(number: int) -> MadeView:
    """Return a table with a few things, up to eight of a class, since models tend to undercount those."""
    random = Random(f"table/{number}")  # noqa: S311 - no secret
    sorts = random.sample(SORTS, k=1 + number % 4 if number % 10 else 0)
    things = [sort for sort in sorts for _ in range(random.choice((1, 1, 1, 2, 3, 8)))]
    random.shuffle(things)
    asset = {"name": f"table-{number}", "class": "table"}
    return _view(f"tables-{number:02}", table(things), asset, things, random=random, relation="ON")


def _rooms() -> Iterator[MadeView]:
    numbers = count(1)
    for seed in range(1_000):
        env = level_instance("trv1" if seed % 2 else "numqa", seed).env
        shown = sorted(
            f"{it.color} {it.class_}" for it in simulator_view(env).things if THINGS[it.class_][0] == "Object"
        )
        if len(shown) < MIN_THINGS:
            continue
        number = next(numbers)
        if number > ROOMS:
            return
        asset = {"name": f"room-{number}", "class": "room", "kind": "Place"}
        random = Random(f"room/{number}")  # noqa: S311 - no secret
        yield _view(f"rooms-{number:02}", render_view(env), asset, shown, random=random, relation="INSIDE")


def _view(
    name: str, picture: Image, asset: dict[str, str], things: Sequence[str], *, random: Random, relation: str
) -> MadeView:
    gone = random.choice(sorted({*SORTS} - {*things}))
    before = [*random.sample(things, k=len(things) // 2), gone]
    is_room = "kind" in asset
    document = {
        "image": f"{name}.png",
        "asset": asset,
        "set": name.partition("-")[0],
        "conventions": ROOM_CONVENTIONS if is_room else TABLE_CONVENTIONS,
        "known": [f"{sort}-1" for sort in SORTS],
        "priors": listed(before, asset["name"], relation),
        "gold": listed(things, asset["name"], relation),
    }
    return MadeView(name, {f"{name}.png": picture}, document)


if __name__ == "__main__":
    main()

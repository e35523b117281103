"""`python -m tests.views.generate`: generate the rendered MiniGrid views with their gold subgraphs.

Tables are things laid out in rows, seen from above; rooms are MiniGrid's own 7 x 7 view at the start of an episode. The
prior belief differs from the picture: things are gone, things are new, and some are interchangeable.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, Final

from scenecypher.chat import Image
from scenecypher.evaluation.views import bundled_views
from scenecypher.importers.babyai import level_instance
from scenecypher.importers.babyai_grid import THINGS
from scenecypher.planner.perception.grid_view import render_view, simulator_view
from tests.pictures import table

TABLES: Final = 20
ROOMS: Final = 16
COLORS: Final = ("blue", "green", "grey", "purple", "red", "yellow")
KINDS: Final = ("ball", "box", "key")
SORTS: Final = tuple(f"{color} {kind}" for color in COLORS for kind in KINDS)
MIN_THINGS: Final = 2
"""Number of things that a room's view must show to be used."""


@dataclass(frozen=True, slots=True)
class MadeView:
    """View: its name, its picture and its JSON document."""

    name: str
    picture: Image
    document: dict[str, Any]

    def text(self) -> str:
        """Return the text of the JSON file."""
        return json.dumps(self.document, indent=1) + "\n"


def make_views() -> Iterator[MadeView]:
    """Yield all views."""
    yield from (_table(number) for number in range(1, TABLES + 1))
    yield from _rooms()


def main() -> None:
    """Write all files."""
    for one in make_views():
        (bundled_views() / one.document["image"]).write_bytes(one.picture.data)
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
    document = {
        "image": f"{name}.png",
        "asset": asset,
        "set": name.partition("-")[0],
        "known": [f"{sort}-1" for sort in SORTS],
        "priors": _listed(before, asset["name"], relation),
        "gold": _listed(things, asset["name"], relation),
    }
    return MadeView(name, picture, document)


def _listed(things: Sequence[str], asset: str, relation: str) -> list[dict[str, str]]:
    """Return the things numbered by class, in the order of their names."""
    listed = []
    for sort, amount in sorted(Counter(things).items()):
        names = [f"{sort}-{number}" for number in range(1, amount + 1)]
        listed += [{"name": it, "relation": relation, "related_to": asset} for it in names]
    return listed


if __name__ == "__main__":
    main()

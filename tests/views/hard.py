"""Views of what a picture may lack: focus, a part, the right place, a side; or has too much of: things, things alike.

Except in MiniGrid's own view, a grey frame is the edge of what is shown, so that a picture tells if it was cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import Any, Final

import numpy as np

from scenecypher.chat import Image
from scenecypher.importers.babyai import level_instance
from scenecypher.planner.worlds.minigrid_world import TILE_PIXELS, render_view
from tests.pictures import blurred, encoded, framed
from tests.views.made import SORTS, MadeView, listed

FRAMED: Final = (
    "The picture shows {what} from above, drawn in squares. A grey frame is its edge: where a side of the frame is "
    "missing, the picture is cut off. Things are balls, boxes and keys; call them by colour and kind."
)
SHELVES: Final = (
    "The picture shows a rack from the front, drawn in squares: two shelves, one above the other, each in a grey "
    "frame. A dark shelf can not be seen into. Things are balls, boxes and keys, each inside the rack; call them by "
    "colour and kind."
)
SIDES: Final = (
    "Both pictures show one room from above, drawn in squares, a grey frame for its walls. The room has 13 columns "
    "of squares, the walls among them: the first picture shows columns 0 to 7, the second columns 5 to 12, so that "
    "columns 5 to 7 are in both. Things are balls, boxes and keys, each inside the room itself; call them by colour "
    "and kind."
)
CABINETS: Final = (
    FRAMED
    + " A door is a small cabinet that stands there too: call it a cabinet by its colour, and say if it is open or "
    "closed. Nothing else there can be opened or switched on."
)
STANDS_FOR: Final = {"blue ball": "dinner_napkin", "green box": "coffee_mug", "red key": "half_apple"}
WORDS: Final = FRAMED.replace(
    "Things are balls, boxes and keys; call them by colour and kind.",
    "A {}. Nothing else is there.".format(", a ".join(f"{it} stands for a {word}" for it, word in STANDS_FOR.items())),
)
LOOKS: Final = 10
Cells = dict[tuple[int, int], str]


def hard_views() -> Iterator[MadeView]:
    """Yield the views, set by set."""
    for make, amount in ((_blurred, 4), (_cut, 4), (_elsewhere, 3), (_shelves, 3), (_crowded, 3), (_twins, 3)):
        yield from (make(number) for number in range(1, amount + 1))
    yield from (_sides(number) for number in range(1, 5))
    for make in (_drift, _turns, _words, _states):
        yield from (make(number) for number in (1, 2))


def _blurred(number: int) -> MadeView:
    """Return a table out of focus: nothing can be told of it."""
    chance = _chance("blurred", number)
    things = chance.sample(SORTS, 5)
    picture = encoded(blurred(framed((5, 2), _laid_out(things, (5, 2), chance))))
    view = {"seen": "nothing", "reason": "the picture is blurred"}
    return _view(f"blurred-{number:02}", [picture], FRAMED, gold=(), hidden=things[:3], **view)


def _cut(number: int) -> MadeView:
    """Return a table whose right half is outside the picture."""
    chance = _chance("cut", number)
    sorts = chance.sample(SORTS, 7)
    left, right = sorts[:4], sorts[4:]
    cells = _laid_out(left, (3, 2), chance) | _laid_out(right, (3, 2), chance, first_column=3)
    picture = encoded(framed((6, 2), cells)[:, : 4 * TILE_PIXELS])
    view = {"seen": "part", "part": "the left half", "reason": "the picture is cut off at the right"}
    return _view(f"cut-{number:02}", [picture], FRAMED, gold=left, hidden=right, believed=left[:2], **view)


def _elsewhere(number: int) -> MadeView:
    """Return MiniGrid's own view of a room instead of the table."""
    picture = render_view(level_instance("trv1", 500 + number).env)
    hidden = _chance("elsewhere", number).sample(SORTS, 4)
    view = {"seen": "another_place", "reason": "it shows a room"}
    return _view(f"elsewhere-{number:02}", [picture], FRAMED, gold=(), hidden=hidden, **view)


def _shelves(number: int) -> MadeView:
    """Return a rack of which only one shelf is visible."""
    chance = _chance("shelves", number)
    sorts = chance.sample(SORTS, 7)
    seen, hidden = sorts[:4], sorts[4:]
    shelves = [framed((5, 1), _laid_out(seen, (5, 1), chance)), framed((5, 1), {}, dark=True)]
    is_upper = number % 2 == 1
    picture = encoded(np.concatenate(shelves if is_upper else shelves[::-1]))
    view = {"seen": "part", "part": f"the {'upper' if is_upper else 'lower'} shelf", "reason": "the other one is dark"}
    return _view(f"shelves-{number:02}", [picture], SHELVES, gold=seen, hidden=hidden, believed=seen[:2], **view)


def _crowded(number: int) -> MadeView:
    """Return a table with twenty things and more, some alike."""
    chance = _chance("crowded", number)
    things = [*chance.sample(SORTS, 14), *chance.choices(SORTS, k=6 + 2 * number)]
    picture = encoded(framed((7, 4), _laid_out(things, (7, 4), chance)))
    return _view(f"crowded-{number:02}", [picture], FRAMED, gold=things, believed=_before(things, chance))


def _twins(number: int) -> MadeView:
    """Return a table with several things of each of two classes, in colours of which each class has two."""
    chance = _chance("twins", number)
    one, other = chance.sample(("blue", "green", "purple", "red", "yellow"), 2)
    things = [f"{one} ball"] * (number + 1) + [f"{one} box"] * 2 + [f"{other} ball"] * 2
    picture = encoded(framed((5, 2), _laid_out(things, (5, 2), chance)))
    return _view(f"twins-{number:02}", [picture], FRAMED, gold=things, believed=_before(things, chance))


def _sides(number: int) -> MadeView:
    """Return a room in two pictures, from two sides, with things that both show."""
    chance = _chance("sides", number)
    things = chance.sample(SORTS, 5 + number)
    cells = _laid_out(things[2:], (11, 4), chance)
    cells = {cell: thing for cell, thing in cells.items() if not 4 <= cell[0] <= 6}
    kept = [*things[:2], *cells.values()]
    cells |= _laid_out(things[:2], (3, 4), chance, first_column=4)
    pixels = framed((11, 4), cells)
    pictures = [encoded(pixels[:, : 8 * TILE_PIXELS]), encoded(pixels[:, 5 * TILE_PIXELS :])]
    name = f"sides-{number:02}"
    return _view(name, pictures, SIDES, gold=kept, believed=_before(kept, chance), asset="room")


def _drift(number: int) -> MadeView:
    """Return a table, or its left half, that is looked at ten times; nothing changes."""
    chance = _chance("drift", number)
    if number == 1:
        things = [*[chance.choice(SORTS)] * 5, *chance.sample(SORTS, 3)]
        picture = encoded(framed((5, 2), _laid_out(things, (5, 2), chance)))
        view: dict[str, Any] = {"gold": things, "believed": _before(things, chance)}
    else:
        sorts = chance.sample(SORTS, 6)
        cells = _laid_out(sorts[:3], (3, 2), chance) | _laid_out(sorts[3:], (3, 2), chance, first_column=3)
        picture = encoded(framed((6, 2), cells)[:, : 4 * TILE_PIXELS])
        part = {"seen": "part", "part": "the left half", "reason": "the picture is cut off at the right"}
        view = {"gold": sorts[:3], "hidden": sorts[3:], "believed": sorts[:1], **part}
    name = f"drift-{number:02}"
    return _view(name, [picture], FRAMED, looks=[{"image": f"{name}.png"}] * (LOOKS - 1), **view)


def _turns(number: int) -> MadeView:
    """Return a table and a bench in turn, four looks in all, with a twin on each; one of the two is known."""
    chance = _chance("turns", number)
    twin, *others = chance.sample(SORTS, 2 + number)
    name, bench = f"turns-{number:02}", {"name": "table-2", "class": "table"}
    pictures = {
        f"{name}.png": encoded(framed((4, 2), _laid_out([twin, *others], (4, 2), chance))),
        f"{name}b.png": encoded(framed((4, 2), _laid_out([twin], (4, 2), chance))),
    }
    looks = [{"image": f"{name}b.png", "asset": bench}, {"image": f"{name}.png"}]
    made = _view(name, [*pictures.values()][:1], FRAMED, gold=[twin, *others], believed=[twin], looks=looks * 2)
    made.document["looks"].pop()
    made.document["gold"].append({"name": f"{twin}-2", "relation": "ON", "related_to": bench["name"]})
    return MadeView(name, pictures, made.document)


def _words(number: int) -> MadeView:
    """Return a table with things that have names of their own; all are known."""
    chance = _chance("words", number)
    things = [*STANDS_FOR][: number + 1]
    picture = encoded(framed((4, 2), _laid_out(things, (4, 2), chance)))
    named = [STANDS_FOR[it] for it in things]
    made = _view(f"words-{number:02}", [picture], WORDS, gold=named, believed=named)
    made.document["known"] = []
    return made


def _states(number: int) -> MadeView:
    """Return a table with cabinets that were opened or closed since, and things that have no such state."""
    chance = _chance("states", number)
    colors = chance.sample(("blue", "green", "purple", "red"), 2)
    cabinets, things = [f"{it} cabinet" for it in colors], chance.sample(SORTS, 1 + number)
    cells = _laid_out([f"{cabinets[0]} open", cabinets[1], *things], (4, 2), chance)
    made = _view(f"states-{number:02}", [encoded(framed((4, 2), cells))], CABINETS, gold=[*cabinets, *things])
    now = {f"{it}-1": state for it, state in zip(cabinets, ("open", "closed"), strict=True)}
    before = {f"{it}-1": state for it, state in zip(cabinets, ("closed", "open"), strict=True)}
    gold = made.document["gold"]
    made.document["gold"] = [it | ({"states": [now[it["name"]]]} if it["name"] in now else {}) for it in gold]
    made.document["priors"] = [it | {"states": [before[it["name"]]]} for it in gold if it["name"] in before]
    return made


def _chance(kind: str, number: int) -> Random:
    return Random(f"{kind}/{number}")  # noqa: S311 - no secret


def _laid_out(things: Sequence[str], size: tuple[int, int], chance: Random, *, first_column: int = 0) -> Cells:
    """Return things at different cells of a part of a grid."""
    cells = [*product(range(first_column, first_column + size[0]), range(size[1]))]
    return dict(zip(chance.sample(cells, len(things)), things, strict=True))


def _before(things: Sequence[str], chance: Random) -> list[str]:
    """Return what was believed before: half of the things, and one that is gone."""
    return [*chance.sample(things, len(things) // 2), chance.choice(sorted({*SORTS} - {*things}))]


def _view(
    name: str,
    pictures: Sequence[Image],
    conventions: str,
    *,
    gold: Sequence[str],
    hidden: Sequence[str] = (),
    believed: Sequence[str] = (),
    asset: str = "",
    **view: Any,
) -> MadeView:
    """Return a view; `hidden` are believed things that its pictures can't show."""
    kind = asset or ("rack" if conventions == SHELVES else "table")
    relation = "ON" if kind == "table" else "INSIDE"
    of = f"{kind}-1"
    files = [f"{name}.png"] if len(pictures) == 1 else [f"{name}{side}.png" for side in "ab"]
    document = {
        "image": files[0],
        **({"others": files[1:]} if files[1:] else {}),
        "asset": {"name": of, "class": kind} | ({"kind": "Place"} if kind == "room" else {}),
        "set": name.partition("-")[0],
        "conventions": conventions.format(what="a table"),
        **view,
        "known": [f"{sort}-1" for sort in SORTS],
        "priors": listed([*believed, *hidden], of, relation),
        **({"hidden": [f"{it}-1" for it in sorted(hidden)]} if hidden else {}),
        "gold": listed(gold, of, relation),
    }
    return MadeView(name, dict(zip(files, pictures, strict=True)), document)

"""Parser of the scene in a LookPlanGraph prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

RELATIONS: Final = ("ontop", "inside", "under", "attached_to")
_LINE: Final = re.compile(
    r"(?P<id>[^\s,]+)(?: \((?P<traits>[^)]*)\))?"
    r"(?P<supports>(?:(?: and)? (?:ontop|inside|under|attached_to) [^\s,]+)*)"
    r"(?: between (?P<between>\S+ and \S+))?(?: in cell \((?P<cell>\d+, \d+)\))?(?P<rest>.*)"
)


@dataclass(frozen=True)
class Thing:
    """A line of the scene."""

    id: str
    kind: str
    room: str
    traits: tuple[str, ...] = ()
    supports: tuple[tuple[str, str], ...] = ()
    joins: tuple[str, ...] = ()
    cell: tuple[int, int] | None = None
    states: tuple[str, ...] = ()
    inspected: bool = False
    confirmed: bool = True


@dataclass
class Scene:
    """The scene as a prompt describes it."""

    places: list[str] = field(default_factory=list)
    here: str = ""
    held: dict[str, tuple[str, ...]] = field(default_factory=dict)
    things: dict[str, Thing] = field(default_factory=dict)

    def of(self, *kinds: str) -> list[Thing]:
        return [it for it in self.things.values() if it.kind in kinds]


TITLES: Final = {
    "Doors:": "door",
    "Assets in this room:": "asset",
    "Objects that you see in this room:": "object",
    "Objects that you remember in this room, which may be gone:": "object",
    "What you know of other rooms:": "elsewhere",
}


def read_scene(text: str) -> Scene:
    """Parse the scene of a prompt."""
    scene, kind = Scene(), ""
    for line in text.splitlines():
        if line.startswith("Places: "):
            scene.places = line.removeprefix("Places: ").rstrip(".").split(", ")
        elif line.startswith("You are in "):
            where, _, held = line.removeprefix("You are in ").rstrip(".").partition(", holding ")
            scene.here = where.split(" in cell ")[0]
            for part in () if held == "nothing" else held.split(", "):
                id_, _, traits = part.partition(" (")
                scene.held[id_] = tuple(traits.rstrip(")").split())
        elif line in TITLES:
            kind = TITLES[line]
        elif kind:
            thing = _thing(line, kind, scene.here)
            scene.things[thing.id] = thing
    return scene


def _thing(line: str, kind: str, here: str) -> Thing:
    found = _LINE.fullmatch(line)
    assert found, line
    words = [word.strip() for word in found["rest"].split(",") if word.strip()]
    room = next((word.removeprefix("in ") for word in words if word.startswith("in ")), here)
    states = tuple(word for word in words if word not in {"inspected", "not confirmed"} and not word.startswith("in "))
    pairs = found["supports"].replace(" and ", " ").split()
    supports = tuple(zip(pairs[::2], pairs[1::2], strict=True))
    if kind == "elsewhere":
        kind = "object" if supports or "not confirmed" in words else "asset"
    cell = tuple(int(number) for number in found["cell"].split(", ")) if found["cell"] else None
    return Thing(
        found["id"],
        kind,
        room,
        tuple((found["traits"] or "").split()),
        supports,
        tuple((found["between"] or "").split(" and ")) if found["between"] else (),
        (cell[0], cell[1]) if cell else None,
        states,
        inspected="inspected" in words,
        confirmed="not confirmed" not in words,
    )

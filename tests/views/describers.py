"""Scripted describers of the bundled views, over HTTP: they read the pixels, some with care and some without.

`python -m tests.views.describers` prints the table of docs/measurements.md. A describer tells in words what it sees,
and turns words into the form. No language model is asked.

- **perfect**: sees all, obeys the conventions, and says how much is in view;
- **careless**: counts no more than three alike and no more than twelve in all, takes whatever picture it gets for the
  asset, adds up what several pictures show, and does not say how much is in view;
- **overconfident**: the same, but says each time that all is in view;
- **unexplained**: sees all, but is not told the conventions: it lists the agent and the doors too;
- **near**: sees all, and uses a near word for what has a name of its own, such as "serviette" for a dinner napkin;
- **loose**: sees all, takes any thing for the first one of its name, uses another word for what has a name of its own,
  and says of each thing all that it might be: open, closed, on and off.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from os import environ
from tempfile import mkdtemp
from typing import Any, Final

import numpy as np
from minigrid.core.grid import Grid

from tests.scripted_model import ScriptedModel, Step
from tests.scripted_vision import TILE, Pixels, decoded, templates

MOST_ALIKE: Final = 3
MOST_THINGS: Final = 12
UNLIKE: Final = 100.0
"""Mean squared difference of a tile from the nearest template beyond which it shows nothing that is known."""
AT: Final = re.compile(r"Look at this picture of (\S+?)\. ")
THING: Final = re.compile(r"(\d+) (\w+(?: \w+)?(?:-\d+)?) (?:is|are) (?:([\w, ]+) and )?(on top of|inside) (\S+)\.")
STANDS_FOR: Final = re.compile(r"[Aa] (\w+ \w+) stands for a (\w+)")
NEAR: Final = {"dinner_napkin": "serviette", "coffee_mug": "cup", "half_apple": "apple"}
FAR: Final = {"dinner_napkin": "cloth", "coffee_mug": "bowl", "half_apple": "fruit"}
STATES: Final = {"open": "open", "closed": "closed", "on": "turned_on", "off": "turned_off"}
FORMS: Final = {
    "All of it is in view.": ("whole", None),
    "Only a part of it is in view.": ("part", "a part"),
    "Nothing can be made out.": ("nothing", None),
    "It is another place.": ("another_place", None),
}

KINDS: Final = ("perfect", "careless", "overconfident", "unexplained", "near", "loose")

Tiles = list[list[str]]


class Describer:
    """A script of one kind of describer."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self, request: dict[str, Any]) -> Step:
        content = request["messages"][-1]["content"]
        if isinstance(content, str):
            return json.dumps(form_of(content))
        prompt = str(content[0]["text"])
        pictures = [tiles_in(it["image_url"]["url"]) for it in content[1:]]
        (asset,) = AT.findall(prompt)
        careful = self.kind not in {"careless", "overconfident"}
        extent = extent_of(pictures, prompt) if careful else "All of it is in view." if self._is_sure else ""
        if careful and extent in {"Nothing can be made out.", "It is another place."}:
            return extent
        things = Counter(things_of(pictures, joined=careful))
        if "cabinet" in prompt and self.kind != "unexplained":
            things.update(cabinets_of(pictures))
        if self.kind == "unexplained":
            things.update(lore_of(pictures))
        if not careful:
            things = Counter({it: min(n, MOST_ALIKE) for it, n in sorted(things.items())[:MOST_THINGS]})
        where = "on top of" if asset.startswith("table") else "inside"
        named = dict(STANDS_FOR.findall(prompt))
        said = [f"{n} {self._told(thing, n, named)} {where} {asset}." for thing, n in sorted(things.items())]
        return " ".join([extent, *said]).strip() or "Things are there."

    def _told(self, thing: str, amount: int, named: dict[str, str]) -> str:
        """Return what a thing is called, and with a verb in which states it is."""
        name, _, state = thing.partition(":")
        word = named.get(name, name)
        word = {"near": NEAR, "loose": FAR}.get(self.kind, {}).get(word, word)
        if self.kind == "loose":
            word, state = (f"{word}-1" if amount == 1 and word == name else word), ", ".join(STATES)
        states = f" {state} and" if state and self.kind not in {"careless", "overconfident"} else ""
        return f"{word} {'is' if amount == 1 else 'are'}{states}"

    @property
    def _is_sure(self) -> bool:
        return self.kind == "overconfident"


def form_of(prompt: str) -> dict[str, Any]:
    """Return the form that a description has: whole only where it says so."""
    _, words, _ = prompt.split("---", 2)
    extent, part = next((it for said, it in FORMS.items() if said in words), ("part", "what is described"))
    relations = {"on top of": "ontop_of", "inside": "inside_of"}
    objects = [
        {
            "name": name,
            "count": int(count),
            "relation": relations[how],
            "related_to": on,
            "states": [STATES[it] for it in states.split(", ") if it],
            "confidence": None,
        }
        for count, name, states, how, on in THING.findall(words)
    ]
    return {"extent": extent, "part": part, "reason": None, "objects": objects}


@cache
def tiles_in(url: str) -> Tiles:
    """Return what each tile of a data URL's picture shows; ``?`` where it is like nothing known."""
    pixels = decoded(url)
    names, library = known_tiles()
    rows, columns = pixels.shape[0] // TILE, pixels.shape[1] // TILE
    found = [["?"] * columns for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            tile = pixels[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE].ravel()
            errors = ((library - tile) ** 2).mean(axis=1)
            best = int(np.argmin(errors))
            found[row][column] = names[best] if errors[best] < UNLIKE else "?"
    return found


def extent_of(pictures: list[Tiles], prompt: str) -> str:
    """Return how much of the asset pictures show."""
    tiles = [it for picture in pictures for row in picture for it in row]
    if "?" in tiles:
        return "Nothing can be made out."
    if "red agent" in tiles:
        return "All of it is in view." if "red triangle" in prompt else "It is another place."
    if "grey frame" not in prompt:
        return "All of it is in view."
    left, right = pictures[0], pictures[-1]
    sides = [row[0] for row in left] + [row[-1] for row in right]
    is_whole = "dark" not in tiles and all(it == "wall" for it in (*sides, *left[0], *left[-1]))
    return "All of it is in view." if is_whole else "Only a part of it is in view."


def things_of(pictures: list[Tiles], *, joined: bool) -> Iterator[str]:
    """Yield balls, boxes and keys; `joined` leaves out of a second picture the columns that the first one shows."""
    for number, picture in enumerate(pictures):
        first = 3 if joined and number else 0
        yield from (it for row in picture for it in row[first:] if it.endswith((" ball", " box", " key")))


def cabinets_of(pictures: list[Tiles]) -> Iterator[str]:
    """Yield doors as cabinets, with their states."""
    for picture in pictures:
        for color, _, state in (it.split() for row in picture for it in row if " door " in it):
            yield f"{color} cabinet:{state}"


def lore_of(pictures: list[Tiles]) -> Iterator[str]:
    """Yield what MiniGrid draws besides things: doors and the agent."""
    for picture in pictures:
        yield from (" ".join(it.split()[:2]) for row in picture for it in row if "door" in it or "agent" in it)


@cache
def known_tiles() -> tuple[list[str], Pixels]:
    """Return the drawings of all things in view, of the agent, and of the dark."""
    names, library = templates()
    agent = Grid.render_tile(None, agent_dir=3, highlight=True, tile_size=TILE).astype(np.float32).ravel()
    words = [f"{color} {kind} {state}".strip() if color else kind for kind, color, state in names]
    return [*words, "red agent"], np.concatenate([library, agent[None]])


def main() -> None:
    """Print the table: each describer's F1 of nodes, success, and share of the unseen things that it kept."""
    from scenecypher.evaluation.augmentation import augmentation, augmentation_result
    from scenecypher.evaluation.running import RunOptions, run_task

    environ["OPENAI_API_KEY"] = "scripted"
    cells: dict[str, list[str]] = {}
    for kind in KINDS:
        with ScriptedModel(Describer(kind), models=(kind,)) as server:  # Inspect keeps a model's address by its name
            environ["OPENAI_BASE_URL"] = server.base_url
            found = augmentation_result(run_task(augmentation(), RunOptions(f"openai/{kind}", log_dir=mkdtemp())))
        for row in found.tables[0].rows:
            values = (row.cells[name].value for name in ("nodes", "exact", "kept") if name in row.cells)
            cells.setdefault(str(row.options["pictures"]), []).append(" ".join(f"{it:.2f}" for it in values))
    rows = [("set", KINDS), ("---", ["---"] * len(KINDS)), *((f"`{name}`", told) for name, told in cells.items())]
    print("\n".join(f"| {name} | {' | '.join(told)} |" for name, told in rows))  # noqa: T201


if __name__ == "__main__":
    main()

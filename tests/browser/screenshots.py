"""`python -m tests.browser.screenshots FOLDER [NAME...]`: the pictures of docs/, taken on a throw-away server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from math import dist
from pathlib import Path
from typing import Final, TypeAlias

from PIL import Image, ImageColor
from playwright.sync_api import Page
from pydantic import SecretStr

import scenecypher as sc
from scenecypher.cli.demo import INSTRUCTION, QUESTIONS, SCENE, TASK, VOCABULARY
from scenecypher.db.browser.style import OTHER, PALETTE
from scenecypher.db.browser.views import filled_in, view_query
from scenecypher.db.local import status
from scenecypher.db.store.connection import Address
from scenecypher.db.store.runs import latest_runs
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.planner.worlds.belief import find_or_create_belief
from tests.browser.chromium import find_chromium, opened, started
from tests.browser.demo_replies import REPLIES
from tests.browser.driven import connect, run
from tests.browser.film import ANSWER, make_film
from tests.browser.served import Entered, demo_model, entered, environment, served
from tests.server import HOME, environment_of, throwaway_server

SIZE: Final = {"width": 1_280, "height": 900}
PHONE: Final = {"width": 400, "height": 800}
COLOURS: Final = 96
"""Colours of a picture beside those of the palette, which stay as they are: few keep its file small."""
MAP: Final = Path(__file__).parents[1] / "data" / "dsg" / "apartment_dsg.json"

Taker: TypeAlias = Callable[[Page, Entered, sc.Home], None]
"""A function that brings the page to what its picture shows."""


def _home(page: Page, site: Entered, home: sc.Home) -> None:
    page.goto(site.at("/home", scene=home.name))
    _settle(page)


def _settle(page: Page) -> None:
    page.locator("#map[data-drawn]").wait_for()
    page.locator("#strip[data-versions]").wait_for(state="attached")
    page.wait_for_timeout(600)


def _timeline(page: Page, site: Entered, home: sc.Home) -> None:
    page.goto(site.at("/home", scene=home.name, version=2))
    _settle(page)


def _answer(page: Page, site: Entered, home: sc.Home) -> None:
    page.goto(site.at("/home", scene=f"{home.name}-before"))
    page.locator("#map[data-drawn]").wait_for()
    page.locator("#search").fill(QUESTIONS[0])
    page.locator("#search").press("Enter")
    page.locator("#answer table").wait_for()
    _settle(page)


def _refusal(page: Page, site: Entered, home: sc.Home) -> None:
    _home(page, site, home)
    page.locator("#search").fill("open(microwave_297)")
    page.locator("#search").press("Escape")
    page.locator("#search").press("Enter")
    page.get_by_role("alert").first.wait_for()
    _settle(page)


def _belief(page: Page, site: Entered, home: sc.Home) -> None:
    _home(page, site, home)
    page.get_by_label("belief").check()
    page.locator("#map:not([data-belief='0'])").wait_for()
    page.wait_for_timeout(600)


def _robot(page: Page, site: Entered, _: sc.Home) -> None:
    page.goto(site.at("/home", scene=f"dsg/{MAP.stem}"))
    page.locator("#map[data-drawn]").wait_for()
    page.wait_for_timeout(400)


def _space(page: Page, site: Entered, home: sc.Home) -> None:
    _robot(page, site, home)
    page.get_by_label("3D").check()
    page.wait_for_timeout(600)


def _run(page: Page, site: Entered, home: sc.Home) -> None:
    runs = latest_runs(home._services.store.database, home.name)
    page.goto(site.at("/run", number=next(it for it in runs if it.command == "plan").number))
    page.locator(".frame.refused").wait_for()


def _homes(page: Page, site: Entered, _: sc.Home) -> None:
    page.goto(site.at("/"))
    page.wait_for_timeout(1_500)


def _empty(page: Page, site: Entered, _: sc.Home) -> None:
    page.goto(site.at("/", q="no such home"))


def _neo4j_browser(page: Page, _: Entered, home: sc.Home) -> None:
    server = status(sc.Settings(home=HOME))
    assert server is not None
    text = view_query("overview", home.name)
    connect(page, filled_in(server.browser, uri=server.uri, username=server.username, text=text), server.password)
    run(page)
    page.get_by_title("Fullscreen", exact=True).first.click()
    page.get_by_label("zoom-to-fit").first.click()
    page.wait_for_timeout(2_000)


PICTURES: Final[Mapping[str, Taker]] = {
    "home": _home,
    "timeline": _timeline,
    "answer": _answer,
    "refusal": _refusal,
    "belief": _belief,
    "robot": _robot,
    "robot-3d": _space,
    "run": _run,
    "phone": _home,
    "dark": _home,
    "homes": _homes,
    "empty": _empty,
    "neo4j-browser": _neo4j_browser,
}
FILM: Final = "film"
"""The name of the picture that moves."""
LOOKS: Final[Mapping[str, Mapping[str, object]]] = {"phone": {"viewport": PHONE}, "dark": {"color_scheme": "dark"}}
"""Options of windows that are not bright and wide."""


def main(folder: Path, *names: str) -> int:
    """Take the pictures of these names, by default all."""
    executable = find_chromium()
    if executable is None:
        sys.stderr.write("there is no Chromium here; install it (apt install chromium)\n")
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    with throwaway_server() as address, connected(address) as database:
        home = _prepared(database)
        with (
            demo_model(ANSWER) as model,
            served(environment(environment_of(address), model)) as server,
            started(executable) as browser,
        ):
            site = entered(server)
            if not names or FILM in names:
                film = database.import_scene(packaged_scene(TASK), name="home", vocabulary=VOCABULARY, replace=True)
                make_film(folder / f"{FILM}.webp", browser, environment_of(address), film)
            for name in [it for it in names if it != FILM] or ([] if names else PICTURES):
                look = {"viewport": SIZE, "color_scheme": "light", **LOOKS.get(name, {})}
                with opened(browser, **look) as window:
                    window.allow("409")
                    site.enter(window)
                    PICTURES[name](window.page, site, home)
                    _save(window.page.screenshot(), folder / f"{name}.png")
    return 0


def _prepared(database: sc.SceneDatabase) -> sc.Home:
    """Return a home with a belief, in which a plan was carried out and a person moved things; a map is beside it."""
    home = database.import_scene(packaged_scene(TASK), name=SCENE, vocabulary=VOCABULARY, replace=True)
    find_or_create_belief(database.store, home.info)
    database.import_scene(packaged_scene(TASK), name=f"{SCENE}-before", vocabulary=VOCABULARY, replace=True)
    home.plan(INSTRUCTION, model=sc.Scripted(REPLIES), fix=False)
    database.import_file(MAP, replace=True)
    return home


def connected(address: Address) -> sc.SceneDatabase:
    settings = sc.Settings(
        neo4j_uri=address.uri, neo4j_username=address.username, neo4j_password=SecretStr(address.password)
    )
    database = sc.connect(settings, tell=lambda _: None)
    database.store.prepare()
    return database


def _save(picture: bytes, file: Path) -> None:
    with Image.open(BytesIO(picture)) as image:
        _quantized(image.convert("RGB")).save(file, optimize=True)
    sys.stderr.write(f"wrote {file}, {file.stat().st_size:,} bytes\n")


def _quantized(image: Image.Image) -> Image.Image:
    """Return a picture in few colours: those of the palette, by which kinds are told apart, and the usual ones."""
    own = [it for kind in (*PALETTE.values(), OTHER) for it in (kind.line, kind.light, kind.dark)]
    usual = _by_threes(image.quantize(COLOURS).getpalette() or [])
    colours = [*(_by_threes([*ImageColor.getrgb(it)])[0] for it in own), *usual]
    pixels = _by_threes([*image.tobytes()])
    nearest = {it: min(range(len(colours)), key=lambda at: dist(it, colours[at])) for it in {*pixels}}
    found = Image.frombytes("P", image.size, bytes(nearest[it] for it in pixels))
    found.putpalette([part for colour in colours for part in colour])
    return found


def _by_threes(parts: Sequence[int]) -> list[tuple[int, ...]]:
    """Return numbers by threes."""
    return [*zip(*[iter(parts)] * 3, strict=True)]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))

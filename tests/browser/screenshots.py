"""`python -m tests.browser.screenshots FOLDER [NAME...]`: the pictures of docs/, taken on a throw-away server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Final, TypeAlias

from PIL import Image
from playwright.sync_api import Page
from pydantic import SecretStr

import scenecypher as sc
from scenecypher.cli.demo import SCENE, TASK, VOCABULARY
from scenecypher.cli.demo_script import INSTRUCTION, SCRIPT
from scenecypher.db.browser.address import filled_in
from scenecypher.db.browser.views import view_query
from scenecypher.db.local import status
from scenecypher.db.store.connection import Address
from scenecypher.db.store.runs import latest_runs
from scenecypher.importers.virtualhome import packaged_scene
from tests.browser.chromium import find_chromium, opened, started
from tests.browser.driven import connect, run
from tests.browser.served import Entered, entered, served
from tests.server import HOME, environment_of, throwaway_server

SIZE: Final = {"width": 1_100, "height": 800}
COLOURS: Final = 96
"""Colours of a picture: few keep its file small."""

Taker: TypeAlias = Callable[[Page, Entered, sc.Home], None]
"""A function that brings the page to what its picture shows."""


def _home(page: Page, site: Entered, home: sc.Home) -> None:
    page.goto(site.at("/home", scene=home.name, version=2))
    page.get_by_role("heading", name="kitchen").or_(page.get_by_role("heading", level=2)).first.wait_for()


def _run(page: Page, site: Entered, home: sc.Home) -> None:
    runs = latest_runs(home._services.store.database, home.name)
    page.goto(site.at("/run", number=next(runs).number))
    page.locator(".frame.refused").wait_for()


def _neo4j_browser(page: Page, _: Entered, home: sc.Home) -> None:
    server = status(sc.Settings(home=HOME))
    assert server is not None
    text = view_query("overview", home.name)
    connect(page, filled_in(server.browser, uri=server.uri, username=server.username, text=text), server.password)
    run(page)
    page.get_by_title("Fullscreen", exact=True).first.click()
    page.get_by_label("zoom-to-fit").first.click()
    page.wait_for_timeout(2_000)


PICTURES: Final[Mapping[str, Taker]] = {"home": _home, "run": _run, "neo4j-browser": _neo4j_browser}


def main(folder: Path, *names: str) -> int:
    """Take the pictures of these names, by default all."""
    executable = find_chromium()
    if executable is None:
        sys.stderr.write("there is no Chromium here; install it (apt install chromium)\n")
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    with throwaway_server() as address, _connected(address) as database:
        home = database.import_scene(packaged_scene(TASK), name=SCENE, vocabulary=VOCABULARY)
        home.plan(INSTRUCTION, model=sc.Scripted(SCRIPT.replies), fix=False)
        with (
            served(environment_of(address)) as server,
            started(executable) as browser,
            opened(browser, viewport=SIZE, color_scheme="light") as window,
        ):
            site = entered(server)
            site.enter(window)
            for name in names or PICTURES:
                PICTURES[name](window.page, site, home)
                _save(window.page.screenshot(), folder / f"{name}.png")
    return 0


def _connected(address: Address) -> sc.SceneDatabase:
    settings = sc.Settings(
        neo4j_uri=address.uri, neo4j_username=address.username, neo4j_password=SecretStr(address.password)
    )
    database = sc.connect(settings, tell=lambda _: None)
    database.store.prepare()
    return database


def _save(picture: bytes, file: Path) -> None:
    with Image.open(BytesIO(picture)) as image:
        image.convert("RGB").quantize(COLOURS).save(file, optimize=True)
    sys.stderr.write(f"wrote {file}, {file.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))

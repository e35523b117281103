"""Neo4j Browser as the server brings it: opened by the printed address, it shows a view of a scene in our style."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Final, TypeAlias
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page

import scenecypher as sc
from scenecypher.cli.app import run_command_line
from scenecypher.db.browser.style import STYLE, grass
from scenecypher.db.browser.views import saved_queries, view_query
from scenecypher.db.local import status
from scenecypher.db.store.connection import Address, Database
from scenecypher.importers.homes import small_home
from tests.browser.chromium import Window
from tests.browser.driven import connect, editor_text, run, without_blanks
from tests.db.browser.test_views import run_as_browser
from tests.server import HOME

Printed: TypeAlias = Callable[..., str]

HOSTILE: Final = 'it\'s "x" \\u0027}) DETACH DELETE s // & #x; 100% %27 + `$a` שלום 家'
FILLS: Final = """() => Object.fromEntries([...document.querySelectorAll('g.node')].map(it =>
    [it.querySelector('circle.b-outline').getAttribute('fill'), it.querySelector('text')?.textContent.trim()]))"""
DROP: Final = """([name, bytes]) => {
    const files = new DataTransfer();
    files.items.add(new File([new Uint8Array(bytes)], name));
    for (const kind of ['dragenter', 'dragover', 'drop'])
        document.querySelector('#mount > *').dispatchEvent(
            new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: files}));
}"""
STORED: Final = "name => JSON.parse(localStorage.getItem(`neo4j.${name}`))"
KEPT: Final = "([name, text]) => (localStorage.getItem(`neo4j.${name}`) ?? '').includes(text)"


@pytest.fixture
def page(chromium: Window) -> Page:
    """Return a page for Browser, which asks other hosts for a font and scripts, whatever the server's settings."""
    chromium.allow("fonts.googleapis.com", "cdn.segment.com", "canny.io", "ingest.sentry.io")
    chromium.allow("ERR_NAME_NOT_RESOLVED", "ERR_EMPTY_RESPONSE")
    return chromium.page


@pytest.fixture
def printed(user_env: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """Return a function that runs `scenecypher db browser` and returns the address that it prints."""
    server = status(sc.Settings(home=HOME))
    if server is None:
        pytest.skip("where Browser is, is known of the local server only")
    for name, value in user_env.items():
        monkeypatch.setenv(name, value)

    def address(*options: str) -> str:
        assert run_command_line(("db", "browser", "--at", server.browser, *options)) == 0
        return capsys.readouterr().out.splitlines()[0].split()[-1]

    return address


def test_a_home_at_a_glance_and_what_changed(
    page: Page, printed: Printed, address: Address, home: sc.Home, database: Database
) -> None:
    text = view_query("overview", home.name)
    connect(page, printed("--scene", home.name), address.password)
    assert editor_text(page) == without_blanks(text)
    drawn = run_as_browser(database, text)
    assert run(page) == (len(drawn.nodes), len(drawn.arrows))
    fills = page.evaluate(FILLS)
    kinds = ("Place", "Asset", "Object", "Agent", "Door")
    assert fills.keys() == {STYLE[f"node.{kind}"]["color"] for kind in kinds}
    assert page.evaluate(STORED, "settings")["autoComplete"] is False
    home.act("walk(phone_1000)")
    page.goto(printed("--scene", home.name, "--view", "version"))
    shown = run_as_browser(database, view_query("version", home.name, 1))
    assert run(page) == (len(shown.nodes), len(shown.arrows))
    assert page.evaluate(FILLS)[STYLE["node.PastEvent"]["color"]].startswith("walk")


def test_a_hostile_name_and_files_that_are_dropped(
    page: Page, printed: Printed, address: Address, database_of_pages: sc.SceneDatabase
) -> None:
    home = database_of_pages.import_scene(small_home(), name=HOSTILE)
    connect(page, printed("--scene", home.name, "--view", "robot"), address.password)
    assert editor_text(page) == without_blanks(view_query("robot", HOSTILE))
    assert run(page)[0] > 0
    for style, place in ((b"node.Place { color: #123456; }", "#123456"), (grass().encode(), "node.Agent")):
        page.evaluate(DROP, ["scenecypher.grass", [*style]])
        page.wait_for_function(KEPT, arg=["grass", place])
    assert page.evaluate(STORED, "grass") == STYLE
    page.evaluate(DROP, ["queries.zip", [*saved_queries(HOSTILE)]])
    page.wait_for_function(KEPT, arg=["folders", "SceneCypher"])
    texts = [it["content"] for it in page.evaluate(STORED, "documents")]
    assert [it for it in texts if it.endswith(f"{view_query('overview', HOSTILE)}\n")]
    database_of_pages.delete(HOSTILE)


def test_a_guide_is_read_from_this_machine(
    page: Page, printed: Printed, address: Address, home: sc.Home, user_env: dict[str, str]
) -> None:
    where = printed()
    options = ("--scene", home.name, "--at", where.partition("?")[0], "--guide")
    command = [sys.executable, "-m", "scenecypher", "db", "browser", *options]
    with subprocess.Popen(command, env=user_env, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout
            guide = next(line for line in serving.stdout if ":guide " in line).split()[-1]
            connect(page, f"{where}&cmd=edit&arg={quote(f':guide {guide}', safe='')}", address.password)
            page.get_by_test_id("editor-Run").click()
            query = page.locator("pre.runnable").first
            assert without_blanks(query.inner_text()) == without_blanks(view_query("overview", home.name))
            with pytest.raises(HTTPError, match="404"):
                urlopen(guide.replace(".html", "x.html"))  # noqa: S310 - an address of this machine
        finally:
            serving.terminate()

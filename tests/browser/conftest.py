"""Fixtures of the tests in Chromium: one browser for this package, a fresh window for each test.

Playwright runs an event loop in the main thread while its browser is open: so it is closed after this package, before
tests that run loops of their own.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import Browser
from pydantic import SecretStr

import scenecypher as sc
from scenecypher.cli.demo import TASK, VOCABULARY
from scenecypher.db.store.connection import Address
from scenecypher.importers.virtualhome import packaged_scene
from tests.browser.chromium import NAMES, SCREENSHOTS, Window, find_chromium, opened, started
from tests.browser.served import Entered, demo_model, entered, environment, served
from tests.server import environment_of

CALL = pytest.StashKey[pytest.TestReport]()
ABSENT = f"no Chromium: none of {', '.join(NAMES)} is on the PATH, and SCENECYPHER_TEST_CHROMIUM names none"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that open a window, for `-m chromium` and `-m "not chromium"`."""
    if "chromium" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.chromium)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the report of a test's own part, for the picture of a failure."""
    report = yield
    if report.when == "call":
        item.stash[CALL] = report
    return report


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Yield the machine's Chromium. Without one the tests are skipped; in CI (`CI=true`) that is an error."""
    executable = find_chromium()
    if executable is None:
        if os.environ.get("CI"):
            raise FileNotFoundError(ABSENT)
        pytest.skip(ABSENT)
    with started(executable) as browser:
        yield browser


@pytest.fixture
def chromium(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Window]:
    """Yield a fresh window; a test fails that leaves a fault in it. Parametrize it for options of the window.

    `@pytest.mark.parametrize("chromium", [{"color_scheme": "dark"}], indirect=True)` gives options of Playwright's
    `new_context`.
    """
    with opened(browser, **getattr(request, "param", {})) as window:
        yield window
        report = request.node.stash.get(CALL, None)
        if (report is not None and report.failed) or window.faults:
            _keep_pictures(window, request.node.name)
        assert not window.faults, "\n".join(window.faults)


def _keep_pictures(window: Window, test: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for number, page in enumerate(window.context.pages, start=1):
        name = "".join(letter if letter.isalnum() else "-" for letter in test)
        page.screenshot(path=SCREENSHOTS / f"{name}-{number}.png", full_page=True)


@pytest.fixture(scope="package")
def database_of_pages(address: Address) -> Iterator[sc.SceneDatabase]:
    """Yield the front door to this run's server, where the pages' homes are."""
    settings = sc.Settings(
        neo4j_uri=address.uri, neo4j_username=address.username, neo4j_password=SecretStr(address.password)
    )
    with sc.connect(settings, tell=lambda _: None) as opened:
        opened.store.prepare()
        yield opened


@pytest.fixture(scope="package")
def page_env(address: Address) -> Iterator[dict[str, str]]:
    """Yield the environment of `scenecypher ui` on this run's server, with a scripted model service."""
    with demo_model() as model:
        yield environment(environment_of(address), model)


@pytest.fixture(scope="package")
def pages(page_env: dict[str, str], database_of_pages: sc.SceneDatabase) -> Iterator[Entered]:
    """Yield a running `scenecypher ui`, whose cookie each window can be given."""
    with served(page_env) as page:
        yield entered(page)


@pytest.fixture(scope="package")
def demo(database_of_pages: sc.SceneDatabase) -> str:
    """Return the name of the demo's home, which tests copy."""
    scene = packaged_scene(TASK)
    return database_of_pages.import_scene(scene, name="browser/demo", vocabulary=VOCABULARY).name


@pytest.fixture
def home(database_of_pages: sc.SceneDatabase, demo: str) -> Iterator[sc.Home]:
    """Yield a copy of the demo's home."""
    name = f"browser/{uuid4().hex[:8]}"
    yield database_of_pages.home(demo).at(0).copy(name)
    database_of_pages.delete(name)


@pytest.fixture
def window(chromium: Window, pages: Entered) -> Window:
    """Return a window that has the page's cookie."""
    pages.enter(chromium)
    return chromium

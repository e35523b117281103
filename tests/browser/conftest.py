"""Fixtures of the tests in Chromium: one browser for this package, a fresh window for each test.

Playwright runs an event loop in the main thread while its browser is open: so it is closed after this package, before
tests that run loops of their own.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import NAMES, SCREENSHOTS, Window, find_chromium, opened, started

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

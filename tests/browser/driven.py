"""Neo4j Browser as a person uses it: the address is opened, the password typed, and the query in the editor run."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import Page

CONNECTED: Final = "You are connected as user"
NUMBER: Final = re.compile(r"[\d,]+")


def connect(page: Page, address: str, password: str) -> None:
    """Open an address of `scenecypher db browser` and log in; wait for the style that the server sets last."""
    page.goto(address)
    page.get_by_test_id("password").fill(password)
    page.get_by_test_id("connect").click()
    page.get_by_text(CONNECTED).first.wait_for()
    page.get_by_test_id("frameCommand").filter(has_text=":style").first.wait_for()


def run(page: Page) -> tuple[int, int]:
    """Run the query in the editor; return the numbers of nodes and relations that Browser draws, as its legend says."""
    page.get_by_test_id("editor-Run").click()
    return _counted(page, "node-label"), _counted(page, "relationship-type")


def _counted(page: Page, what: str) -> int:
    whole = page.get_by_test_id(f"property-details-overview-{what}-*").first.inner_text()
    found = NUMBER.search(whole)
    assert found is not None, whole
    return int(found[0].replace(",", ""))


def editor_text(page: Page) -> str:
    """Return what the editor shows, without blanks: it folds long lines."""
    return without_blanks("".join(page.locator("#monaco-main-editor .view-line").all_text_contents()))


def without_blanks(text: str) -> str:
    """Return a text without blanks and line breaks."""
    return "".join(text.split())

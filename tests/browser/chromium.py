"""The machine's own Chromium without a screen: its windows reach no other host, and collect what goes wrong in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, Request, WebSocket, expect, sync_playwright

from tests.server import FOLDER

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
ARGUMENTS: Final = (
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    # No other host has an address, so that what a page tries to reach is seen and never leaves the machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
WAIT_MS: Final = 20_000.0
"""Longest wait for what a page is to show; a shared machine is slow at times."""
SCREENSHOTS: Final = Path(os.environ.get("SCENECYPHER_TEST_SCREENSHOTS", FOLDER / "screenshots"))
"""The folder that gets a picture of each window in which a test has failed."""


@dataclass(slots=True)
class Window:
    """A browser window of its own, with its own cookies. `page` is its first tab, `faults` what went wrong in any.

    Faults are errors on the console, exceptions of scripts, and requests to other hosts.
    """

    context: BrowserContext
    page: Page
    seen: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """Return what went wrong so far and was not allowed."""
        return [fault for fault in self.seen if not any(text in fault for text in self.allowed)]

    def allow(self, *texts: str) -> None:
        """Let faults pass that contain one of these texts, such as ``status of 409``."""
        self.allowed += texts


def find_chromium() -> str | None:
    """Return the path of the machine's Chromium, or of the one that SCENECYPHER_TEST_CHROMIUM names; None without."""
    named = os.environ.get("SCENECYPHER_TEST_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def started(executable: str) -> Iterator[Browser]:
    """Start Chromium for the block."""
    no_sandbox = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=[*ARGUMENTS, *no_sandbox])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, **options: Any) -> Iterator[Window]:
    """Open a window for the block; `options` are those of Playwright's `new_context`, such as ``color_scheme``."""
    context = browser.new_context(**options)
    context.set_default_timeout(WAIT_MS)
    window = Window(context, context.new_page())
    _listen(window, window.page)
    context.on("page", lambda page: _listen(window, page))
    context.on("request", lambda request: _check(window, request))
    try:
        yield window
    finally:
        context.close()


def _listen(window: Window, page: Page) -> None:
    page.on("console", lambda it: window.seen.append(f"console: {it.text}") if it.type == "error" else None)
    page.on("pageerror", lambda error: window.seen.append(f"exception: {error}"))
    page.on("websocket", lambda socket: _check(window, socket))


def _check(window: Window, request: Request | WebSocket) -> None:
    address = urlsplit(request.url)
    if address.scheme in {"http", "https", "ws", "wss"} and address.hostname not in LOOPBACK:
        window.seen.append(f"a request leaves this machine: {request.url}")

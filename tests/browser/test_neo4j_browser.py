"""Neo4j Browser as the server brings it: opened by the printed address, it shows a view of a scene in our style."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from scenecypher.cli.app import run_command_line
from scenecypher.db.browser.choose import Wanted, chosen_value
from scenecypher.db.browser.style import STYLE
from scenecypher.db.browser.views import ViewName, view_query
from scenecypher.db.store.connection import Address
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.virtualhome import packaged_scene
from tests.browser.chromium import Window
from tests.db.browser.test_views import HOSTILE, run_as_browser
from tests.db.past.test_build import OPEN
from tests.db.store.test_store import fresh
from tests.server import HOME

# Browser asks other hosts for a font and two scripts before it knows any setting of the server.
ITS_OWN: Final = ("fonts.googleapis.com", "cdn.segment.com", "canny.io", "ERR_NAME_NOT_RESOLVED", "ERR_EMPTY_RESPONSE")
EDITOR: Final = "[data-testid=activeEditor], #monaco-main-editor"

FILLS: Final = """() => Object.fromEntries([...document.querySelectorAll('g.node')].map(
    node => [node.querySelector('text')?.textContent ?? '', node.querySelector('circle.b-outline').getAttribute('fill')]))"""
DROP: Final = """([name, bytes]) => {
    const files = new DataTransfer();
    files.items.add(new File([new Uint8Array(bytes)], name));
    const target = document.querySelector('#mount > *');
    for (const kind of ['dragenter', 'dragover', 'drop'])
        target.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: files}));
}"""

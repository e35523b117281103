"""The site: built without a warning, whole, searchable, and with nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final

import pytest

import scenecypher
from docs.site import pages
from docs.site.reference import EXTRAS
from scenecypher.cli.app import PANELS
from scenecypher.settings import Settings, variable_of
from tests.pages import pages as all_pages
from tests.rooms import ROOT

KINDS: Final = ("Tutorials", "How-to", "Concepts", "Reference")
ELSEWHERE: Final = re.compile(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)=["'](?:https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "docs.site", str(folder)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (built.returncode, built.stderr) == (0, "")
    return folder


def test_the_front_page_has_the_four_kinds_and_leads_to_every_page(site: Path) -> None:
    front = (site / "index.html").read_text(encoding="utf-8")
    assert tuple(re.findall(r'class="caption-text">([^<]+)<', front)) == KINDS
    assert f"SceneCypher {version('scenecypher')}" in front
    places = {*_html_of(all_pages(ROOT))}
    assert [it for it in places if not (site / it).is_file()] == []
    assert (site / "searchindex.js").is_file()


def test_the_reference_has_every_name_command_and_setting(site: Path) -> None:
    """A public name, a command or a setting that nothing describes."""
    texts = {
        it: (site / "reference" / f"{it}.html").read_text("utf-8") for it in ("python", "command-line", "settings")
    }
    assert [name for name in scenecypher.__all__ if f'id="{name.lower()}"' not in texts["python"]] == []
    commands = [name for names in PANELS.values() for name in names]
    assert [name for name in commands if f'id="scenecypher-{name}"' not in texts["command-line"]] == []
    assert [it for it in Settings.model_fields if f">{variable_of(it)}<" not in texts["settings"]] == []


def test_every_extra_is_described() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {*EXTRAS} == {*extras}


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    found = {page.name for page in site.rglob("*.html") if ELSEWHERE.search(page.read_text(encoding="utf-8"))}
    assert found == set()


def test_links_lead_to_the_sites_places_and_code_is_named_without_a_link() -> None:
    text = "[a](docs/acting.md#goals), ![b](docs/images/home.png), [c](pyproject.toml), [d](CHANGELOG.md)"
    turned = "[a](../acting.md#goals), ![b](../images/home.png), c, [d](changelog.md)"
    assert pages._linked(text, "README.md") == turned
    picture = '<source srcset="docs/images/home.png"><img src="docs/images/film.webp">'
    assert pages._linked(picture, "README.md") == picture.replace("docs/", "../")


def _html_of(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        page = path.relative_to(ROOT).as_posix()
        yield pages.PROJECT.get(page, page.removeprefix("docs/")).removesuffix(".md") + ".html"

"""The sources of the site: pages with their links turned to it, an index with its parts, and the reference."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from docs.site.reference import REFERENCE
from scenecypher.files import write_file

ROOT: Final = Path(__file__).resolve().parents[2]
INDEX: Final = "docs/README.md"
"""The list of all pages, of which the site's front page and its navigation are made."""
PROJECT: Final[Mapping[str, str]] = {
    INDEX: "index.md",
    "README.md": "project/start.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
}
"""Pages that have another place in the site than in `docs/`."""
LINK: Final = re.compile(
    r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>(?!https?:|mailto:|#)[^)#\s]+)(?P<anchor>#[^)]*)?\)"
)
PICTURE: Final = re.compile(r'(?P<name>src|srcset)="(?P<target>(?!https?:)[^"]+)"')
PART: Final = re.compile(r"^## (?P<title>.+)\n(?P<body>(?:(?!## ).*\n?)*)", re.MULTILINE)


def write_sources(folder: Path) -> None:
    """Write all that Sphinx reads into a new folder."""
    shutil.copytree(ROOT / "docs", folder, ignore=lambda at, names: [it for it in names if _is_left_out(Path(at) / it)])
    for page, place in _places().items():
        text = _linked((ROOT / page).read_text(encoding="utf-8"), page)
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        write_file(folder / place, _with_navigation(text) if page == INDEX else text)
    for name, page_of in REFERENCE.items():
        (folder / "reference").mkdir(exist_ok=True)
        write_file(folder / "reference" / f"{name}.md", page_of())


def _is_left_out(path: Path) -> bool:
    """Return True for Python, and for pages, which are written with their links turned."""
    return path.suffix in {".py", ".md", ".toml"} or path.name in {"__pycache__", "generate", "site"}


def _places() -> dict[str, str]:
    """Return the place in the site of each page in the checkout."""
    pages = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))
    return {**{page: page.removeprefix("docs/") for page in pages}, **PROJECT}


def _linked(text: str, page: str) -> str:
    """Return a page's text with links to where pages are in the site; of links to other files only words remain."""
    places = _places()
    here = PurePosixPath(places[page]).parent

    def place_of(target: str) -> str:
        named = os.path.normpath(PurePosixPath(page).parent / target)
        place = places.get(named) or (named.removeprefix("docs/") if _is_copied(named) else "")
        return os.path.relpath(place, here) if place else ""

    def turned(found: re.Match[str]) -> str:
        place = place_of(found["target"])
        return f"{found['image']}[{found['text']}]({place}{found['anchor'] or ''})" if place else found["text"]

    text = PICTURE.sub(lambda found: f'{found["name"]}="{place_of(found["target"]) or found["target"]}"', text)
    return LINK.sub(turned, text)


def _is_copied(target: str) -> bool:
    path = ROOT / target
    return target.startswith("docs/") and path.is_file() and not _is_left_out(path)


def _with_navigation(index: str) -> str:
    """Return the front page: after each part of the list, the navigation to the pages that it links to."""
    return PART.sub(lambda found: f"{found[0].rstrip()}\n\n{_navigation(found['title'], found['body'])}\n", index)


def _navigation(title: str, body: str) -> str:
    pages = [*dict.fromkeys(_linked_pages(body))]
    if title == "Reference":
        pages = [*(f"reference/{name}" for name in REFERENCE), *pages]
    return "\n".join(("```{toctree}", ":hidden:", ":maxdepth: 1", f":caption: {title}", "", *pages, "```"))


def _linked_pages(body: str) -> Iterator[str]:
    for found in LINK.finditer(body):
        if found["target"].endswith(".md"):
            yield found["target"].removesuffix(".md")

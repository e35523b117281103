"""`python -m docs.site [FOLDER]`: build the site into a folder, by default `build/site`."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from sphinx.application import Sphinx

from docs.site.pages import ROOT, write_sources

OUTPUT: Final = ROOT / "build" / "site"
PLAIN_TEXT: Final = "system-ui, sans-serif"


def settings(release: str) -> dict[str, Any]:
    """Return Sphinx's settings. Nothing is fetched: fonts, scripts and the search's index are part of the site."""
    return {
        "project": "SceneCypher",
        "author": "The SceneCypher developers",
        "copyright": "The SceneCypher developers. Apache-2.0",
        "version": release,
        "release": release,
        "extensions": ["myst_parser"],
        "myst_heading_anchors": 6,
        "html_theme": "furo",
        "html_title": f"SceneCypher {release}",
        "html_theme_options": {"light_css_variables": {"font-stack": PLAIN_TEXT}, "top_of_page_buttons": []},
        "html_show_sourcelink": False,
        "html_copy_source": False,
        "suppress_warnings": ["misc.highlighting_failure", "toc.not_included"],
    }


def build(output: Path) -> int:
    """Build the site into `output`; return 0, or 1 if there was a warning."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        write_sources(source)
        app = Sphinx(
            source,
            None,
            output,
            Path(folder) / "doctrees",
            "html",
            confoverrides=settings(version("scenecypher")),
            status=None,
            warningiserror=True,
        )
        app.build()
    sys.stdout.write(f"the site is {output / 'index.html'}\n")
    return int(app.statuscode)


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]) if sys.argv[1:] else OUTPUT))

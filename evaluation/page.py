"""Tables of `docs/experiments.md`, generated: `python -m scenecypher.evaluation.page docs/experiments.md`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scenecypher.evaluation.experiments import EXPERIMENTS
from scenecypher.files import write_file

HEAD: Final = "| published | command | without a model |\n|---|---|---|\n"
TABLE: Final = re.compile(r"(?<=\n)## (?P<section>[^\n]+)\n\n\|[^\n]*\n\|[-|]+\n(?:\|[^\n]*\n)*")
"""Heading of a section and the table after it."""


def page(text: str) -> str:
    """Return the page's text with all tables made anew, one after the heading of its section."""
    return TABLE.sub(lambda found: f"## {found['section']}\n\n{HEAD}{''.join(_lines(found['section']))}", text)


def _lines(section: str) -> Iterator[str]:
    for row in EXPERIMENTS.values():
        for one in (one for one in row.published if one.section == section):
            command = f"scenecypher eval {row.name} {one.options}".strip()
            yield f"| {one.table} | `{command}` | {one.without_model} |\n"


def main(file: str) -> None:
    """Regenerate the tables of a page."""
    path = Path(file)
    write_file(path, page(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main(sys.argv[1])

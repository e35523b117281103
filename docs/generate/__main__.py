"""`python -m docs.generate [NAME ...]`: write the generated pages, or those named; that of data sets takes minutes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from docs.generate import actions, datasets, experiments, faithfulness, methods
from scenecypher.files import write_file

FOLDER: Final = Path(__file__).resolve().parents[1]
PAGES: Final[Mapping[str, Callable[[str], str]]] = {
    "actions": lambda _: actions.page(),
    "datasets": lambda _: datasets.page(datasets.all_rows()),
    "experiments": experiments.page,
    "faithfulness": lambda _: faithfulness.page(),
    "methods": methods.whole_page,
}
"""Functions from a page's present text to its new one."""


def write_pages(names: Iterable[str], folder: Path = FOLDER) -> None:
    """Write these pages into a folder; of some a part of the present text stays."""
    for name in names:
        file = folder / f"{name}.md"
        write_file(file, PAGES[name](file.read_text(encoding="utf-8")))


if __name__ == "__main__":
    write_pages(sys.argv[1:] or PAGES)

"""`python -m docs.generate [NAME ...]`: write the generated files, or those named; that of data sets takes minutes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from docs.generate import actions, datasets, experiments, faithfulness, methods
from scenecypher.db.graph.scene_document import scene_schema
from scenecypher.files import write_file

FOLDER: Final = Path(__file__).resolve().parents[1]
PAGES: Final[Mapping[str, Callable[[str], str]]] = {
    "actions.md": lambda _: actions.page(),
    "datasets.md": lambda _: datasets.page(datasets.all_rows()),
    "experiments.md": experiments.page,
    "faithfulness.md": lambda _: faithfulness.page(),
    "methods.md": methods.whole_page,
    "scene.schema.json": lambda _: schema_text(),
}
"""Functions from a page's present text to its new one."""


def schema_text() -> str:
    """Return the JSON Schema of a scene's document."""
    return json.dumps(scene_schema(), indent=2) + "\n"


def write_pages(names: Iterable[str], folder: Path = FOLDER) -> None:
    """Write these pages into a folder; of some a part of the present text stays."""
    for name in names:
        file = folder / (name if name in PAGES else f"{name}.md")
        write_file(file, PAGES[file.name](file.read_text(encoding="utf-8")))


if __name__ == "__main__":
    write_pages(sys.argv[1:] or PAGES)

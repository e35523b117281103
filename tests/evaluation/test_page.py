"""Pages of experiments and of faithfulness are those of their data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from docs.generate import faithfulness
from docs.generate.experiments import page
from scenecypher.evaluation.published import FOLDER
from scenecypher.planner.methods import METHODS

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
FILE: Final = DOCS / "experiments.md"
FILES: Final = {"lookplangraph": "LookPlanGraph", "sg2": "SG²", "sg-rwr": "SG-RwR", "ssc": "SSC"}
"""The papers by the files of their figures."""


def test_the_page_has_the_tables_of_the_list() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert page(text) == text, "run: python -m docs.generate experiments"
    assert "| `scenecypher eval babyai-slm` |" in text
    cut = text.replace("| small models (figure 5) |", "| few models |")
    assert page(cut) == text


def test_the_page_of_faithfulness_is_made_from_its_rows() -> None:
    """Claims about the papers that stand in a page by hand, and go stale; the page's commands run in its own test."""
    made = (DOCS / "faithfulness.md").read_text(encoding="utf-8")
    assert made == faithfulness.page(), "run: python -m docs.generate faithfulness"


def test_what_is_not_as_the_paper_says_how_and_why() -> None:
    """Rows that differ without saying how."""
    for row in faithfulness.rows_of(faithfulness.CLAIMS):
        assert row.keys() <= {"what", "at", "is", "how", "by"}
        assert row["is"] in faithfulness.STATUSES
        assert row["is"] == "as" or row["how"], row
        assert row["by"].startswith(faithfulness.COMMAND) or (DOCS / row["by"]).exists(), row


@pytest.mark.parametrize("name", [name for name, recipe in METHODS.items() if recipe.paper])
def test_each_method_of_a_paper_has_a_row(name: str) -> None:
    """A method of a paper without a claim."""
    shown = [row["by"] for row in faithfulness.rows_of(faithfulness.CLAIMS)]
    assert any(re.search(rf"(^|[ /]){re.escape(name)}(\.txt|$|[ +])", by) for by in shown)


@pytest.mark.parametrize("file", FILES)
def test_each_published_table_has_a_row(file: str) -> None:
    """A table or figure with published numbers, but without a claim."""
    published: Any = json.loads((FOLDER / "published" / f"{file}.json").read_text(encoding="utf-8"))
    numbers = {number for table in published["tables"].values() for number in table["table"].split(", ")}
    claimed = " ".join(row["what"] for rows in faithfulness.CLAIMS[FILES[file]].values() for row in rows)
    for number in numbers:
        words = number.replace("figure", "Figure") if " " in number else f"Table {number}"
        assert re.search(rf"{re.escape(words)}\b", claimed), words

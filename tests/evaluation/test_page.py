"""The tables of the page of experiments are those of the list of experiments."""

from __future__ import annotations

from pathlib import Path

from docs.generate.experiments import page

FILE = Path(__file__).resolve().parents[2] / "docs" / "experiments.md"


def test_the_page_has_the_tables_of_the_list() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert page(text) == text, "run: python -m docs.generate experiments"
    assert "| `scenecypher eval babyai-slm` |" in text
    cut = text.replace("| small models (figure 5) |", "| few models |")
    assert page(cut) == text

"""The page of methods equals its generated text, and the matrix has every method and data set."""

from __future__ import annotations

import re
from pathlib import Path

from docs.generate.methods import REST, page
from scenecypher.importers.datasets import DATASETS
from scenecypher.planner.methods import IN_PAPERS, METHODS, NO_MEANING, matrix_cell

PAGE = Path(__file__).parents[3] / "docs" / "methods.md"


def test_the_page_is_made_from_the_table() -> None:
    made = PAGE.read_text(encoding="utf-8").partition(REST)[0]
    assert made == page(), "run: python -m docs.generate methods"


def test_the_matrix_has_every_method_and_data_set() -> None:
    assert set(DATASETS) == set(DATASETS)
    assert {*IN_PAPERS, *(method for method, _ in NO_MEANING)} <= set(METHODS)
    cells = {(method, data_set): matrix_cell(method, data_set) for method in METHODS for data_set in DATASETS}
    assert all(re.fullmatch(r"paper|ours|no meaning: .+", told) for told in cells.values())
    for method, data_sets in IN_PAPERS.items():
        assert {told for (name, data_set), told in cells.items() if name == method and data_set in data_sets} == {
            "paper"
        }, "what a paper has figures of has a meaning"


def test_ablations_are_columns_and_each_is_explained_once() -> None:
    """A page that repeats a sentence for each method that has the same ablation."""
    text = page()
    ablations = {ablation for recipe in METHODS.values() for ablation in recipe.ablations}
    assert {text.count(ablation.words) for ablation in ablations} == {1}
    heads = next(line for line in text.splitlines() if "`all-actions`" in line).split(" | ")
    for name, recipe in METHODS.items():
        if recipe.ablations:
            cells = next(line for line in text.splitlines() if re.match(rf"\| `{re.escape(name)}` \| (yes)? ?\|", line))
            marked = {head for head, cell in zip(heads, cells.split(" | "), strict=True) if cell.startswith("yes")}
            assert {head.strip("`| ") for head in marked} == {ablation.name for ablation in recipe.ablations}


def test_what_each_method_is_shown_is_told() -> None:
    text = page()
    assert "| `sg2` | a Task Planner that sees the schema" in text
    assert re.search(r"\| `lookplangraph` \|[^|]+\| the memory graph, as sentences \|", text)
    assert re.search(r"\| `llm\+p` \|[^|]+\| the whole graph, as JSON \|", text)

"""The page of data sets agrees with the counts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from docs.generate.datasets import PageRows, page, rows_of
from scenecypher.importers.datasets import DATASETS

PAGE: Final = Path(__file__).parents[2] / "docs" / "datasets.md"
TEXT: Final = PAGE.read_text(encoding="utf-8")
QUICK: Final = ("sayplan-office", "our-office", "homes", "behavior-1k", "trv2")
AGAIN: Final = "run: python -m docs.generate datasets"


def standing(name: str) -> PageRows:
    """Return the lines of the page."""
    sizes, goals = (f"{line}\n" for line in TEXT.splitlines() if line.startswith(f"| {name} |"))
    return PageRows(sizes, goals)


def test_the_page_is_up_to_date() -> None:
    assert page({name: standing(name) for name in DATASETS}) == TEXT, AGAIN


@pytest.mark.parametrize("name", QUICK)
def test_its_figures_are_counted(name: str) -> None:
    assert rows_of(DATASETS[name]) == standing(name), AGAIN


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DATASETS if name not in QUICK])
def test_slow_figures_are_counted(name: str) -> None:
    assert rows_of(DATASETS[name]) == standing(name), AGAIN


@pytest.mark.parametrize("name", DATASETS)
def test_every_graph_goal_is_false_at_the_start_on_the_page(name: str) -> None:
    _, graph, both, actions, question, start, end = (
        cell.strip() for cell in standing(name).goals.strip(" |\n").split("|")
    )
    asked = sum(int(cell) for cell in (graph, both) if cell.isdecimal())
    assert start == (str(asked) if asked else "-")
    assert end in {"-", str(asked)}
    assert all(cell == "-" or cell.isdecimal() for cell in (actions, question))

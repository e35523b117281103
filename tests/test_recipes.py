"""CONTRIBUTING's recipes, tried with modules of a temporary package: one row each, and everything derived reads it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from docs.generate.actions import page as action_page
from docs.generate.datasets import page as data_page
from docs.generate.datasets import rows_of
from docs.generate.methods import page as method_page
from scenecypher.importers.datasets import DATASETS, dataset, task
from scenecypher.planner.methods import OURS, matrix_cell, recipe_named
from scenecypher.planner.prompts.texts import functions
from scenecypher.planner.vocabularies.household import OPERATORS

DATASET = """
from scenecypher.db.condition import Id, Related
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.importers.datasets import Dataset, PaperFigures
from scenecypher.importers.task import Task
from tests.planner.actions.household_worlds import SILENT


def scenes(only):
    yield ImportedScene("attic/1", SILENT)


def tasks(only):
    yield Task("1", "The key belongs on the shelf.", "attic/1", Related(Id("key"), "ON", Id("shelf")), (), 10, "ours")


ROW = Dataset(
    name="attic",
    title="An attic",
    source="this test",
    import_command="scenecypher import json attic.json",
    family="grasif",
    published=PaperFigures("7", difference="one of seven"),
    read_scenes=scenes,
    read_tasks=tasks,
    has_reference_plans=False,
)
"""
METHOD = '''
from scenecypher.chat.model import Usage
from scenecypher.planner.sessions.method import Done
from scenecypher.planner.sessions.method import Recipe


class Idle:
    """Method that says at once that the task is done."""

    def decide(self, memory):
        return Done("nothing to do"), Usage()


ROW = Recipe(lambda context: Idle(), "does nothing", paper="a paper", model=False)
'''
OPERATOR = """
from scenecypher.planner.actions.operator import Become, Operator, Parameter

ROW = Operator("polish", (Parameter("x", "anything"),), (), (Become("x", "shiny"),), "polish it")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that imports a source text as a module of a temporary package, and returns its row."""
    folder = tmp_path / "own_rows"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)

    def row(name: str, text: str) -> Any:
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, "own_rows", raising=False)
        return __import__(f"own_rows.{name}", fromlist=["ROW"]).ROW

    return row


def test_a_data_set_is_one_row(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DATASETS, "attic", package("attic", DATASET))
    assert task("attic/1")[1].instruction == "The key belongs on the shelf."
    assert next(dataset("attic").scenes()).vocabulary == "household"
    assert matrix_cell("symbolic", "attic") == "ours"
    assert "no meaning" in matrix_cell("cot", "attic")
    assert " numqa | attic |" in method_page()
    rows = rows_of(dataset("attic"))
    assert rows.sizes.startswith("| attic | 1 | 7 | 1 | 2 |")
    assert "- **attic**: An attic; one of seven.\n" in data_page(dict.fromkeys(DATASETS, rows))


def test_a_method_is_one_row(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OURS, "idle", package("idle", METHOD))
    assert recipe_named("idle").words == "does nothing"
    assert "| `idle` | does nothing |" in method_page()
    assert {matrix_cell("idle", name) for name in DATASETS} == {"ours"}


def test_an_operator_is_one_row(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPERATORS, "polish", package("polish", OPERATOR))
    assert functions("household", "stepwise").endswith("polish(x): polish it (x: anything)")
    assert "### `polish(x)`" in action_page()

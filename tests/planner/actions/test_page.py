"""The page of actions is generated from all operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.generate.actions import page
from scenecypher.db.vocabulary import BUILT_IN
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.text import Macro
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

PAGE = Path(__file__).parents[3] / "docs" / "actions.md"


def test_the_page_is_made_from_the_operators() -> None:
    made = page()
    assert PAGE.read_text(encoding="utf-8") == made, "run: python -m docs.generate actions"


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_action_of_a_vocabulary_is_there(name: str) -> None:
    section = page().partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    vocabulary = vocabulary_named(name)
    base = {} if vocabulary.base is None else vocabulary.base.operators
    own = [operator for operator in vocabulary.operators.values() if operator != base.get(operator.name)]
    actions: list[Operator | Macro] = [*own, *vocabulary.macros.values()]
    for action in actions:
        assert f"### `{action.signature}`" in section
        assert action.words[1:] in section

"""The page of actions is generated from all operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenecypher.db.schema import family
from scenecypher.planner.actions.macro import Macro
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.page import page
from scenecypher.planner.actions.vocabularies import OPERATORS, macros_of

PAGE = Path(__file__).parents[3] / "docs" / "actions.md"


def test_the_page_is_made_from_the_operators() -> None:
    made = page()
    assert PAGE.read_text(encoding="utf-8") == made, "run: python -m scenecypher.planner.actions.page > docs/actions.md"


@pytest.mark.parametrize("vocabulary", OPERATORS)
def test_every_action_of_a_vocabulary_is_there(vocabulary: str) -> None:
    section = page().partition(f"\n## {vocabulary}\n")[2].partition("\n## ")[0]
    base = OPERATORS[family(vocabulary)] if family(vocabulary) != vocabulary else {}
    own = [operator for name, operator in OPERATORS[vocabulary].items() if operator != base.get(name)]
    actions: list[Operator | Macro] = [*own, *macros_of(vocabulary).values()]
    for action in actions:
        assert f"### `{action.signature}`" in section
        assert action.words[1:] in section

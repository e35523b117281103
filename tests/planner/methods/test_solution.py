"""Solutions in replies: plans whose ids have brackets, as those of a robot's map."""

from __future__ import annotations

import pytest

from scenecypher.planner.prompts.texts import parse_solution
from scenecypher.planner.sessions.method import Solve


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ('[pick_up("O(33)"), put_in("O(33)", "R(0)")]', ('pick_up("O(33)")', 'put_in("O(33)", "R(0)")')),
        ("pick_up(O(33)), put_in(O(33), R(0))", ('pick_up("O(33)")', 'put_in("O(33)", "R(0)")')),
        ("[go_to('kitchen'), pick_up(mug)]", ("go_to(kitchen)", "pick_up(mug)")),
        ("print(go_to(kitchen))", ("go_to(kitchen)",)),
        ('pick_up("a), go_to(b")', ("pick_up(a)", "go_to(b)")),
    ],
)
def test_the_actions_of_a_plan(text: str, actions: tuple[str, ...]) -> None:
    found = parse_solution(text, "household")
    assert isinstance(found, Solve)
    assert found.actions == actions

"""Questions to the person at the terminal: what is meant, and approval of what a rule of the house reserves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from scenecypher.cli.context import errors
from scenecypher.errors import RuleBroken

if TYPE_CHECKING:
    from scenecypher.db.store.commit import Committed
    from scenecypher.planner.actions.ruled import Answer, AskBack
    from scenecypher.planner.worlds.environment import Environment


def person_there(name: str = "person", *, is_piped: bool = False) -> Answer | None:
    """Return what asks the person at the terminal, of this name; None if nobody is there, unless answers are piped."""
    return partial(_answered, name) if sys.stdin.isatty() or is_piped else None


def person_at(world: Environment | None) -> Answer | None:
    """Return what asks the person at the terminal, or else for approval the one at the world's robot, if any."""
    return person_there() or getattr(world, "ask", None)


def approved(revert: Callable[..., Committed]) -> Committed:
    """Return what an undo or a redo commits; ask the person at the terminal if it breaks a rule. Raises RuleBroken."""
    try:
        return revert()
    except RuleBroken as broken:
        if not (sys.stdin.isatty() and _says_yes(str(broken))):
            raise
    return revert(approved_by="person")


def _answered(person: str, question: AskBack) -> str | None:
    """Return the choice of a number, "" for any, None to stop; a word where there are no choices; or who approves."""
    from scenecypher.planner.actions.ruled import APPROVED, LEFT, approval_by

    if question.choices == (APPROVED, LEFT):
        return approval_by(person) if _says_yes(question.question) else None
    lines = [question.question, *(f"  {number}  {words}" for number, words in enumerate(question.choices, 1))]
    errors().print("\n".join(lines), markup=False, soft_wrap=True)
    how = f"1 to {len(question.choices)}, Enter for any, q to stop: " if question.choices else "a word, or q to stop: "
    while True:
        try:
            said = input(how).strip()
        except EOFError:
            return None
        if said in {"q", ""} or not question.choices or any(said in nodes for nodes in question.nodes):
            return None if said == "q" else said
        if said.isdecimal() and 0 < int(said) <= len(question.choices):
            return question.choices[int(said) - 1]
        errors().print(f"{said!r} is none of these; answer {how.removesuffix(': ')}", markup=False, soft_wrap=True)


def _says_yes(question: str) -> bool:
    errors().print(question, markup=False, soft_wrap=True)
    try:
        return input("Do it? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False

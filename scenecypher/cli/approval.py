"""Questions at the terminal: approval of what a rule of the house reserves to people, and what is meant."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from scenecypher.cli.context import errors
from scenecypher.errors import RuleBroken

if TYPE_CHECKING:
    from scenecypher.db.rules import Rule
    from scenecypher.db.store.commit import Committed
    from scenecypher.planner.actions.ruled import Approve
    from scenecypher.planner.sessions.method import Answer, AskBack, AskingBack
    from scenecypher.planner.worlds.environment import Environment


def terminal_approval(person: str = "person") -> Approve | None:
    """Return what asks the person at the terminal, by this name; None if nobody is there."""
    return partial(_ask, person) if sys.stdin.isatty() else None


def approval_in(world: Environment | None, *, is_asked: bool = True) -> Approve | None:
    """Return what asks the person at the terminal, if it `is_asked`; else the person at the world's robot, if any."""
    return (terminal_approval() if is_asked else None) or getattr(world, "approve", None)


def terminal_answer(mode: AskingBack | None = None) -> Answer | None:
    """Return what asks the person at the terminal what is meant; None if nobody is there, unless a mode is given."""
    return _answered if sys.stdin.isatty() or mode is not None else None


def _answered(question: AskBack) -> str | None:
    """Return the choice of a number, "" for any, None to stop; a word where there are no choices."""
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


def approved(revert: Callable[..., Committed], person: str = "person") -> Committed:
    """Return what an undo or a redo commits; ask the person at the terminal if it breaks a rule. Raises RuleBroken."""
    try:
        return revert()
    except RuleBroken as broken:
        if not (sys.stdin.isatty() and _says_yes(str(broken))):
            raise
    return revert(approved_by=person)


def _ask(person: str, rule: Rule, action: str) -> str | None:
    from scenecypher.planner.actions.ruled import asks_for

    return person if _says_yes(f"{action}: {asks_for(rule)}") else None


def _says_yes(question: str) -> bool:
    errors().print(question, markup=False, soft_wrap=True)
    try:
        return input("Do it? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False

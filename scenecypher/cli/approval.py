"""Approval at the terminal of what a rule of the house reserves to people."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from scenecypher.cli.context import errors

if TYPE_CHECKING:
    from scenecypher.db.rules import Rule
    from scenecypher.planner.actions.ruled import Approve


def terminal_approval(person: str = "person") -> Approve | None:
    """Return what asks the person at the terminal, by this name; None if nobody is there."""
    return partial(_ask, person) if sys.stdin.isatty() else None


def _ask(person: str, rule: Rule, action: str) -> str | None:
    from scenecypher.planner.actions.ruled import asks_for

    errors().print(f"{action}: {asks_for(rule)}", markup=False, soft_wrap=True)
    try:
        answer = input("Do it? [y/N] ")
    except EOFError:
        return None
    return person if answer.strip().lower() in {"y", "yes"} else None

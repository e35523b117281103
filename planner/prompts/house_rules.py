"""Rules of the house, as every prompt tells those that touch the task, where a scene has rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scenecypher.chat.model import Message
from scenecypher.db.rules import Rules
from scenecypher.words import stems

HOUSE_RULES: Final = "Rules of this house; an action that would break one is refused:"
MOST_TOLD: Final = 12
"""The most rules that are told; of more, those that share a word with the task come first."""


def rule_lines(rules: Rules, task: str) -> tuple[str, ...]:
    """Return the words of the rules that a model is told of for a task."""
    words = {*stems(task)}
    first = sorted(rules.in_force, key=lambda it: words.isdisjoint(stems(it.words)))
    return tuple(it.words for it in first[:MOST_TOLD])


def with_house_rules(message: Message, lines: Sequence[str]) -> Message:
    """Return the message with a line for each rule at its end; the message itself without rules."""
    told = "\n".join(f"- {line}" for line in lines)
    return replace(message, text=f"{message.text}\n\n{HOUSE_RULES}\n{told}") if lines else message

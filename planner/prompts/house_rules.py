"""What prompts tell besides at their end, a heading with lines: rules of the house, and what others did meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scenecypher.db.rules import Rules, rules_of
from scenecypher.planner.vocabularies.registry import action_list
from scenecypher.words import stems

if TYPE_CHECKING:
    from scenecypher.chat.model import Message
    from scenecypher.planner.actions.simulator import ActionSimulator

HOUSE_RULES: Final = "Rules of this house; an action that would break one is refused:"
MEANWHILE: Final = "Since your last decision others have acted here; what was known before may no longer be so:"
MOST_TOLD: Final = 12
"""The most rules that are told; of more, those that share a word with the task come first."""


def listed(heading: str, lines: Sequence[str]) -> str:
    """Return lines under a heading."""
    return "\n".join((heading, *(f"- {line}" for line in lines)))


def with_lines(message: Message, heading: str, lines: Sequence[str]) -> Message:
    """Return the message with lines under a heading at its end; the message itself without lines."""
    return replace(message, text=f"{message.text}\n\n{listed(heading, lines)}") if lines else message


def rule_lines(rules: Rules, task: str) -> tuple[str, ...]:
    """Return the words of the rules that a model is told of for a task."""
    words = {*stems(task)}
    first = sorted(rules.in_force, key=lambda it: words.isdisjoint(stems(it.words)))
    return tuple(it.words for it in first[:MOST_TOLD])


def actions_and_rules(simulator: ActionSimulator) -> str:
    """Return the actions of a scene, one a line, and the rules that forbid some of them."""
    actions, rules = action_list(simulator.operators, simulator.macros), rules_of(simulator.scene.declared)
    lines, more = rule_lines(rules, ""), len(rules.in_force) - MOST_TOLD
    told = (*lines, f"and {more} more: `scenecypher rules list`") if more > 0 else lines
    return f"{actions}\n\n{listed(HOUSE_RULES, told)}" if told else actions

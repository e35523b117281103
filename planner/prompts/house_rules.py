"""Rules of the house, as every prompt tells those that touch the task, where a scene has rules."""

from __future__ import annotations

from typing import Final

from scenecypher.db.rules import Rules, rules_of
from scenecypher.planner.actions.simulator import ActionSimulator
from scenecypher.planner.prompts.meanwhile import listed
from scenecypher.planner.vocabularies.registry import action_list
from scenecypher.words import stems

HOUSE_RULES: Final = "Rules of this house; an action that would break one is refused:"
MOST_TOLD: Final = 12
"""The most rules that are told; of more, those that share a word with the task come first."""


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

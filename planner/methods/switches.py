"""Ablations that several methods share."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.planner.sessions.recipe import Ablation, MethodContext

STEPWISE: Final = Ablation("stepwise", "ours: a refused action is fed back, and another solution may follow")
NO_EXAMPLES: Final = Ablation("no-examples", "ours: the prompt has no worked examples")
ASK_AT_ONCE: Final = Ablation("ask-at-once", "ours: the prompt says to ask at once for all that is known to be needed")
ALL_ACTIONS: Final = Ablation(
    "all-actions",
    "ours: all actions of the vocabulary are listed, not only those of the paper's action space",
    lambda recipe: replace(recipe, every_action=True),
)


def has_examples(context: MethodContext) -> bool:
    """Check if the prompt of a method has worked examples."""
    return NO_EXAMPLES not in context.ablations

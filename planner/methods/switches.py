"""Ablations that several methods share."""

from __future__ import annotations

from typing import Final

from scenecypher.planner.sessions.recipe import Ablation, MethodContext

STEPWISE: Final = "stepwise"
NO_EXAMPLES: Final = "no-examples"
ASK_AT_ONCE: Final = "ask-at-once"
ALL_ACTIONS: Final = "all-actions"

STATIC: Final = {STEPWISE: Ablation("ours: a refused action is fed back, and another solution may follow")}
WITHOUT_EXAMPLES: Final = {NO_EXAMPLES: Ablation("ours: the prompt has no worked examples")}
ASKING_AT_ONCE: Final = {
    ASK_AT_ONCE: Ablation("ours: the prompt says to ask at once for all that is known to be needed")
}
EVERY_ACTION: Final = {
    ALL_ACTIONS: Ablation(
        "ours: all actions of the vocabulary are listed, not only those of the paper's action space",
        every_action=True,
    )
}


def has_examples(context: MethodContext) -> bool:
    """Check if the prompt of a method has worked examples."""
    return NO_EXAMPLES not in context.ablations

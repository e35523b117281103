"""The functions that a prompt offers: the actions of the papers' prompts, from the operators."""

from __future__ import annotations

from typing import Literal

from scenecypher.planner.vocabularies.registry import action_list, vocabulary_named


def functions(vocabulary: str, among: Literal["stepwise", "whole"]) -> str:
    """Return the functions as text, one a line: those for acting step by step, or for writing a whole plan."""
    chosen = vocabulary_named(vocabulary)
    operators, macros = chosen.operators, chosen.macros
    offered = chosen.words.stepwise if among == "stepwise" else chosen.words.whole
    names = (*operators, *macros) if offered is None else offered
    shown = {name: operators[name] for name in names if name in operators}
    return action_list(shown, {name: macros[name] for name in names if name in macros})

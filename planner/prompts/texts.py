"""A vocabulary's texts for prompts: its environment, functions, worked examples and PDDL domain."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, Literal

from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import InputError
from scenecypher.planner.prompts.replies import is_question_task
from scenecypher.planner.vocabularies.vocabulary import action_list, vocabulary_named

NONE: Final[Mapping[str, str]] = MappingProxyType({})


def prompts_beside(module: str) -> Mapping[str, Any]:
    """Return the texts of a method's prompts by name: those of the file ``prompts.toml`` beside its module."""
    return tomllib.loads((files(module.rpartition(".")[0]) / "prompts.toml").read_text(encoding="utf-8"))


def _text(vocabulary: str, name: str) -> str:
    """Return the text of a file beside a vocabulary; empty without one."""
    file = files(conventions_of(vocabulary).texts) / name
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def domain_text(vocabulary: str) -> str:
    """Return the PDDL domain of a vocabulary; empty if there is none."""
    return _text(vocabulary, "domain.pddl")


def examples(method: str, vocabulary: str) -> Any:
    """Return the examples of a method in a vocabulary as its file has them; an empty list without a file."""
    return json.loads(_text(vocabulary, f"examples/{method}.json") or "[]")


def worked_examples(method: str, vocabulary: str, instruction: str, own: Mapping[str, str] = NONE) -> str:
    """Return the examples that a prompt of `method` ends with; empty if its paper has none for such a task.

    Those of the task's `own` set come first. In BabyAI: those of traversal, which are of Trv-1 alone (SG2, "2D Grid
    World Traversal Planning"), or those of questions.
    """
    if method in own:
        return own[method]
    kind = "-questions" if is_question_task(instruction, vocabulary) else ""
    return _text(vocabulary, f"examples/{method}{kind}.txt").strip()


def required_examples(method: str, vocabulary: str, instruction: str, own: Mapping[str, str] = NONE) -> str:
    """Return the examples for a method that requires them. Raises InputError if there are none."""
    text = worked_examples(method, vocabulary, instruction, own)
    if not text:
        what = "no words" if method == "algorithm" else "no worked examples"
        msg = f"this method has {what} for such tasks ({vocabulary}); choose another: docs/methods.md tells which"
        raise InputError(msg)
    return text


def functions(vocabulary: str, among: Literal["stepwise", "whole"]) -> str:
    """Return the functions as text, one a line: those for acting step by step, or for writing a whole plan."""
    chosen = vocabulary_named(vocabulary)
    operators, macros = chosen.operators, chosen.macros
    offered = chosen.words.stepwise if among == "stepwise" else chosen.words.whole
    names = (*operators, *macros) if offered is None else offered
    shown = {name: operators[name] for name in names if name in operators}
    return action_list(shown, {name: macros[name] for name in names if name in macros})


def environment_explanation(vocabulary: str) -> str:
    """Return the prompt's description of the world that scene graphs of this vocabulary represent."""
    return vocabulary_named(vocabulary).words.environment

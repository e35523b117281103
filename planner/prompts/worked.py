"""Worked examples of methods that query the graph and of graph prompting: text files, by method and vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import InputError
from scenecypher.planner.prompts.solution import is_question_task

NONE: Final[Mapping[str, str]] = MappingProxyType({})


def worked_examples(method: str, vocabulary: str, instruction: str, own: Mapping[str, str] = NONE) -> str:
    """Return the examples that a prompt of `method` ends with; empty if its paper has none for such a task.

    Those of the task's `own` set come first.

    In BabyAI: those of traversal, which are of Trv-1 alone (SG2, "2D Grid World Traversal Planning"), or those of
    questions.
    """
    if method in own:
        return own[method]
    kind = "-questions" if is_question_task(instruction, vocabulary) else ""
    file = files(conventions_of(vocabulary).texts) / "examples" / f"{method}{kind}.txt"
    return file.read_text(encoding="utf-8").strip() if file.is_file() else ""


def required_examples(method: str, vocabulary: str, instruction: str, own: Mapping[str, str] = NONE) -> str:
    """Return the examples for a method that requires them. Raises InputError if there are none."""
    text = worked_examples(method, vocabulary, instruction, own)
    if not text:
        what = "no words" if method == "algorithm" else "no worked examples"
        msg = f"this method has {what} for such tasks ({vocabulary}); choose another: docs/methods.md tells which"
        raise InputError(msg)
    return text

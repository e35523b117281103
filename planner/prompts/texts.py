"""Texts of prompts: a method's own, a vocabulary's, past turns, rules of the house, and what others did meanwhile."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, TypeVar

from scenecypher.chat.model import Message
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import InputError
from scenecypher.planner.actions.ruled import listed
from scenecypher.planner.prompts.replies import is_question_task
from scenecypher.planner.sessions.method import Act, Decision, Memory, Turn
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


D = TypeVar("D", bound=Decision)
UNREADABLE: Final = "Your last reply could not be used: {}"


@dataclass(frozen=True, slots=True)
class TurnForm(Generic[D]):
    """How a method tells turns with one `kind` of decision: the `reply` as the model wrote it, and the `result`."""

    kind: type[D]
    reply: Callable[[D], str]
    result: Callable[[D, Turn], str] = lambda _, turn: turn.feedback


def under(heading: str) -> Callable[[Decision, Turn], str]:
    """Return the `result` that is a turn's feedback under a heading."""
    return lambda _, turn: f"{heading}\n{turn.feedback}"


def exchanges(
    turns: Iterable[Turn], forms: Iterable[TurnForm[Any]], *, unreadable: str = UNREADABLE
) -> Iterator[tuple[str, str]]:
    """Yield reply and result of each turn; of a reply that could not be read, no text and what is `unreadable`.

    Decisions without a form are left out: no turn follows them.
    """
    by_kind = {form.kind: form for form in forms}
    for turn in turns:
        form = by_kind.get(type(turn.decision))
        if form is not None:
            yield form.reply(turn.decision), form.result(turn.decision, turn)
        elif turn.decision is None:
            yield "", unreadable.format(turn.feedback)


def turn_messages(turns: Iterable[Turn], forms: Iterable[TurnForm[Any]]) -> Iterator[Message]:
    """Yield the turns as messages: each reply, and its result."""
    for reply, result in exchanges(turns, forms):
        if reply:
            yield Message("assistant", reply)
        yield Message("user", result)


def chat(system: str, memory: Memory, forms: Iterable[TurnForm[Any]]) -> tuple[Message, ...]:
    """Return a conversation about a task: the system message, the task, and the turns so far."""
    task = Message("user", f"Task: {memory.instruction}")
    return Message("system", system), task, *turn_messages(memory.turns, forms)


def previous_actions(memory: Memory) -> str:
    """Return the reasons and actions so far, without those refused with feedback (LookPlanGraph, section IV-A)."""
    lines = [line for turn in memory.turns for line in _lines(turn)]
    return "\n".join(lines) or "none"


def feedback(memory: Memory) -> str:
    """Return why the last proposal was refused; empty if it was not."""
    return memory.turns[-1].feedback if memory.turns and memory.turns[-1].refused else ""


def _lines(turn: Turn) -> Iterator[str]:
    match turn.decision:
        case Act(action, reason) if not (turn.refused and turn.feedback):
            if reason:
                yield reason
            yield f"action: {action}"
        case _:
            return


MEANWHILE: Final = "Since your last decision others have acted here; what was known before may no longer be so:"


def with_lines(message: Message, heading: str, lines: Sequence[str]) -> Message:
    """Return the message with lines under a heading at its end; the message itself without lines."""
    return replace(message, text=f"{message.text}\n\n{listed(heading, lines)}") if lines else message

"""Past turns as prompts show them: what was replied and what came of it, previous actions, refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from scenecypher.chat.model import Message
from scenecypher.planner.sessions.method import Act, Decision, Memory, Turn

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

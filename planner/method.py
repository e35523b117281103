"""What a planning method is: a small object that, from what happened so far, yields the next decision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeAlias

from chat.model import Usage


@dataclass(frozen=True, slots=True)
class Ask:
    """Find something out about the scene first."""

    question: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """Carry out an action, such as ``grab(soap_1001)``."""

    action: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """The instruction is carried out."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The instruction can't be carried out."""

    reason: str = ""


Decision: TypeAlias = Ask | Act | Done | GiveUp


@dataclass(frozen=True, slots=True)
class Turn:
    """A decision and what became of it, in words. None: the reply could not be understood."""

    decision: Decision | None
    feedback: str


@dataclass(frozen=True, slots=True)
class Memory:
    """What a method may know: the task, the actions there are, the scene's schema (never its graph), and its turns."""

    instruction: str
    actions: str
    schema: str
    turns: tuple[Turn, ...] = ()

    def remember(self, decision: Decision | None, feedback: str) -> Self:
        """With one turn more."""
        return replace(self, turns=(*self.turns, Turn(decision, feedback)))


class Method(Protocol):
    """Decides; it touches no database, and asks the session for all that it wants to know."""

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """The next decision, and what it cost. Raises ReplyRejected where the model's reply means nothing."""
        ...

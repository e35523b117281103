"""What a planning method is: a small object that, from what happened so far, yields the next decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Protocol, Self, TypeAlias

from scenecypher.chat.model import Usage


@dataclass(frozen=True, slots=True)
class Ask:
    """Find something out about the scene first, in words: the session's asker (the retriever) answers."""

    question: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CallTool:
    """Use one of the session's tools, such as ``expand`` with ``{"node_id": "kitchen"}``; it changes nothing."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Think:
    """A thought that is a turn of its own (ReAct): nothing happens."""

    thought: str


@dataclass(frozen=True, slots=True)
class Act:
    """Carry out an action, such as ``grab(soap_1001)``."""

    action: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Solve:
    """The whole solution, which ends the session: carried out action by action, what is refused being skipped.

    That is the papers' static setting (SG2, section IV-A). Not `final`, the first refusal stops it and is told the
    method, which may solve anew: a stepwise execution of ours. Where a program ended amid a solution, the first `tried`
    actions were tried before, `refused` of them refused; `done` was carried out, and `told` is what became of that.
    """

    actions: tuple[str, ...]
    reason: str = ""
    final: bool = True
    tried: int = 0
    refused: int = 0
    done: tuple[str, ...] = ()
    told: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """The instruction is carried out; of a question (NumQ&A) `answer` is the answer."""

    reason: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The instruction can't be carried out."""

    reason: str = ""


Decision: TypeAlias = Ask | CallTool | Think | Act | Solve | Done | GiveUp
DECISIONS: Final[Mapping[str, type[Decision]]] = {
    "ask": Ask,
    "call": CallTool,
    "think": Think,
    "act": Act,
    "solve": Solve,
    "done": Done,
    "give_up": GiveUp,
}
"""Each decision by the word that a session's log has for it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A decision (None: the reply could not be understood), and in words what became of it.

    `done` are the actions that were carried out, inserted ones too; `refused` is whether something was not.
    """

    decision: Decision | None
    feedback: str
    done: tuple[str, ...] = ()
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """What a method may know: the task, the actions there are, and its turns.

    `schema` is the scene's schema text. `view` is what the method is shown of the graph as it is now, which the session
    renews before each decision; it is empty for the methods that are shown the schema only. `opening` is what the view
    was before the first decision.
    """

    instruction: str
    actions: str
    schema: str
    turns: tuple[Turn, ...] = ()
    view: str = ""
    opening: str = ""

    def remember(
        self, decision: Decision | None, feedback: str, *, done: tuple[str, ...] = (), refused: bool = False
    ) -> Self:
        """With one turn more."""
        return replace(self, turns=(*self.turns, Turn(decision, feedback, done, refused)))


class Method(Protocol):
    """Decides; it touches no database, and asks the session for all that it wants to know."""

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """The next decision, and what it cost. Raises ReplyRejected where the model's reply means nothing."""
        ...


def decision_document(decision: Decision) -> dict[str, Any]:
    """A decision as plain JSON values, its word under ``decision``."""
    word = next(word for word, type_ in DECISIONS.items() if isinstance(decision, type_))
    return {"decision": word, **asdict(decision)}


def decision_from_document(document: Mapping[str, Any]) -> Decision:
    """The decision that `decision_document` made a document of."""
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in document.items()
    }
    kind: Callable[..., Decision] = DECISIONS[str(values.pop("decision"))]
    return kind(**values)

"""The protocol of planning methods: a small object that makes the next decision from a memory of the turns so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, Protocol, Self, TypeAlias

from scenecypher.chat.model import Usage
from scenecypher.errors import ReplyRejected, did_you_mean
from scenecypher.planner.actions.ruled import AskBack


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a question about the scene in words; the session's asker (the retriever) answers."""

    question: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CallTool:
    """Call one of the session's read-only tools, such as ``expand`` with ``{"node_id": "kitchen"}``."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Think:
    """A thought as a turn of its own (ReAct), without any effect; `goal` is the document of the goal that it states."""

    thought: str
    goal: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Act:
    """Execute an action, such as ``grab(soap_1001)``."""

    action: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Solve:
    """The whole solution: executed action by action, refused actions being skipped, after which the session ends.

    This is the papers' static setting (SG2, section IV-A). If it is not `final`, the first refusal stops it and is fed
    back to the method, which may give another solution: stepwise execution, an addition of ours. In a resumed session
    the first `tried` actions were tried before the interruption, `refused` of them were refused and `done` executed;
    `told` is the feedback on them.
    """

    actions: tuple[str, ...]
    reason: str = ""
    final: bool = True
    tried: int = 0
    refused: int = 0
    done: tuple[str, ...] = ()
    told: str = ""


ANY_OF_THEM: Final = "any"
"""Feedback on a question that a person leaves open."""
AskingBack: TypeAlias = Literal["never", "unclear", "always"]
"""When a person is asked what is meant: where it is open and the candidates differ, or wherever it is open."""


@dataclass(frozen=True, slots=True)
class Done:
    """The instruction is carried out; for a question (NumQ&A) `answer` is the answer."""

    reason: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The instruction can't be carried out; `impossible` if the method says that by nothing it can."""

    reason: str = ""
    impossible: bool = False


Decision: TypeAlias = Ask | CallTool | Think | Act | Solve | AskBack | Done | GiveUp
DECISIONS: Final[Mapping[str, type[Decision]]] = {
    "ask": Ask,
    "call": CallTool,
    "think": Think,
    "act": Act,
    "solve": Solve,
    "ask_back": AskBack,
    "done": Done,
    "give_up": GiveUp,
}
"""Decisions by their words in a session's log."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A decision (None: the reply could not be parsed) and the feedback on it.

    `done` are the executed actions, inserted ones included; `refused` is True if something was refused.
    """

    decision: Decision | None
    feedback: str
    done: tuple[str, ...] = ()
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """All that a method may know: the task, the list of actions, and its turns.

    `schema` is the schema text and `view` the text of the present graph, which the session renews before each decision;
    one of them is empty, by the method's recipe. `opening` is the view before the first decision. `examples` are worked
    ones of the task's own set, by the names of their files, in place of those of the vocabulary.
    """

    instruction: str
    actions: str
    schema: str = ""
    turns: tuple[Turn, ...] = ()
    view: str = ""
    opening: str = ""
    examples: Mapping[str, str] = field(default_factory=dict)

    def remember(
        self, decision: Decision | None, feedback: str, *, done: tuple[str, ...] = (), refused: bool = False
    ) -> Self:
        """Return the memory with another turn."""
        return replace(self, turns=(*self.turns, Turn(decision, feedback, done, refused)))


class Method(Protocol):
    """A planning method; it has no access to the database and asks the session for information."""

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next decision and its tokens. Raises ReplyRejected if the model's reply can't be used."""
        ...


def decision_document(decision: Decision) -> dict[str, Any]:
    """Return a decision as plain JSON values, its word under ``decision``."""
    word = next(word for word, type_ in DECISIONS.items() if isinstance(decision, type_))
    return {"decision": word, **asdict(decision)}


def decision_from_document(document: Mapping[str, Any]) -> Decision:
    """Return the decision of a document that `decision_document` made. Raises ValidationError (pydantic), KeyError."""
    from pydantic import TypeAdapter

    values = {key: value for key, value in document.items() if key != "decision"}
    found: Decision = TypeAdapter(DECISIONS[str(document["decision"])]).validate_python(values)
    return found


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """Answer of a tool: `text` for the method, and the tokens of its own model requests."""

    text: str
    usage: Usage = field(default_factory=Usage)


Tool: TypeAlias = Callable[[Mapping[str, Any]], ToolAnswer]
"""Function from arguments to an answer; raises RejectedError, worded for the model, for bad arguments."""


def call_tool(tools: Mapping[str, Tool], name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Call one of the tools. Raises RejectedError for an unknown name, and as the tool does."""
    if name not in tools:
        known = ", ".join(tools) or "there are none"
        raise ReplyRejected(f"there is no tool {name[:60]!r}{did_you_mean(name, tuple(tools))}; use {known}")
    return tools[name](arguments)


def argument(arguments: Mapping[str, Any], name: str, *, tool: str) -> str:
    """Return a text or number among a tool's arguments as text. Raises ReplyRejected if it is missing."""
    value = arguments.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ReplyRejected(f'{tool} takes the argument "{name}", a text; call it with that')
    return str(value)

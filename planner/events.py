"""What happens in a planning session, as a closed union: the CLI, logs and evaluation listen to one stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from scenecypher.chat.model import Usage

Outcome: TypeAlias = Literal["done", "given_up", "infeasible", "steps", "tokens", "seconds"]
"""How a session ends: the method says so, or a budget is spent."""

Cause: TypeAlias = Literal[
    "missing", "affordance", "already", "unknown", "no_action", "world", "conflict", "reply", "question", "call"
]
"""Why something is refused.

A requirement's fault; a word that names no node; no such action; the world is not as believed; the scene changed
meanwhile; a reply that can't be read; a question that can't be answered; a tool's call that can't be.
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """The method wants to know something about the scene. `step` counts the method's decisions, from 1."""

    step: int
    question: str
    reason: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The answer to a question, with the Cypher that led to it where there was one."""

    step: int
    question: str
    answer: str
    cypher: str | None
    usage: Usage


@dataclass(frozen=True, slots=True)
class Called:
    """The method uses one of the session's tools."""

    step: int
    tool: str
    arguments: Mapping[str, Any]
    reason: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What a tool gave."""

    step: int
    tool: str
    answer: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Thought:
    """A thought that is a turn of its own: nothing happens."""

    step: int
    thought: str


@dataclass(frozen=True, slots=True)
class Solved:
    """The method gives a whole solution, whose actions are proposed one after the other from here on.

    The other fields are as in `scenecypher.planner.method.Solve`.
    """

    step: int
    actions: tuple[str, ...]
    reason: str
    final: bool = True
    tried: int = 0
    refused: int = 0
    done: tuple[str, ...] = ()
    told: str = ""


@dataclass(frozen=True, slots=True)
class Proposed:
    """The method wants an action to be carried out, in a scene that was at version `since` or later."""

    step: int
    action: str
    reason: str
    since: int = 0


@dataclass(frozen=True, slots=True)
class Corrected:
    """An action that a rule inserted, and that was committed as `version`, `because` something stood in the way."""

    step: int
    action: str
    because: str
    version: int


@dataclass(frozen=True, slots=True)
class Acted:
    """A proposed action that was committed as `version`; `changes` counts what it changed in the graph."""

    step: int
    action: str
    version: int
    changes: int


@dataclass(frozen=True, slots=True)
class Observed:
    """What an action showed, and what that changed in the belief: a line for each node."""

    step: int
    action: str
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """What the method proposed can't be done, or can't be understood; `reasons` are what stands in the way."""

    step: int
    action: str
    cause: Cause
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remembered:
    """The end of a decision's turn, with all that the method may know of it later: a session can go on from there.

    `decision` is as `planner.method.decision_document` writes it, None where the reply could not be understood; `usage`
    is what the turn cost, `infeasible` the count of refusals in a row after it, `seconds` the time since the session
    began and `seeing` what pictures cost since then. The first one has the `opening`, the view that the session began
    with.
    """

    step: int
    decision: Mapping[str, Any] | None
    feedback: str
    done: tuple[str, ...]
    refused: bool
    infeasible: int
    usage: Usage
    opening: str = ""
    seconds: float = 0.0
    seeing: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Finished:
    """The end: how, after how many decisions and committed actions, at the cost of how many tokens and seconds.

    Where the task is a question, `answer` is the answer. `usage` is of planning; `seeing` is of pictures, which the
    papers' measure leaves out (LookPlanGraph, section VI-B).
    """

    outcome: Outcome
    reason: str
    steps: int
    actions: int
    usage: Usage
    seconds: float
    answer: str = ""
    seeing: Usage = field(default_factory=Usage)


Event: TypeAlias = (
    Asked
    | Retrieved
    | Called
    | Answered
    | Thought
    | Solved
    | Proposed
    | Corrected
    | Acted
    | Observed
    | Refused
    | Remembered
    | Finished
)


def event_document(event: Event) -> dict[str, Any]:
    """An event as plain JSON values, its name under ``event``: one line of a session's log."""
    return {"event": type(event).__name__.lower(), **asdict(event)}

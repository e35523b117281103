"""Events of a planning session, a closed union; the CLI, logs and evaluation read one stream of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

from scenecypher.chat.model import Usage

Outcome: TypeAlias = Literal["done", "not_met", "given_up", "impossible", "infeasible", "steps", "tokens", "seconds"]
"""Outcome of a session: the method ended it, or a limit of the budget was reached.

``done`` is never said of a goal that is known and does not hold: if the method says so, it is ``not_met``.
"""

GoalState: TypeAlias = Literal["met", "not met", "unknown"]
"""What is known of a session's goal at its end: by the scene itself; ``unknown`` without a goal that can be checked."""

Cause: TypeAlias = Literal[
    "missing", "affordance", "already", "unknown", "no_action", "world", "rule", "conflict", "reply", "question", "call"
]
"""Cause of a refusal.

``missing``, ``affordance``, ``already``: the fault of the first unmet requirement. ``unknown``: a word names no node.
``no_action``: there is no such action. ``world``: the world differs from the belief. ``rule``: a rule of the house
forbids what it would bring about, or nobody has approved it. ``conflict``: the scene changed meanwhile. ``reply``,
``question``, ``call``: a reply can't be parsed, a question or a tool call has no answer.
"""


UNMET_TOLD: Final = 5
"""Sentences about an unmet goal that a line for people has at most."""
ROWS_KEPT: Final = 20
"""Rows of an answer that an event carries at most."""


@dataclass(frozen=True, slots=True)
class Began:
    """The start of a run, the heading of its log: what must be the same when it is resumed, and who does it.

    `version` is the scene's version at the start, `belief_version` that of the belief by which the robot acts, if any.
    `model` is the language model's name, empty without one. `actor` is how the scene's history names who acts.
    `settings` are the session's other settings, as plain JSON values by name.
    """

    scene: str
    method: str
    ablations: tuple[str, ...]
    instruction: str
    model: str = ""
    actor: str = ""
    version: int = 0
    belief_version: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """The method asks a question about the scene, or a person what is meant, who has the `choices`.

    `step` counts the method's decisions, from 1.
    """

    step: int
    question: str
    reason: str
    to_person: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedQuery:
    """A query that was refused before the answer was found, and the reason."""

    cypher: str
    reason: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The answer to a question, with the Cypher query behind it, if any.

    `rows` are the first ROWS_KEPT of the `found` rows, read at `version` of the scene; `refused` are the queries before
    it. `outcome` is ``answered``, ``unanswerable`` or ``refused``.
    """

    step: int
    question: str
    answer: str
    cypher: str | None
    usage: Usage
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    found: int = 0
    version: int | None = None
    refused: tuple[RefusedQuery, ...] = ()
    outcome: str = "answered"


@dataclass(frozen=True, slots=True)
class Called:
    """The method calls one of the session's tools."""

    step: int
    tool: str
    arguments: Mapping[str, Any]
    reason: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of a tool call, or a person's answer, whose `tool` is ``person``."""

    step: int
    tool: str
    answer: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Thought:
    """A thought as a turn of its own, without any effect."""

    step: int
    thought: str


@dataclass(frozen=True, slots=True)
class Solved:
    """The method gives a whole solution; its actions are proposed one by one in the events that follow.

    The first refusal ends it if it is not `final`.
    """

    step: int
    actions: tuple[str, ...]
    reason: str
    final: bool = True


@dataclass(frozen=True, slots=True)
class Proposed:
    """The method proposes an action, which has this id from here on; the scene is at version `since` or later."""

    step: int
    action: str
    reason: str
    since: int = 0
    action_id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Corrected:
    """An action that a correction inserted and committed as `version`; `because` is the unmet requirement.

    `world_version` and `action_id` are as in Acted.
    """

    step: int
    action: str
    because: str
    version: int
    world_version: int | None = None
    action_id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Acted:
    """A proposed action, committed as `version`; `changes` is the number of changes of the graph.

    `version` is that of the scene by which the robot acts. If that is a belief, `world_version` is the version of the
    world that the action led to, None in a world that is no scene. `action_id` is the id of the action.
    """

    step: int
    action: str
    version: int
    changes: int
    world_version: int | None = None
    action_id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Observed:
    """The findings of an action's observation, merged into the belief: a line for each node."""

    step: int
    action: str
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The refusal of an action, a question, a tool call or a reply, with all its `reasons`."""

    step: int
    action: str
    cause: Cause
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remembered:
    """The end of a turn, with all that the method may know of it later; a session can be resumed from here.

    `decision` is as `decision_document` writes it, None if the reply could not be parsed. `usage` is
    the turn's token count, `infeasible` the number of consecutive refusals after it, `seconds` the time since the
    session began and `seeing` the tokens of pictures since then. The first such event has the `opening`, the method's
    first view.
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
    """The end of a session: its outcome, decisions, committed actions, tokens and seconds.

    `answer` is set if the task is a question. `usage` counts planning; `seeing` counts pictures, which the papers'
    measure leaves out (LookPlanGraph, section VI-B). `goal` says whether the goal holds in the scene, and `unmet` what
    of it does not and what rules of the house still want, a sentence each.
    """

    outcome: Outcome
    reason: str
    steps: int
    actions: int
    usage: Usage
    seconds: float
    answer: str = ""
    seeing: Usage = field(default_factory=Usage)
    goal: GoalState = "unknown"
    unmet: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """True if the goal holds, or if it is unknown and the method says that the task is done."""
        return self.goal == "met" or (self.goal == "unknown" and self.outcome == "done")

    @property
    def why(self) -> str:
        """The reason, and what is known of the goal beyond the outcome."""
        more = f"; and {len(self.unmet) - UNMET_TOLD} more" if len(self.unmet) > UNMET_TOLD else ""
        known = f"{'; '.join(self.unmet[:UNMET_TOLD])}{more}"
        if self.goal == "not met":
            known = f"the goal does not hold: {known}"
        elif self.goal == "met" and (known or self.outcome != "done"):
            known = f"the goal holds, but {known}" if known else "the goal holds"
        return "; ".join(filter(None, (self.reason, known)))

    @property
    def words(self) -> str:
        """The outcome, and why."""
        return ": ".join(filter(None, (self.outcome, self.why)))


Event: TypeAlias = (
    Began
    | Asked
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


EVENTS: Final[Mapping[str, type[Event]]] = {kind.__name__.lower(): kind for kind in get_args(Event)}
"""The kinds of events by their names in a log."""


def event_document(event: Event) -> dict[str, Any]:
    """Return an event as plain JSON values, its name under ``event``: one line of a session's log."""
    return {"event": type(event).__name__.lower(), **asdict(event)}


def event_from_document(document: Mapping[str, Any]) -> Event:
    """Return the event of a document that `event_document` made. Raises ValidationError (pydantic), KeyError."""
    from pydantic import TypeAdapter

    values = {key: value for key, value in document.items() if key != "event"}
    found: Event = TypeAdapter(EVENTS[str(document["event"])]).validate_python(values)
    return found

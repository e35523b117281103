"""The planner's side, whatever the way to the robot: an action is asked for by its id until it has ended.

Actions and their states are as `openapi.json` has them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal, Protocol, TypeAlias
from uuid import uuid4

from pydantic import Field, TypeAdapter, ValidationError

from scenecypher.errors import InputError, ServiceError

Word: TypeAlias = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")]
Kind: TypeAlias = Literal["hello", "act", "look", "approve"]
Verb: TypeAlias = Literal["begin", "wait", "cancel"]


@dataclass(frozen=True, slots=True)
class Action:
    """What a robot is asked for: to act, to look at the node `name`, to have a person approve, or just to answer.

    The same id always means the same action, which is carried out once, however often it is asked for. `boot` is the
    memory that the planner relies on for that. `arguments` are ids of nodes, `words` what a person is asked.
    """

    id: str
    kind: Kind
    name: str = ""
    arguments: tuple[str, ...] = ()
    words: str = ""
    boot: str = ""


@dataclass(frozen=True, slots=True)
class Thing:
    """One seen thing: `id` if it is a known node, else only `name` and `of_class`, such as ``mug``.

    `relation` is ON, INSIDE or another type of containment, `target` the id or name of what it is on or in (both None
    if unknown). `states` are None if unknown. `confidence` is from 0 to 1.
    """

    name: Word
    of_class: Word
    relation: Word | None = None
    target: Word | None = None
    states: tuple[Word, ...] | None = None
    id: Word | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


@dataclass(frozen=True, slots=True)
class View:
    """What a robot sees at a node: the things, and the node's own `states` (None: unknown).

    Believed things that are not among `things` are absent if the view is `whole`, as far as it `covers`.
    """

    things: Annotated[tuple[Thing, ...], Field(max_length=1_000)] = ()
    states: tuple[Word, ...] | None = None
    covers: tuple[Word, ...] = ("ON", "INSIDE")
    whole: bool = True


@dataclass(frozen=True, slots=True)
class State:
    """The state of an action in the robot's memory `boot`, a name that is new with each start of its program.

    A refused action has a `reason`, and nothing of it remains to be done; a forgotten one was asked of another memory.
    A look that is done has a `view`, or a `picture` in base64; an approval the name of the person it is `by`.
    """

    id: str
    boot: Word
    state: Literal["working", "done", "refused", "forgotten"]
    reason: str = ""
    view: View | None = None
    picture: str = ""
    by: str = ""


_STATE: Final = TypeAdapter(State)


def read_state(answer: bytes, action: Action) -> State:
    """Return the state of an action in an answer. Raises InputError naming the field."""
    try:
        state = _STATE.validate_json(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "the answer"
        raise InputError(f"{place}: {first['msg']}; docs/robots.md lists the fields") from error
    if state.id != action.id:
        raise InputError("it is of another id; answer with the state of the action that was asked for")
    if (action.kind, state.state) == ("look", "done") and not (state.view or state.picture):
        raise InputError("a look that is done has a `view` or a `picture`; send one")
    return state


class RobotGone(ServiceError):
    """A robot of which nothing was heard for too long: what it was asked for last may be done or not."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds: between two requests, of one request, of an action until it is cancelled, and of a robot's silence."""

    repeat_s: float = 0.25
    request_s: float = 10.0
    action_s: float = 600.0
    silence_s: float = 30.0


class Door(Protocol):
    """A way to a robot, on which requests and answers may be lost; `trouble` says what came in place of an answer."""

    trouble: str

    def exchange(self, verb: Verb, action: Action, timeout_s: float) -> State | None:
        """Begin an action, unless its id is known, wait for its end or cancel it; return its state, None if unknown."""


class RobotLink:
    """A robot behind a door. Not safe to share between threads; it is asked for one thing at a time."""

    def __init__(self, door: Door, timing: Timing | None = None) -> None:
        self._door, self._timing, self._boot = door, timing or Timing(), ""

    def ask(
        self, kind: Kind, name: str, arguments: tuple[str, ...] = (), *, action_id: str = "", words: str = ""
    ) -> State:
        """Return how an action ended: done, refused, or forgotten by a robot that was restarted. Raises RobotGone.

        Asking again with the same id does not repeat an action; what moves nothing is asked again of another memory.
        """
        self._boot = self._boot or self._ended(Action(uuid4().hex, "hello")).boot
        action = Action(action_id or uuid4().hex, kind, name, arguments, words, self._boot)
        state = self._ended(action)
        if state.state == "forgotten" and kind != "act":
            state = self._ended(replace(action, boot=state.boot))
        self._boot = state.boot
        return state

    def _ended(self, action: Action) -> State:
        """Ask until the action has ended; cancel it when its time is over. Raises RobotGone."""
        timing, action_s = self._timing, 0.0 if action.kind == "hello" else self._timing.action_s
        began = heard = now = time.monotonic()
        verb: Verb = "begin"
        while now - heard < timing.silence_s and now - began < action_s + timing.silence_s:
            verb = "cancel" if now - began >= action_s > 0 else verb
            left_s = min(timing.request_s, timing.silence_s - (now - heard))
            state = self._door.exchange(verb, action, left_s)
            if state is not None and state.state != "working":
                return state
            verb, heard = ("begin", heard) if state is None else ("wait", time.monotonic())
            time.sleep(max(0.0, now + timing.repeat_s - time.monotonic()))
            now = time.monotonic()
        silent = f"nothing was heard of the robot for {timing.silence_s:g} s ({self._door.trouble})".removesuffix(" ()")
        endless = f"the robot did not end {action.kind!r} {timing.silence_s:g} s after its time was over"
        said = silent if now - heard >= timing.silence_s else endless
        raise RobotGone(f"{said}; see to it, then go on", retryable=True)

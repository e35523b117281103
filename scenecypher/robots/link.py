"""The planner's side, whatever the way to the robot: an action is asked for by its id until it has ended."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

from scenecypher.errors import InputError, ServiceError
from scenecypher.robots.messages import Action, Kind, State

Verb: TypeAlias = Literal["begin", "wait", "cancel"]


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


def door_to(url: str) -> Door:
    """Return the door of a URL: HTTP's, or that of ROS's bridge. Raises InputError."""
    try:
        found = urlsplit(url)
        is_whole = found.hostname and found.port != 0 and not (found.query or found.fragment or found.username)
    except ValueError:
        is_whole = None
    if is_whole and found.scheme in {"http", "https"}:
        from scenecypher.robots.http import HttpDoor

        return HttpDoor(url)
    if is_whole and found.scheme in {"ws", "wss"}:
        from scenecypher.robots.ros import RosDoor

        return RosDoor(url)
    msg = f"{url!r} is no address of a robot; give one such as http://localhost:7070, or ws://localhost:9090 for ROS"
    raise InputError(msg)

"""The way to a robot of ROS 2, by the JSON messages of rosbridge over a websocket: goal, feedback, result, cancel."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from scenecypher.errors import InputError
from scenecypher.robots.link import Verb
from scenecypher.robots.messages import MAX_BYTES, Action, State, read_state

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

ACTION: Final = {"action": "/scenecypher/carry_out"}  # docs/robots.md has the file of its type


class RosDoor:
    """A robot behind rosbridge: one connection, opened again after a break, which sends each goal once."""

    def __init__(self, url: str) -> None:
        self._url, self.trouble, self._sent = url, "", ""
        self._open: ClientConnection | None = None

    def exchange(self, verb: Verb, action: Action, timeout_s: float) -> State | None:
        """Send a goal or cancel it; return the state by the next feedback or result, None if none comes in time."""
        try:
            from websockets.exceptions import WebSocketException
        except ImportError as error:
            raise InputError("robots of ROS need a websocket: run `pip install 'scenecypher[robots]'`") from error
        try:
            return self._exchanged(verb, action, time.monotonic() + timeout_s)
        except (TimeoutError, ValueError, RecursionError) as error:
            self.trouble = self.trouble or f"{self._url}: {error or type(error).__name__}"
        except (OSError, WebSocketException) as error:
            self.trouble, self._open = f"{self._url}: {error or type(error).__name__}", None
        return None

    def _exchanged(self, verb: Verb, action: Action, ends: float) -> State | None:
        from websockets.sync.client import connect

        if self._open is None:
            left_s = ends - time.monotonic()
            self._open, self._sent = connect(self._url, open_timeout=left_s, max_size=MAX_BYTES, proxy=None), ""
        if self._sent != action.id:
            goal = {"action_type": "scenecypher_msgs/action/CarryOut", "args": asdict(action), "feedback": True}
            self._open.send(json.dumps({"op": "send_action_goal", "id": action.id, **ACTION, **goal}))
            self._sent = action.id
        if verb == "cancel":
            self._open.send(json.dumps({"op": "cancel_action_goal", "id": action.id, **ACTION}))
        state = None
        while state is None and self._sent == action.id:
            state = self._state(json.loads(self._open.recv(timeout=max(0.0, ends - time.monotonic()))), action)
        return state

    def _state(self, message: Any, action: Action) -> State | None:
        """Return the state of the action in a message; None for another, or for what can't be read: it is told."""
        match message:
            case {"op": "action_feedback" | "action_result" as op, "id": action.id, "values": dict(values)}:
                try:
                    view = json.loads(values.get("view") or "null")
                    return read_state({**values, "id": action.id, "view": view}, action)
                except (InputError, TypeError, ValueError) as error:
                    self.trouble = f"it sent {str(values)[:60]}: {error}"
                    self._sent = "" if op == "action_result" else self._sent
            case {"op": "action_result", "id": action.id, "values": told} | {
                "op": "status",
                "level": "error",
                "msg": told,
            }:
                self.trouble, self._sent = f"the bridge says {str(told)[:200]}", ""
        return None

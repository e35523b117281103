"""The ways to a robot: HTTP as `openapi.json` describes it, and for ROS 2 rosbridge's messages over a websocket."""

from __future__ import annotations

import json
import time
from contextlib import closing, suppress
from dataclasses import asdict
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from socket import SHUT_RDWR, socket
from threading import Timer
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from scenecypher.errors import InputError
from scenecypher.robots.link import Action, Door, State, Verb, read_state

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

MAX_BYTES: Final = 30_000_000  # a picture of 20 MB in base64, and some
METHODS: Final[dict[Verb, str]] = {"begin": "POST", "wait": "GET", "cancel": "DELETE"}
PASSING: Final = frozenset({408, 409, 425, 429})  # refusals of a request that may be over soon
ROS_ACTION: Final = {"action": "/scenecypher/carry_out"}  # docs/robots.md has the file of its type


def door_to(url: str) -> Door:
    """Return the door of a URL: HTTP's, or that of ROS's bridge. Raises InputError."""
    try:
        found = urlsplit(url)
        is_whole = found.hostname and found.port != 0 and not (found.query or found.fragment or found.username)
    except ValueError:
        is_whole = None
    if is_whole and found.scheme in {"http", "https"}:
        return HttpDoor(url)
    if is_whole and found.scheme in {"ws", "wss"}:
        return RosDoor(url)
    msg = f"{url!r} is no address of a robot; give one such as http://localhost:7070, or ws://localhost:9090 for ROS"
    raise InputError(msg)


class HttpDoor:
    """A robot that answers HTTP: a connection a request, without proxies; redirects are not followed."""

    def __init__(self, url: str) -> None:
        found = urlsplit(url)
        connection = HTTPSConnection if found.scheme == "https" else HTTPConnection
        self._url, self._path, self.trouble = url, found.path.rstrip("/"), ""
        self._connect = partial(connection, found.hostname or "", found.port)

    def exchange(self, verb: Verb, action: Action, timeout_s: float) -> State | None:
        """Send one request; return the state that it is answered with, None without an answer. Raises InputError."""
        path = f"{self._path}/actions" if verb == "begin" else f"{self._path}/actions/{quote(action.id, safe='')}"
        path += f"?wait={timeout_s / 2:g}" if verb == "wait" else ""
        try:
            with closing(self._connect(timeout=timeout_s)) as connection:
                status, data = _answer(connection, METHODS[verb], path, action, timeout_s)
        except (OSError, HTTPException, UnicodeError) as error:
            self.trouble = f"{METHODS[verb]} {self._url}: {error or type(error).__name__}"
            return None
        told = f"it answered {METHODS[verb]} {self._url} with {status}"
        if 300 <= status < 500 and status not in PASSING and (status, verb) != (404, "wait"):
            raise InputError(f"{told}, as no robot does; give the address of a robot (docs/robots.md)")
        try:
            if 200 <= status < 300 and len(data) <= MAX_BYTES:
                return read_state(data, action)
            self.trouble = f"{told} and {len(data):,} bytes"
        except InputError as error:
            self.trouble = f"{told} and {data[:60]!r}: {error}"
        return None


def _answer(connection: HTTPConnection, method: str, path: str, action: Action, timeout_s: float) -> tuple[int, bytes]:
    """Return status and body of the answer, cut off soon after the time, also if a byte comes now and then."""
    connection.connect()
    timer = Timer(timeout_s + 1.0, _cut, (connection.sock,))
    timer.start()
    try:
        body = json.dumps(asdict(action)) if method == "POST" else None
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        return answer.status, answer.read(MAX_BYTES + 1)
    finally:
        timer.cancel()


def _cut(opened: socket) -> None:
    with suppress(OSError):  # closed meanwhile
        opened.shutdown(SHUT_RDWR)


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
            self._open.send(json.dumps({"op": "send_action_goal", "id": action.id, **ROS_ACTION, **goal}))
            self._sent = action.id
        if verb == "cancel":
            self._open.send(json.dumps({"op": "cancel_action_goal", "id": action.id, **ROS_ACTION}))
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
                    return read_state(json.dumps({**values, "id": action.id, "view": view}).encode(), action)
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

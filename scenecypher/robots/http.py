"""The way to a robot by HTTP, as `openapi.json` describes it."""

from __future__ import annotations

import json
from contextlib import closing, suppress
from dataclasses import asdict
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from socket import SHUT_RDWR, socket
from threading import Timer
from typing import Final
from urllib.parse import quote, urlsplit

from scenecypher.errors import InputError
from scenecypher.robots.link import Verb
from scenecypher.robots.messages import MAX_BYTES, Action, State, read_state

METHODS: Final[dict[Verb, str]] = {"begin": "POST", "wait": "GET", "cancel": "DELETE"}
PASSING: Final = frozenset({408, 409, 425, 429})  # refusals of a request that may be over soon


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

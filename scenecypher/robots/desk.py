"""The robot's side of the exchange, without a transport: each request is carried out once, however often it comes."""

from __future__ import annotations

from base64 import b64encode
from threading import Event, Lock, Thread
from typing import Final, Protocol, assert_never
from uuid import uuid4

from scenecypher.robots.messages import (
    Act,
    Cancel,
    Done,
    Forgotten,
    Hello,
    Look,
    Pictured,
    Ready,
    Refused,
    Reply,
    Request,
    Seen,
    View,
    Working,
)

KEPT: Final = 10_000
"""Results that are remembered; the oldest are forgotten first."""


class Robot(Protocol):
    """What carries requests out. Its calls come one at a time, in a thread of their own, and may take their time."""

    def act(self, action: Act, stop: Event) -> str | None:
        """Carry out an action; return None if it is done, else the reason in words why it can't be.

        Once `stop` is set, end as soon as that is safe.
        """
        ...

    def look(self, of: str) -> View | bytes:
        """Return what is seen at a node, or the file of a picture of it. Raises LookupError if it can't be seen."""
        ...


class RobotDesk:
    """Answers the requests to one robot. Safe to share between threads; the memory ends with the object."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._boot = robot, uuid4().hex
        self._lock, self._stop = Lock(), Event()
        self._current: Act | Look | None = None
        self._asked: dict[str, Act | Look] = {}
        self._results: dict[str, Reply] = {}

    def answer(self, request: Request) -> Reply:
        """Return the answer at once: Working until there is a result."""
        if isinstance(request, Hello):
            return Ready(request.id, self._boot)
        if request.boot != self._boot:
            return Forgotten(request.id, self._boot)
        with self._lock:
            match request:
                case Cancel():
                    return self._cancelled(request.id)
                case Act() | Look():
                    return self._requested(request)
                case _:
                    assert_never(request)

    def _requested(self, request: Act | Look) -> Reply:
        if self._asked.get(request.id, request) != request:
            return Refused(request.id, self._boot, "this id was used for another request")
        if request.id in self._results:
            return self._results[request.id]
        if self._current is None:
            self._begin(request)
        elif self._current.id != request.id:
            return Refused(request.id, self._boot, "the robot still carries out another request")
        return Working(request.id, self._boot)

    def _cancelled(self, request_id: str) -> Reply:
        """Stop the request; one that never came is refused should it come later."""
        if self._current is not None and self._current.id == request_id:
            self._stop.set()
            return Working(request_id, self._boot)
        return self._results.setdefault(request_id, Refused(request_id, self._boot, "it was cancelled"))

    def _begin(self, request: Act | Look) -> None:
        self._current, self._asked[request.id] = request, request
        self._stop.clear()
        Thread(target=self._carry_out, args=(request,), daemon=True).start()

    def _carry_out(self, request: Act | Look) -> None:
        try:
            result = self._result(request)
        except Exception as error:  # noqa: BLE001 - the robot's own code: its failure is an answer
            result = Refused(request.id, self._boot, str(error) or type(error).__name__)
        with self._lock:
            self._results[request.id], self._current = result, None
            for oldest in [*self._results][:-KEPT]:
                del self._results[oldest]
                self._asked.pop(oldest, None)

    def _result(self, request: Act | Look) -> Reply:
        if isinstance(request, Act):
            reason = self._robot.act(request, self._stop)
            return Done(request.id, self._boot) if reason is None else Refused(request.id, self._boot, reason)
        shown = self._robot.look(request.of)
        if isinstance(shown, View):
            return Seen(request.id, self._boot, shown)
        return Pictured(request.id, self._boot, b64encode(shown).decode())

"""The planner's side of the exchange, without a transport: a request is repeated until its result comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import uuid4

from scenecypher.errors import InputError, ServiceError
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
    Working,
    decode_reply,
    encode,
)

ANSWERS: Final[dict[type[Request], tuple[type[Reply], ...]]] = {
    Hello: (Ready,),
    Act: (Working, Done, Refused, Forgotten),
    Look: (Working, Seen, Pictured, Refused, Forgotten),
}
"""The replies that a request may have."""


class RobotGone(ServiceError):
    """A robot of which nothing was heard for too long: what it was asked for last may be done or not."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=True)


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds after which a request is repeated, an action is cancelled, and a silent robot counts as gone."""

    repeat_s: float = 0.25
    action_s: float = 600.0
    silence_s: float = 30.0


class Transport(Protocol):
    """Carries lines; each may be lost, repeated or late."""

    def send(self, line: bytes) -> None:
        """Send a line, if there is a connection."""
        ...

    def receive(self, timeout_s: float) -> bytes | None:
        """Return the next line; None if none came in time."""
        ...


class Exchange:
    """One request until its result: what is to be sent when, by a clock that the caller reads."""

    def __init__(self, request: Request, timing: Timing, *, now: float) -> None:
        self._request, self._timing = request, timing
        self._began = self._heard = now
        self._due = now
        self._misplaced = ""

    def outgoing(self, now: float) -> Request | None:
        """Return what is to be sent now. Raises RobotGone."""
        timing = self._timing
        if now - self._heard >= timing.silence_s:
            msg = f"nothing was heard of the robot for {timing.silence_s:g} s; see to it, then go on{self._misplaced}"
            raise RobotGone(msg)
        if isinstance(self._request, Hello) and now - self._began >= timing.silence_s:
            msg = f"the robot did not say within {timing.silence_s:g} s that it is ready; see to it, then go on"
            raise RobotGone(f"{msg}{self._misplaced}")
        if now - self._began >= timing.action_s + timing.silence_s:
            raise RobotGone(
                f"the robot did not end the action {timing.silence_s:g} s after it was cancelled; see to it"
            )
        if now < self._due:
            return None
        self._due = now + timing.repeat_s
        request = self._request
        if isinstance(request, Act | Look) and now - self._began >= timing.action_s:
            return Cancel(request.id, request.boot)
        return request

    def wait_s(self, now: float) -> float:
        """Return the seconds until `outgoing` is to be asked again."""
        return max(0.0, min(self._due, self._heard + self._timing.silence_s) - now)

    def receive(self, reply: Reply, now: float) -> Reply | None:
        """Return the result if `reply` is that; late answers to other requests count as signs of life.

        A reply that this request can't have does not: it is told if nothing else comes.
        """
        is_other = reply.id != self._request.id
        if not is_other and not isinstance(reply, ANSWERS[type(self._request)]):
            self._misplaced = (
                f" (it answered {self._request.kind!r} with {reply.kind!r}; docs/robots.md has the answers)"
            )
            return None
        self._heard = now
        return None if is_other or isinstance(reply, Working) else reply


class RobotLink:
    """A robot at the other end of a transport. Not safe to share between threads; it asks for one thing at a time."""

    def __init__(
        self, transport: Transport, timing: Timing | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._transport, self._timing, self._clock = transport, timing or Timing(), clock
        self._boot = ""
        self._garbled = ""

    def act(self, name: str, arguments: tuple[str, ...], *, action_id: str) -> Reply:
        """Ask for an action; return Done, Refused, or Forgotten if the robot was restarted. Raises RobotGone.

        Asking again with the same id does not repeat the action.
        """
        return self._ask(lambda boot: Act(action_id, boot, name, arguments))

    def look(self, of: str) -> Reply:
        """Ask for a look; return Seen, Pictured, Refused or Forgotten. Raises RobotGone."""
        request_id = uuid4().hex
        reply = self._ask(lambda boot: Look(request_id, boot, of))
        return self._ask(lambda boot: Look(request_id, boot, of)) if isinstance(reply, Forgotten) else reply

    def _ask(self, request: Callable[[str], Act | Look]) -> Reply:
        if not self._boot:
            self._boot = self._exchange(Hello(uuid4().hex)).boot
        reply = self._exchange(request(self._boot))
        self._boot = reply.boot
        return reply

    def _exchange(self, request: Request) -> Reply:
        exchange = Exchange(request, self._timing, now=self._clock())
        while True:
            try:
                due = exchange.outgoing(self._clock())
            except RobotGone as gone:
                raise RobotGone(f"{gone}{self._garbled}") from None
            if due is not None:
                self._transport.send(encode(due))
            line = self._transport.receive(exchange.wait_s(self._clock()))
            reply = None if line is None else self._read(line)
            result = None if reply is None else exchange.receive(reply, self._clock())
            if result is not None:
                return result

    def _read(self, line: bytes) -> Reply | None:
        """Return the reply of a line; a garbled one is as good as lost, and is told if nothing else comes."""
        try:
            return decode_reply(line)
        except InputError as error:
            self._garbled = f" (it sent {line[:60]!r}: {error})"
            return None

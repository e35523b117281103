"""Recording and replaying: a service that records every exchange, and one that answers from a recording alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from threading import Lock
from typing import Final, Protocol

from scenecypher.chat.canonical import canonical, canonical_hash
from scenecypher.chat.missing import explain_missing
from scenecypher.chat.model import Model, Reply, ReplySource, Request, Service
from scenecypher.chat.tape import Exchange, Origin, Tape, begin_tape, read_tape, write_exchange
from scenecypher.errors import InputError, ModelUnavailable

UNNAMED: Final = ""
_ORIGINS: Final[Mapping[ReplySource, Origin]] = {"live": "recorded", "recorded": "recorded", "scripted": "scripted"}


class _SessionOwner(Protocol):
    def reply_in(self, session: str, request: Request) -> Reply: ...


@dataclass(frozen=True, slots=True)
class CassetteSession:
    """One session's view of a recording or replaying service."""

    name: str
    owner: _SessionOwner

    def reply(self, request: Request) -> Reply:
        """Answer the next request of this session. Raises as the service does."""
        return self.owner.reply_in(self.name, request)


@dataclass(frozen=True, slots=True)
class _Remembering:
    """Model that remembers its exchanges."""

    ask: Callable[[Request], Reply]
    exchanges: list[tuple[Request, Reply]] = field(default_factory=list)

    def reply(self, request: Request) -> Reply:
        reply = self.ask(request)
        self.exchanges.append((request, reply))
        return reply


class Recording:
    """A service that also appends each of its replies to a new cassette, as it arrives or when its attempt succeeds.

    The file is created with the first reply and must not exist then. Failures of the service are not recorded. `origin`
    states the replies' origin if the service itself can't know it (a scripted server looks live).
    """

    def __init__(self, service: Service, file: Path, *, origin: Origin | None = None, note: str = "") -> None:
        self._service, self._file, self._stated, self._note = service, file, origin, note
        self._begun: Origin | None = None
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = Lock()

    def session(self, name: str) -> CassetteSession:
        """Return the session of this name; its exchanges are recorded under the name."""
        return CassetteSession(name, self)

    def reply(self, request: Request) -> Reply:
        """Ask in the unnamed session."""
        return self.reply_in(UNNAMED, request)

    def reply_in(self, session: str, request: Request) -> Reply:
        """Ask the service and record the exchange. Raises as the service does, and InputError for the file."""
        reply = self._ask(self._service.session(session), request)
        self._record(session, request, reply)
        return reply

    @contextmanager
    def attempt(self, name: str) -> Iterator[Model]:
        """Give a model whose exchanges are recorded in the session of this name when the block ends.

        None is recorded if the block raises. Raises InputError for the file.
        """
        model = _Remembering(partial(self._ask, self._service.session(name)))
        yield model
        for request, reply in model.exchanges:
            self._record(name, request, reply)

    def _ask(self, model: Model, request: Request) -> Reply:
        reply = model.reply(request)
        origin: Origin = self._stated or _ORIGINS[reply.source]
        with self._lock:
            self._begin(origin)
        return reply

    def _record(self, session: str, request: Request, reply: Reply) -> None:
        asked = canonical(request)
        key = session, canonical_hash(asked)
        with self._lock:
            write_exchange(self._file, Exchange(session, self._counts[key] + 1, asked, reply))
            self._counts[key] += 1

    def _begin(self, origin: Origin) -> None:
        if self._begun is None:
            begin_tape(self._file, origin=origin, note=self._note)
            self._begun = origin
        elif self._begun != origin:
            raise InputError(
                f"the cassette {self._file} holds {self._begun} replies; put {origin} ones in another file"
            )


class Replaying:
    """A service that answers only from a cassette, which is read on first use.

    `file` may be a resource of a package, such as `importlib.resources.files("package") / "name.jsonl"`. Raises as
    `read_tape` does.
    """

    def __init__(self, file: Path | Traversable) -> None:
        self._file = file
        self._tape: Tape | None = None
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._lock = Lock()

    @property
    def tape(self) -> Tape:
        """Return the cassette's content: its origin, note and exchanges."""
        return self._loaded()

    def session(self, name: str) -> CassetteSession:
        """Return the recorded session of this name."""
        return CassetteSession(name, self)

    @contextmanager
    def attempt(self, name: str) -> Iterator[Model]:
        """Give the recorded session of this name; if the block raises, its replies will be given again."""
        with self._lock:
            before = self._counts[name].copy()
        try:
            yield self.session(name)
        except BaseException:
            with self._lock:
                self._counts[name] = before
            raise

    def reply(self, request: Request) -> Reply:
        """Answer in the unnamed session."""
        return self.reply_in(UNNAMED, request)

    def reply_in(self, session: str, request: Request) -> Reply:
        """Return the reply recorded for this request. Raises ModelUnavailable, with the nearest, if there is none."""
        tape, asked = self._loaded(), canonical(request)
        key = canonical_hash(asked)
        with self._lock:
            occurrence = self._counts[session][key] + 1
            exchange = tape.exchanges.get((session, key, occurrence))
            if exchange is not None:
                self._counts[session][key] = occurrence
        if exchange is None:
            missing = explain_missing(tape, asked, session=session, occurrence=occurrence)
            raise ModelUnavailable(f"the cassette {self._file} lacks {missing}")
        return exchange.reply

    def _loaded(self) -> Tape:
        with self._lock:
            if self._tape is None:
                self._tape = read_tape(self._file)
            return self._tape

"""The watchdog: ends transactions that outlive their time, and has a server restarted that can't end them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from scenecypher.db.store.connection import Database
from scenecypher.errors import ServiceError

LOG: Final = logging.getLogger("scenecypher.db")
TICK_S: Final = 0.25
"""How often the thread looks. It is not woken for each query: that would cost more than the query's own Python."""
IDLE_TICKS: Final = 20
"""How often it looks in vain before it ends."""
AGAIN_S: Final = 1.0
"""How long after a first try a transaction that still runs is ended again."""
LOST: Final = (
    "a query still runs %.0f s after it was ended, which the server at %s can't do; restart that server, and set "
    "what docs/database.md advises for servers of your own"
)


@dataclass(slots=True)
class Watched:
    """A transaction being watched: when it is to be ended next, and when that was done first.

    `lost` says that it went on for too long after that: its server must be restarted.
    """

    due: float
    ended: float | None = None
    lost: bool = False


class Watchdog:
    """Ends marked transactions of one server at their time, looking each `tick_s` seconds.

    Where one still runs `lost_s` seconds after that, the server is restarted if it is the local one, else a warning
    says what to do.

    One thread, started when there is something to watch; it ends after a while in vain, and is then started again.
    """

    def __init__(self, database: Database, *, lost_s: float, tick_s: float = TICK_S) -> None:
        self._database, self._lost_s, self._tick_s = database, lost_s, tick_s
        self._lock = threading.Lock()
        self._due: dict[str, Watched] = {}
        self._awake = False

    @contextmanager
    def over(self, mark: str, seconds: float) -> Iterator[Watched]:
        """Watch the transaction begun with `mark` while the block runs."""
        watched = Watched(time.monotonic() + seconds)
        with self._lock:
            self._due[mark] = watched
            starting, self._awake = not self._awake, True
        if starting:
            threading.Thread(target=self._watch, name="scenecypher-watchdog", daemon=True).start()
        try:
            yield watched
        finally:
            with self._lock:
                del self._due[mark]

    def _watch(self) -> None:
        try:
            self._round()
        except BaseException:
            with self._lock:
                self._awake = False
            raise

    def _round(self) -> None:
        idle = 0
        while True:
            time.sleep(self._tick_s)
            idle = 0 if self._due else idle + 1
            if idle > IDLE_TICKS and self._retired():
                return
            for mark, watched in self._overdue():
                self._end(mark, watched)

    def _retired(self) -> bool:
        """Whether there is nothing to watch; from then on a new thread must be started."""
        with self._lock:
            self._awake = bool(self._due)
            return not self._awake

    def _overdue(self) -> list[tuple[str, Watched]]:
        """Return the transactions whose time is over; each is returned again after a while."""
        now = time.monotonic()
        with self._lock:
            found = [(mark, watched) for mark, watched in self._due.items() if watched.due <= now]
        for _, watched in found:
            watched.due = now + AGAIN_S
        return found

    def _end(self, mark: str, watched: Watched) -> None:
        try:
            self._database.terminate(mark)
            now = time.monotonic()
            watched.ended = watched.ended or now
            if now - watched.ended > self._lost_s and self._database.lingers(mark):
                self._give_up(mark, watched)
        except ServiceError as error:
            LOG.warning("can't end a transaction that is over its time: %s", error)

    def _give_up(self, mark: str, watched: Watched) -> None:
        """Have the server restarted, or say once that it should be. Raises ServiceError."""
        first, watched.lost = not watched.lost, True
        if not self._database.restart_if_lost(mark) and first and not self._database.is_supervised:
            LOG.warning(LOST, self._lost_s, self._database.address.uri)

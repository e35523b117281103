"""The watchdog: ends transactions that outlive their time, since the server's own timer may be dead or slow."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
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


class Watchdog:
    """Ends marked transactions of one server at their time, looking each `tick_s` seconds.

    One thread, started when there is something to watch; it ends after a while in vain, and is then started again.
    """

    def __init__(self, database: Database, *, tick_s: float = TICK_S) -> None:
        self._database, self._tick_s = database, tick_s
        self._lock = threading.Lock()
        self._due: dict[str, float] = {}
        self._awake = False

    @contextmanager
    def over(self, mark: str, seconds: float) -> Iterator[None]:
        """Watch the transaction begun with `mark` while the block runs."""
        with self._lock:
            self._due[mark] = time.monotonic() + seconds
            starting, self._awake = not self._awake, True
        if starting:
            threading.Thread(target=self._watch, name="scenecypher-watchdog", daemon=True).start()
        try:
            yield
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
            for mark in self._overdue():
                self._end(mark)

    def _retired(self) -> bool:
        """Whether there is nothing to watch; from then on a new thread must be started."""
        with self._lock:
            self._awake = bool(self._due)
            return not self._awake

    def _overdue(self) -> list[str]:
        """The marks of transactions whose time is over; each is named again after a while."""
        now = time.monotonic()
        with self._lock:
            marks = [mark for mark, due in self._due.items() if due <= now]
            self._due.update(dict.fromkeys(marks, now + AGAIN_S))
        return marks

    def _end(self, mark: str) -> None:
        try:
            self._database.terminate(mark)
        except ServiceError as error:
            LOG.warning("can't end a transaction that is over its time: %s", error)

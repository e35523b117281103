"""The watchdog: terminates overdue transactions, and has a server restarted that can't terminate them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from scenecypher.db.store.connection import ConnectionClosed, Database
from scenecypher.errors import ServiceError

LOG: Final = logging.getLogger("scenecypher.db")
TICK_S: Final = 0.25
"""Polling interval. The thread is not woken for each query, which would cost more than the query's own Python."""
IDLE_TICKS: Final = 20
"""Polls with nothing to watch after which the thread ends."""
RETRY_S: Final = 1.0
"""Interval after which a transaction that still runs is terminated again."""
LOST_WARNING: Final = (
    "a query still runs %.0f s after it was ended, which the server at %s can't do; restart that server, and set "
    "what docs/database.md advises for servers of your own"
)


@dataclass(slots=True)
class WatchedTransaction:
    """A watched transaction: when to terminate it next, and when it was terminated first, by the monotonic clock.

    `silent` is since when its server gives no answer at all. `lost` is true if one of both was too long ago: the server
    must be restarted.
    """

    due: float
    ended: float | None = None
    silent: float | None = None
    lost: bool = False


class Watchdog:
    """Terminates marked transactions of one server when they are overdue, polling every `tick_s` seconds.

    If one still runs `lost_s` seconds after it was terminated, or if nothing answers for as long, a local server is
    restarted; for any other server a warning says what to do. The polling thread starts when there is something to
    watch and ends when it is idle.
    """

    def __init__(self, database: Database, *, lost_s: float, tick_s: float = TICK_S) -> None:
        self._database, self._lost_s, self._tick_s = database, lost_s, tick_s
        self._lock = threading.Lock()
        self._due: dict[str, WatchedTransaction] = {}
        self._is_running = False

    @contextmanager
    def watch(self, mark: str, seconds: float) -> Iterator[WatchedTransaction]:
        """Watch the transaction begun with `mark` while the block runs."""
        watched = WatchedTransaction(time.monotonic() + seconds)
        with self._lock:
            self._due[mark] = watched
            starting, self._is_running = not self._is_running, True
        if starting:
            threading.Thread(target=self._run, name="scenecypher-watchdog", daemon=True).start()
        try:
            yield watched
        finally:
            with self._lock:
                del self._due[mark]

    def _run(self) -> None:
        try:
            self._poll()
        except BaseException as error:
            with self._lock:
                self._is_running = False
            if not isinstance(error, ConnectionClosed):  # what it watched ends with its connection
                raise

    def _poll(self) -> None:
        idle = 0
        while True:
            time.sleep(self._tick_s)
            idle = 0 if self._due else idle + 1
            if idle > IDLE_TICKS and self._stop_if_idle():
                return
            for mark, watched in self._overdue():
                self._terminate(mark, watched)

    def _stop_if_idle(self) -> bool:
        """Mark the thread as stopped if there is nothing to watch; return True if so."""
        with self._lock:
            self._is_running = bool(self._due)
            return not self._is_running

    def _overdue(self) -> list[tuple[str, WatchedTransaction]]:
        """Return the overdue transactions; each is due again after RETRY_S."""
        now = time.monotonic()
        with self._lock:
            found = [(mark, watched) for mark, watched in self._due.items() if watched.due <= now]
        for _, watched in found:
            watched.due = now + RETRY_S
        return found

    def _terminate(self, mark: str, watched: WatchedTransaction) -> None:
        try:
            if self._database.is_silent():
                watched.silent = since = watched.silent or time.monotonic()
            else:
                self._database.terminate(mark)
                watched.silent, watched.ended = None, watched.ended or time.monotonic()
                since = watched.ended
            if time.monotonic() - since > self._lost_s and (watched.silent or self._database.lingers(mark)):
                first, watched.lost = not watched.lost, True
                if not self._database.restart_if_lost(mark) and first and not self._database.is_supervised:
                    LOG.warning(LOST_WARNING, self._lost_s, self._database.address.uri)
        except ServiceError as error:
            LOG.warning("can't end a transaction that is over its time: %s", error)

"""The watchdog: ends transactions that outlive their time, since the server's own timer may be dead or slow."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from db.connection import Database
from scenecypher.errors import ServiceError

LOG: Final = logging.getLogger("scenecypher.db")
IDLE_S: Final = 5.0
"""How long the thread waits for new work before it ends."""
AGAIN_S: Final = 1.0
"""How long after a first try a transaction that still runs is ended again."""


class Watchdog:
    """Ends marked transactions of one server at their time. One thread, started when there is something to watch."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changed = threading.Condition()
        self._due: dict[str, float] = {}
        self._awake = False

    @contextmanager
    def over(self, mark: str, seconds: float) -> Iterator[None]:
        """Watch the transaction begun with `mark` while the block runs."""
        with self._changed:
            self._due[mark] = time.monotonic() + seconds
            if not self._awake:
                self._awake = True
                threading.Thread(target=self._watch, name="scenecypher-watchdog", daemon=True).start()
            elif len(self._due) == 1:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                del self._due[mark]

    def _watch(self) -> None:
        while True:
            mark = self._next()
            if mark is None:
                return
            try:
                self._database.terminate(mark)
            except ServiceError as error:
                LOG.warning("can't end a transaction that is over its time: %s", error)

    def _next(self) -> str | None:
        """The mark of a transaction whose time is over, as soon as there is one; None after a time without any."""
        with self._changed:
            while True:
                if not self._due:
                    if not self._changed.wait(IDLE_S) and not self._due:
                        self._awake = False
                        return None
                    continue
                mark = min(self._due, key=self._due.__getitem__)
                left = self._due[mark] - time.monotonic()
                if left <= 0:
                    self._due[mark] = time.monotonic() + AGAIN_S
                    return mark
                self._changed.wait(left)

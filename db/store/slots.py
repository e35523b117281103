"""Slots: a number of places that threads take in the order in which they came."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Final

NOTICE_S: Final = 0.5
"""How long a thread waits before it says so."""


class Slots:
    """A first-in-first-out semaphore; safe to share between threads."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._free, self._waiting = number, deque[Event]()
        self._lock = Lock()

    @contextmanager
    def taken(self, *, waiting: Callable[[int], None]) -> Iterator[None]:
        """Hold a slot while the block runs, after all who asked earlier.

        `waiting` is called once, with how many wait before this thread, if it waits for more than a moment.
        """
        turn = self._queued()
        if turn is not None:
            self._await(turn, waiting)
        try:
            yield
        finally:
            self._release()

    def _queued(self) -> Event | None:
        """Take a free slot, or a place in the queue."""
        with self._lock:
            if self._free:
                self._free -= 1
                return None
            turn = Event()
            self._waiting.append(turn)
            return turn

    def _await(self, turn: Event, waiting: Callable[[int], None]) -> None:
        try:
            if not turn.wait(NOTICE_S):
                waiting(self._ahead(turn))
                turn.wait()
        except BaseException:
            self._leave(turn)
            raise

    def _ahead(self, turn: Event) -> int:
        with self._lock:
            return self._waiting.index(turn) if turn in self._waiting else 0

    def _release(self) -> None:
        """Hand the slot to whoever has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1

    def _leave(self, turn: Event) -> None:
        """Give up a place in the queue, or the slot that was handed over meanwhile."""
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return
        self._release()

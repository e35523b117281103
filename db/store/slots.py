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
        self._holding, self._waiting = set[Event](), deque[Event]()
        self._lock = Lock()

    @contextmanager
    def taken(self, *, waiting: Callable[[int], None]) -> Iterator[None]:
        """Hold a slot while the block runs, after all who asked earlier.

        `waiting` is called once, with how many wait before this thread, if it waits for more than a moment.
        """
        turn = Event()
        try:  # whatever interrupts what follows, a slot that was taken is given back
            if not self._takes(turn):
                self._await(turn, waiting)
            yield
        finally:
            self._leave(turn)

    def _takes(self, turn: Event) -> bool:
        """Take a free slot, or else a place in the queue; tell whether there was one."""
        with self._lock:
            is_free = len(self._holding) < self.number
            if is_free:
                self._holding.add(turn)
            else:
                self._waiting.append(turn)
            return is_free

    def _await(self, turn: Event, waiting: Callable[[int], None]) -> None:
        if not turn.wait(NOTICE_S):
            waiting(self._ahead(turn))
            turn.wait()

    def _ahead(self, turn: Event) -> int:
        with self._lock:
            return self._waiting.index(turn) if turn in self._waiting else 0

    def _leave(self, turn: Event) -> None:
        """Give up a slot, which whoever has waited longest gets, or a place in the queue."""
        with self._lock:
            self._holding.discard(turn)
            if turn in self._waiting:
                self._waiting.remove(turn)
            while self._waiting and len(self._holding) < self.number:
                first = self._waiting.popleft()
                self._holding.add(first)
                first.set()

"""The line at the foot of a terminal that says what is waited for: a model, an engine or the database."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, RLock, Thread
from typing import Final

from scenecypher.waiting import listen

SHOWN_AFTER_S: Final = 2.0
TICK_S: Final = 0.5
USUAL_COLUMNS: Final = 80
ERASED: Final = "\r\x1b[K"


class WaitLine:
    """A line about the oldest wait, from two seconds on; safe to share between threads.

    `write` puts text on the terminal. Before anything else is printed there, `erase` clears the line.
    """

    def __init__(self, write: Callable[[str], object], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._numbers = itertools.count()
        self._waits: dict[int, tuple[float, str]] = {}
        self._lock, self._is_shown, self._hiding = RLock(), False, 0

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Wait for `what` in the block."""
        number = next(self._numbers)
        with self._lock:
            self._waits[number] = self._clock(), what
        try:
            yield
        finally:
            with self._lock:
                del self._waits[number]
                if not self._waits:
                    self.erase()

    def tick(self) -> None:
        """Bring the line up to date."""
        with self._lock:
            began, what = min(self._waits.values(), default=(self._clock(), ""))
            seconds = self._clock() - began
            if seconds < SHOWN_AFTER_S or self._hiding:
                self.erase()
                return
            self._write(f"{ERASED}waiting for {what} ({seconds:.0f} s)"[: _columns() + len(ERASED)])
            self._is_shown = True

    def erase(self) -> None:
        """Clear the line; the next tick shows it again."""
        with self._lock:
            if self._is_shown:
                self._write(ERASED)
                self._is_shown = False

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Show no line in the block, which shows a progress of its own."""
        with self._lock:
            self.erase()
            self._hiding += 1
        try:
            yield
        finally:
            with self._lock:
                self._hiding -= 1


def _print(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


LINE: Final = WaitLine(_print)
"""The line of this process's terminal."""


@contextmanager
def shown_waits() -> Iterator[None]:
    """Show the waits of the block if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    ended = Event()

    def run() -> None:
        while not ended.wait(TICK_S):
            LINE.tick()

    Thread(target=run, name="scenecypher-waits", daemon=True).start()
    listen(LINE.waiting)
    try:
        yield
    finally:
        listen(None)
        ended.set()
        LINE.erase()


def _columns() -> int:
    """Return the most columns that a line may have without being folded; some terminals say that they have none."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return (columns or USUAL_COLUMNS) - 1

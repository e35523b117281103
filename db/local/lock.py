"""A lock between processes that the system releases when its holder ends, however it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from scenecypher.errors import DatabaseUnavailable

WAIT_S: Final = 900.0
"""The other process may be downloading the server."""
TELL_AFTER_S: Final = 2.0
POLL_S: Final = 0.1


@contextmanager
def only_one(path: Path, *, tell: Callable[[str], None], wait_s: float = WAIT_S) -> Iterator[None]:
    """Run a block in one process at a time; others wait. Raises DatabaseUnavailable after `wait_s`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        _take(file, path, tell=tell, wait_s=wait_s)
        yield


def _take(file: IO[str], path: Path, *, tell: Callable[[str], None], wait_s: float) -> None:
    asked, told = time.monotonic(), False
    while not _free(file):
        waited = time.monotonic() - asked
        if waited > wait_s:
            msg = f"another process has held {path} for {waited:.0f} s; end it, then try again"
            raise DatabaseUnavailable(msg, retryable=True)
        if waited > TELL_AFTER_S and not told:
            tell("another process is starting or stopping the local server; waiting for it…")
            told = True
        time.sleep(POLL_S)


def _free(file: IO[str]) -> bool:
    """Take the lock if no one has it; closing the file gives it back."""
    import fcntl  # not on Windows

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

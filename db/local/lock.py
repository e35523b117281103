"""A lock between processes; the operating system releases it when its holder ends, even if killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scenecypher.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from filelock import FileLock

WAIT_S: Final = 900.0
"""Default wait: the other process may be downloading the server."""
TELL_DELAY_S: Final = 2.0


@contextmanager
def exclusive_lock(path: Path, *, tell: Callable[[str], None], wait_s: float = WAIT_S) -> Iterator[None]:
    """Run a block in one process at a time; others wait. Raises DatabaseUnavailable after `wait_s`."""
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    _acquire(lock, tell=tell, wait_s=wait_s)
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: FileLock, *, tell: Callable[[str], None], wait_s: float) -> None:
    from filelock import Timeout

    try:
        lock.acquire(min(TELL_DELAY_S, wait_s))
    except Timeout:
        tell("another process is starting or stopping the local server; waiting for it…")
        try:
            lock.acquire(max(wait_s - TELL_DELAY_S, 0))
        except Timeout as error:
            msg = f"another process has held {lock.lock_file} for {wait_s:.0f} s; end it, then try again"
            raise DatabaseUnavailable(msg, retryable=True) from error

"""The server's process, detached from ours and ended so that it writes its data first; and a lock between processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from scenecypher.errors import DatabaseUnavailable

STOP_S: Final = 120.0
KILL_S: Final = 10.0
POLL_S: Final = 0.05
LOCK_WAIT_S: Final = 900.0
"""Default wait for a lock: the other process may be downloading the server."""
TELL_DELAY_S: Final = 2.0
ENVIRONMENT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")
"""Variables passed on to the server: no keys, no Java options meant for other programs."""

# The launcher ends at once, so init adopts the server: it leaves us no zombie and gets no Ctrl-C.
LAUNCH: Final = """
import subprocess, sys
with open(sys.argv[1], "wb") as log:
    print(subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True).pid)
"""


def launch(command: Sequence[str], *, log: Path, folder: Path) -> int:
    """Start a detached process that outlives ours; return its id."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-I", "-c", LAUNCH, str(log), *command],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=java_environment(),
        start_new_session=True,
    )
    return int(done.stdout)


def java_environment() -> dict[str, str]:
    """Return the few environment variables that Java needs."""
    return {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}


def is_running(pid: int, *, mark: str) -> bool:
    """Check if process `pid` is alive and has `mark` among its arguments: an id alone may be reused."""
    import psutil

    try:
        return mark in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False


def is_listening(pid: int, port: int) -> bool:
    """Check if process `pid` itself listens at `port`."""
    import psutil

    try:
        return any(
            connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
            for connection in psutil.Process(pid).net_connections("tcp")
        )
    except psutil.Error:
        return False


def find_process(mark: str) -> int | None:
    """Return the id of the process that has `mark` among its arguments, whoever started it; else None."""
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if mark in process.cmdline():
                return int(process.pid)
    return None


def terminate(pid: int, *, within_s: float = STOP_S) -> None:
    """Ask a process to end and wait for it; kill it after `within_s`."""
    import psutil

    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        process.terminate()
        try:
            process.wait(within_s)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(timeout=KILL_S)


@contextmanager
def exclusive_lock(path: Path, *, tell: Callable[[str], None], wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Run a block in one process at a time; others wait. Raises DatabaseUnavailable after `wait_s`.

    The operating system releases the lock when its holder ends, even if killed.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(min(TELL_DELAY_S, wait_s))
    except Timeout:
        tell("another process is starting or stopping the local server; waiting for it…")
        try:
            lock.acquire(max(wait_s - TELL_DELAY_S, 0))
        except Timeout as error:
            msg = f"another process has held {lock.lock_file} for {wait_s:.0f} s; end it, then try again"
            raise DatabaseUnavailable(msg, retryable=True) from error
    try:
        yield
    finally:
        lock.release()

"""The server's process: detached from ours, identified by its arguments, ended so that it writes its data first."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

STOP_S: Final = 120.0
KILL_S: Final = 10.0
POLL_S: Final = 0.05
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

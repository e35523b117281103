"""The server's process: started apart from ours, found by what it runs, ended so that it flushes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

STOP_S: Final = 120.0
KILL_S: Final = 10.0
POLL_S: Final = 0.05
ENVIRONMENT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")
"""The server sees nothing else of ours: no keys, no Java options meant for other programs."""

# A child of a child that ends at once belongs to init: no zombie stays with us, no Ctrl-C reaches it.
LAUNCH: Final = """
import subprocess, sys
with open(sys.argv[1], "wb") as log:
    print(subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True).pid)
"""


def launch(command: Sequence[str], *, log: Path, folder: Path) -> int:
    """Start a process of its own that outlives ours; its id."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-I", "-c", LAUNCH, str(log), *command],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(),
        start_new_session=True,
    )
    return int(done.stdout)


def environment() -> dict[str, str]:
    """The little of our environment that Java needs."""
    return {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}


def runs(pid: int, *, mark: str) -> bool:
    """Whether process `pid` is alive and has `mark` among its arguments: an id alone may be anybody's by now."""
    import psutil

    try:
        return mark in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False


def listens(pid: int, port: int) -> bool:
    """Whether process `pid` itself waits for connections at `port`."""
    import psutil

    try:
        return any(
            connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
            for connection in psutil.Process(pid).net_connections("tcp")
        )
    except psutil.Error:
        return False


def find(mark: str) -> int | None:
    """The process that has `mark` among its arguments, whoever started it."""
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if mark in process.cmdline():
                return int(process.pid)
    return None


def end(pid: int, *, mark: str, within_s: float = STOP_S) -> None:
    """Ask a process to end and wait until it did; after `within_s` it is killed, and its end awaited."""
    import psutil

    with suppress(psutil.Error):
        process = psutil.Process(pid)
        process.terminate()
        deadline = time.monotonic() + within_s
        while runs(pid, mark=mark) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        if runs(pid, mark=mark):
            process.kill()
            process.wait(timeout=KILL_S)

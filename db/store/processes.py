"""The process that carries a run out: named so that another one can tell whether it is gone."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SAME_START_S: Final = 2.0
"""Start times of one process, as read twice, differ by less."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process by its host, id and start, in seconds since 1970 (0.0: not known); an id alone may be reused.

    `space` tells containers and machines apart that have one host's name.
    """

    host: str
    pid: int
    started: float = 0.0
    space: str = ""

    @property
    def is_here(self) -> bool:
        """Check whether it is, or was, a process of this host, container and start of the machine."""
        return self.host == socket.gethostname() and self.space == process_space()


def this_process() -> Process:
    """Return the running process."""
    import psutil

    return Process(socket.gethostname(), os.getpid(), psutil.Process().create_time(), process_space())


def process_space() -> str:
    """Return what tells processes apart that have one host's name and id: container and start of the machine.

    It is empty except on Linux.
    """
    try:
        return f"{Path('/proc/self/ns/pid').readlink()} {Path('/proc/sys/kernel/random/boot_id').read_text().strip()}"
    except OSError:
        return ""


def is_gone(process: Process) -> bool:
    """Check whether a process of this host has ended; of another host's that can't be known, and is False."""
    if not process.is_here:
        return False
    import psutil

    try:
        found = psutil.Process(process.pid)
        is_other = process.started > 0 and abs(found.create_time() - process.started) > SAME_START_S
        return is_other or bool(found.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False

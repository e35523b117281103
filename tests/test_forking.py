"""Commands in forks of one process: signals reach them, and what is not installed does not end it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.forking import import_if_installed
from tests.waiting import until


@pytest.mark.parametrize(
    ("library", "module"),
    [("neo4j_graphrag", "scenecypher.chat.graphrag"), ("uvicorn", "uvicorn")],
)
def test_a_module_whose_library_is_missing_is_left_out(
    library: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name == module or name.partition(".")[0] == library:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    import_if_installed(module)
    assert sys.modules.get(module) is None


def test_a_signal_reaches_the_fork(forks: Path) -> None:
    # It sleeps again and again: a signal just before a blocking read would be handled only after that read.
    code = """
import time
try:
    print("ready", flush=True)
    while True:
        time.sleep(0.05)
except KeyboardInterrupt:
    raise SystemExit(7)
"""
    with started(forks, code) as program:
        assert program.stdout.readline() == "ready\n"  # type: ignore[union-attr]
        program.send_signal(signal.SIGINT)
        assert program.wait(60) == 7


def test_the_fork_of_a_killed_program_is_killed(forks: Path) -> None:
    with started(forks, "import os, time; print(os.getpid(), flush=True); time.sleep(600)") as program:
        fork = int(program.stdout.readline())  # type: ignore[union-attr]
        assert fork != program.pid
        program.kill()
        until(lambda: not psutil.pid_exists(fork), within_s=60)


def test_a_program_ends_by_the_signal_that_ended_its_fork(forks: Path) -> None:
    with started(forks, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)") as program:
        assert program.wait(60) == -signal.SIGTERM


def started(forks: Path, code: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([forks / "python", "-c", code], stdin=pipe, stdout=pipe, text=True)

"""`scenecypher` as a program of its own: streams that are closed or full, and Ctrl-C before it has begun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = "scenecypher methods"


@pytest.mark.parametrize(
    ("line", "code", "err"),
    [
        pytest.param("scenecypher session nowhere <&- >&-", 2, "no scene named", id="neither input nor output"),
        pytest.param("PYTHONIOENCODING=latin1 scenecypher query --help", 0, "", id="an encoding without an ellipsis"),
        pytest.param("COLUMNS=0 scenecypher methods magic", 2, "there is no method 'magic'", id="a width of nothing"),
        pytest.param("scenecypher methods magic 2>&-", 2, "", id="no errors"),
        pytest.param("scenecypher methods stepwise >/dev/full", 2, "free some space", id="a full disk"),
        pytest.param("scenecypher methods stepwise --json >/dev/full", 2, "free some space", id="a full disk, as JSON"),
        pytest.param(
            "NEO4J_URI= SCENECYPHER_HOME=/dev/null/x scenecypher db start", 2, "correct the path", id="no such folder"
        ),
    ],
)
def test_streams_may_be_closed_or_full(user_env: dict[str, str], line: str, code: int, err: str) -> None:
    if "/dev/full" in line and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell, env = ["/bin/sh", "-c", line], {**os.environ, **user_env, "PATH": path}
    ran = subprocess.run(shell, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert ran.returncode == code, ran
    assert err in ran.stderr
    assert "Traceback" not in ran.stderr


def test_ctrl_c_while_modules_are_read_ends_without_a_traceback() -> None:
    interrupted = f"""
import os, signal, sys, importlib.abc
class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "typer":
            os.kill(os.getpid(), {int(signal.SIGINT)})
sys.meta_path.insert(0, Interrupting())
from scenecypher.cli import main
main()
"""
    ran = subprocess.run([sys.executable, "-c", interrupted], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (130, "")

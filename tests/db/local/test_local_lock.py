"""The lock: one process at a time, released when its holder dies."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from scenecypher.db.local.process import exclusive_lock
from scenecypher.errors import DatabaseUnavailable

HOLD = """
import sys, time
from pathlib import Path
from scenecypher.db.local.process import exclusive_lock

with exclusive_lock(Path(sys.argv[1]), tell=print):
    print("held", flush=True)
    time.sleep(60)
"""


def test_locked_blocks_do_not_overlap(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        with exclusive_lock(tmp_path / "lock", tell=print):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.02)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 5


def test_the_lock_of_a_killed_process_is_released(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        lines: list[str] = []
        with pytest.raises(DatabaseUnavailable, match="end it"), exclusive_lock(lock, tell=lines.append, wait_s=2.5):
            pass
        assert "waiting" in lines[0]
        holder.kill()
    with exclusive_lock(lock, tell=lines.append, wait_s=5):
        pass
    assert len(lines) == 1

"""A disk that is full: a small file system in memory, mounted for one test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

SIZE: Final = "256k"
BLOCK: Final = 4_096


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a small file system at `folder` and yield it. Skips the test where that is not allowed."""
    folder.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder))
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("a small disk needs `mount`, which this system lacks")
    if done.returncode:
        pytest.skip(f"a small disk needs the right to mount one, which root has: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(("umount", "--lazy", str(folder)), check=True)


def fill(folder: Path, *, left: int = 0) -> None:
    """Fill the disk of `folder` up to its last byte but `left`."""
    free = os.statvfs(folder).f_bavail * BLOCK - left
    (folder / "filler").write_bytes(b"x" * free)

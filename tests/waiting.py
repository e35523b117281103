"""Waiting in tests for what another thread, process or server does."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(holds: Callable[[], object], *, within_s: float = 120) -> None:
    """Wait until `holds` returns something true."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"it did not hold within {within_s:g} s"
        time.sleep(0.02)

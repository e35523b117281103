"""What the program waits for at the moment: a model, an engine or a server; a command line and a page show it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeAlias

Listener: TypeAlias = Callable[[str], AbstractContextManager[None]]
"""Receives what is waited for, such as "the database"; the wait ends with the context."""

_NOBODY: Listener = lambda _: nullcontext()  # noqa: E731 - a value, replaced by `listen`
_listener = _NOBODY
_waits: dict[object, tuple[float, str]] = {}
"""When each wait under way began, and for what. Each operation on it is atomic."""


def listen(listener: Listener | None) -> None:
    """Have every wait of this process, in any thread, told to `listener`; None ends it."""
    global _listener  # noqa: PLW0603 - one command line a process
    _listener = listener or _NOBODY


@contextmanager
def waiting_for(what: str) -> Iterator[None]:
    """Wait for `what` in the block."""
    wait = object()
    _waits[wait] = time.monotonic(), what
    try:
        with _listener(what):
            yield
    finally:
        del _waits[wait]


def waits(*, over_s: float = 1.0) -> tuple[str, ...]:
    """Return what any thread has waited for longer than `over_s`, each once, the longest wait first."""
    now = time.monotonic()
    return tuple(dict.fromkeys(what for since, what in sorted(_waits.copy().values()) if now - since > over_s))

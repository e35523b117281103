"""What the program waits for at the moment: a model, an engine or a server; a command line shows it to a person."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

Listener: TypeAlias = Callable[[str], AbstractContextManager[None]]
"""Receives what is waited for, such as "the database"; the wait ends with the context."""

_NOBODY: Listener = lambda _: nullcontext()  # noqa: E731 - a value, replaced by `listen`
_listener = _NOBODY


def listen(listener: Listener | None) -> None:
    """Have every wait of this process, in any thread, told to `listener`; None ends it."""
    global _listener  # noqa: PLW0603 - one command line a process
    _listener = listener or _NOBODY


def waiting_for(what: str) -> AbstractContextManager[None]:
    """Return the context of a wait for `what`."""
    return _listener(what)

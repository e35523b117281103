"""Looks at a scene's version, shared among threads: one that began after several queries ended serves all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition


@dataclass(slots=True)
class Looks:
    """Looks at one scene. Safe to share between threads."""

    _changed: Condition = field(default_factory=Condition)
    _begun: int = 0
    _ended: int = 0
    _under_way: bool = False
    _version: int = 0

    def fresh(self, look: Callable[[], int]) -> int:
        """The version as a look sees it that begins after this call: `look` itself, or another thread's.

        What `look` raises reaches its own caller alone; the others look again.
        """
        with self._changed:
            wanted = self._begun + 1
            while self._under_way and self._ended < wanted:
                self._changed.wait()
            if self._ended >= wanted:
                return self._version
            self._begun += 1
            number, self._under_way = self._begun, True
        try:
            version = look()
        except BaseException:
            self._end()
            raise
        self._end(number, version)
        return version

    def _end(self, number: int | None = None, version: int = 0) -> None:
        with self._changed:
            self._under_way = False
            if number is not None:
                self._ended, self._version = number, version
            self._changed.notify_all()

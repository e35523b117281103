"""Looks at a scene's version, shared among threads: one that began after several queries ended serves all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition

from scenecypher.errors import ServiceError


@dataclass(slots=True)
class Looks:
    """Looks at one scene. Safe to share between threads."""

    _changed: Condition = field(default_factory=Condition)
    _begun: int = 0
    _ended: int = 0
    _under_way: bool = False
    _outcome: int | ServiceError = 0

    def fresh(self, look: Callable[[], int]) -> int:
        """The version as a look sees it that begins after this call: `look` itself, or another thread's.

        A ServiceError of a shared look reaches all who waited for it; what else `look` raises, its own caller alone.
        """
        number = 0
        outcome: int | ServiceError | None = None
        try:
            with self._changed:
                wanted = self._begun + 1
                while self._under_way and self._ended < wanted:
                    self._changed.wait()
                if self._ended >= wanted:
                    return _version(self._outcome)
                number = self._begun = self._begun + 1
                self._under_way = True
            version = outcome = look()
        except ServiceError as error:
            outcome = error
            raise
        finally:
            if number:
                self._end(number, outcome)
        return version

    def _end(self, number: int, outcome: int | ServiceError | None) -> None:
        with self._changed:
            self._under_way = False
            if outcome is not None:
                self._ended, self._outcome = number, outcome
            self._changed.notify_all()


def _version(outcome: int | ServiceError) -> int:
    if isinstance(outcome, ServiceError):
        raise outcome
    return outcome

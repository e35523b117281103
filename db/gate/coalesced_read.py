"""Coalesced reads of a scene's version: threads that wait at the same time share one read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition

from scenecypher.errors import ServiceError


@dataclass(slots=True)
class CoalescedRead:
    """A read that concurrent callers share. Safe to share between threads."""

    _changed: Condition = field(default_factory=Condition)
    _begun: int = 0
    _ended: int = 0
    _under_way: bool = False
    _outcome: int | ServiceError = 0

    def fresh(self, read: Callable[[], int]) -> int:
        """Return the version from a read that begins after this call: this thread's own, or another's.

        A ServiceError of a shared read is raised in all waiting threads, any other error only in the thread that read.
        """
        number = 0
        outcome: int | ServiceError | None = None
        try:
            with self._changed:
                wanted = self._begun + 1
                while self._under_way and self._ended < wanted:
                    self._changed.wait()
                if self._ended >= wanted:
                    return _value(self._outcome)
                number = self._begun = self._begun + 1
                self._under_way = True
            version = outcome = read()
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


def _value(outcome: int | ServiceError) -> int:
    if isinstance(outcome, ServiceError):
        raise outcome
    return outcome

"""The latest versions of scenes that this process has seen; threads that wait at the same time share one read."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final

from scenecypher.errors import ServiceError

SCENES_NOTED: Final = 10_000


class Versions:
    """The latest version of each scene that was read or written here. Safe to share between threads."""

    def __init__(self) -> None:
        self._latest: dict[str, int] = {}
        self._steady: dict[str, tuple[int, int]] = {}
        self._reads: dict[str, CoalescedRead] = {}

    def latest(self, key: str) -> int | None:
        """Return the latest version seen, None if none was."""
        return self._latest.get(key)

    def note(self, key: str, version: int) -> None:
        """Note a version that a finished read or commit of this process returned.

        Too many are forgotten all at once, which costs a read each.
        """
        if len(self._latest) > SCENES_NOTED:
            self._latest.clear()
            self._steady.clear()
            self._reads.clear()
        self._latest[key] = max(version, self._latest.get(key, 0))

    def note_steady(self, key: str, version: int, epoch: int) -> None:
        """Note the version that the scene has at an epoch of the reads' bookmarks."""
        self._steady[key] = (version, epoch)

    def is_steady(self, key: str, version: int, epoch: int | None) -> bool:
        """Check whether the scene is known to have that version at that epoch."""
        return self._steady.get(key) == (version, epoch)

    def fresh(self, key: str, read: Callable[[], int]) -> int:
        """Return the version from a read that begins after this call, perhaps another thread's, and note it."""
        shared = self._reads.get(key) or self._reads.setdefault(key, CoalescedRead())
        version = shared.fresh(read)
        self.note(key, version)
        return version


class CoalescedRead:
    """A read that concurrent callers share. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._begun = self._ended = 0
        self._outcome: int | ServiceError = 0

    def fresh(self, read: Callable[[], int]) -> int:
        """Return the version from a read that begins after this call: this thread's own, or another's.

        A ServiceError of a shared read is raised in all waiting threads, any other error only in the thread that read.
        """
        wanted = self._begun + 1
        with self._lock:
            if self._ended < wanted:
                self._begun += 1
                try:
                    self._outcome = read()
                except ServiceError as error:
                    self._outcome = error
                self._ended = self._begun
            outcome = self._outcome
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome

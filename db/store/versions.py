"""What this process has seen of its database: the latest versions of scenes, and the bookmarks of its reads."""

from __future__ import annotations

from collections.abc import Callable, Collection
from threading import Lock
from typing import Final

from neo4j.api import BookmarkManager

from scenecypher.db.store.sharing import CoalescedRead

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


class ReadBookmarks(BookmarkManager):
    """The bookmarks with which a connection's next read begins. Safe to share between threads.

    `epoch` numbers them: it is another number after any read that ended with other bookmarks than it began with, and
    None before the first. While it stays the same, each read began and ended with the same bookmark, so that no commit
    was applied meanwhile, in part or whole: all those reads saw the same state of the database.
    """

    def __init__(self) -> None:
        self._bookmarks: frozenset[str] = frozenset()
        self._lock = Lock()
        self.epoch: int | None = None

    def get_bookmarks(self) -> Collection[str]:
        """Return the bookmarks that the next read waits for."""
        return self._bookmarks

    def update_bookmarks(self, previous_bookmarks: Collection[str], new_bookmarks: Collection[str]) -> None:
        """Replace the bookmarks with which a transaction began by those with which it ended."""
        with self._lock:
            current = self._bookmarks.difference(previous_bookmarks).union(new_bookmarks)
            if current != self._bookmarks:
                self._bookmarks, self.epoch = current, (self.epoch or 0) + 1

"""Bookmarks of reads: what they may have seen a part of, passed on from read to read."""

from __future__ import annotations

from collections.abc import Collection
from threading import Lock

from neo4j.api import BookmarkManager


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

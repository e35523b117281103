"""What threads share: a cache, slots, a read that they wait for together, what was seen of versions and bookmarks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Final, Generic, TypeVar

import cachetools
from neo4j.api import BookmarkManager

from scenecypher.errors import ServiceError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """A cache of at most `most` values, none of which is None. Safe to share between threads."""

    def __init__(self, most: int) -> None:
        self._values: cachetools.LRUCache[K, V] = cachetools.LRUCache(most)
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """Return the value of `key`, or None."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Store a value; a full cache drops its least recently used one."""
        with self._lock:
            self._values[key] = value

    def get_or_create(self, key: K, create: Callable[[], V]) -> V:
        """Return the value of `key`; create and store it if it is missing. Two threads may both create it."""
        value = self.get(key)
        if value is None:
            value = create()
            self.put(key, value)
        return value


NOTICE_S: Final = 0.5
"""How long a thread waits before it says so."""


class Slots:
    """A first-in-first-out semaphore: places that threads take in the order in which they came."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._holding, self._waiting = set[Event](), deque[Event]()
        self._lock = Lock()

    @contextmanager
    def taken(self, *, waiting: Callable[[int], None]) -> Iterator[None]:
        """Hold a slot while the block runs, after all who asked earlier.

        `waiting` is called once, with how many wait before this thread, if it waits for more than a moment.
        """
        turn = Event()
        try:  # whatever interrupts what follows, a slot that was taken is given back
            if not self._takes(turn) and not turn.wait(NOTICE_S):
                with self._lock:
                    ahead = self._waiting.index(turn) if turn in self._waiting else 0
                waiting(ahead)
                turn.wait()
            yield
        finally:
            self._leave(turn)

    def _takes(self, turn: Event) -> bool:
        """Take a free slot, or else a place in the queue; tell whether there was one."""
        with self._lock:
            is_free = len(self._holding) < self.number
            if is_free:
                self._holding.add(turn)
            else:
                self._waiting.append(turn)
            return is_free

    def _leave(self, turn: Event) -> None:
        """Give up a slot, which whoever has waited longest gets, or a place in the queue."""
        with self._lock:
            self._holding.discard(turn)
            if turn in self._waiting:
                self._waiting.remove(turn)
            while self._waiting and len(self._holding) < self.number:
                first = self._waiting.popleft()
                self._holding.add(first)
                first.set()


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

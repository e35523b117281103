"""A least-recently-used cache that threads can share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import cachetools

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """A cache of at most `most` values. Safe to share between threads."""

    def __init__(self, most: int) -> None:
        self._values: cachetools.LRUCache[K, V] = cachetools.LRUCache(most)
        self._lock = threading.Lock()

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

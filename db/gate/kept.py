"""What was made of a text before, kept for the next time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from cachetools import LRUCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """The values used last, up to a number, for many threads."""

    def __init__(self, most: int) -> None:
        self._values: LRUCache[K, V] = LRUCache(most)
        self._lock = threading.Lock()

    def peek(self, key: K) -> V | None:
        """Return the value kept for `key`, if any."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep a value, and evict the least recently used one."""
        with self._lock:
            self._values[key] = value

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value kept for `key`, else made now."""
        value = self.peek(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

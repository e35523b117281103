"""What was made of a text before, kept for the next time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """The values used last, up to a number, for many threads."""

    def __init__(self, most: int) -> None:
        self._most, self._values = most, OrderedDict[K, V]()
        self._lock = threading.Lock()

    def peek(self, key: K) -> V | None:
        """The value kept for `key`, if any."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: K, value: V) -> None:
        """Keep a value, and forget the one unused for longest."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value kept for `key`, else made now."""
        value = self.peek(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

"""Nearness of words by meaning: cosines of vectors, from whatever gives them."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from threading import Lock
from typing import Final, TypeAlias

from cachetools import LRUCache

from scenecypher.errors import ModelUnavailable, UnknownReference

Vector: TypeAlias = Sequence[float]
Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Vector]]
"""Returns a vector for each text."""

LEAST: Final = 0.33
"""Least cosine of two words for the same thing: measured, tap and faucet have 0.34, stove and oven 0.31."""
KEPT: Final = 8_192
BATCH: Final = 256
PAUSE_S: Final = 30.0
"""Seconds for which a service that failed for a moment is left alone."""
_log: Final = logging.getLogger("scenecypher.meaning")


@dataclass(frozen=True, slots=True)
class Near:
    """A known word near to another in meaning; `cosine` is at most 1."""

    word: str
    cosine: float


class Meaning:
    """Nearness of words by the vectors of `load()`, which is called at the first use; thread-safe.

    Where there are none, or no longer, nothing is near anything: a failure that may pass lasts `PAUSE_S`, by `clock`.
    """

    def __init__(
        self, load: Callable[[], Embed | None] = lambda: None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._load, self._clock, self._lock = load, clock, Lock()
        self._absent_until = -math.inf
        self._failures = 0
        self._vectors: LRUCache[str, Vector] = LRUCache(KEPT)

    def nearest(self, text: str, known: Sequence[str], *, limit: int = 3, least: float = LEAST) -> tuple[Near, ...]:
        """Return the `limit` of `known` that are nearest to `text`, the nearest first; none below the cosine `least`.

        Underscores count as blanks, and capital letters as small ones. A compound is near if its last word is, too: a
        ``kitchen_counter`` is a counter, so that it is not near to what else is in a kitchen.
        """
        if not known:
            return ()
        plain = {word: _plain(word) for word in known}
        heads = {word: _plain(_head(word)) for word in known}
        vectors = self._embedded(dict.fromkeys((_plain(text), *plain.values(), *heads.values())))
        if not vectors:
            return ()
        here = vectors[_plain(text)]
        found = [Near(word, _cosine(here, vectors[one])) for word, one in plain.items()]
        near = [it for it in found if it.cosine >= least and _cosine(here, vectors[heads[it.word]]) >= least]
        return tuple(sorted(near, key=lambda it: (-it.cosine, it.word))[:limit])

    @property
    def state(self) -> tuple[int, bool]:
        """What changes when vectors fail or are there again: whoever keeps a result keeps it by this."""
        return self._failures, self._clock() < self._absent_until

    def explained(self, error: UnknownReference) -> UnknownReference:
        """Return the error with the known words that mean what the unknown one means."""
        near: list[str] = []
        for it in self.nearest(error.word, error.known):  # names and ids such as couch_352 only repeat their class
            if it.word not in str(error) and not it.word.startswith(tuple(near)):
                near.append(it.word)
        if not near:
            return error
        meant = " or ".join(map(repr, near))
        return UnknownReference(f"{error}; in this scene {error.word!r} may be {meant}", error.word, error.known)

    @cached_property
    def _embed(self) -> Embed | None:
        return self._load()

    def _embedded(self, words: dict[str, None]) -> dict[str, Vector]:
        """Return the unit vectors of some words; none at all if they can't be had."""
        with self._lock:
            embed = self._embed
            if embed is None or self._clock() < self._absent_until:
                return {}
            found = {word: self._vectors[word] for word in words if word in self._vectors}
        missing = [word for word in words if word not in found]
        try:
            for start in range(0, len(missing), BATCH):
                batch = missing[start : start + BATCH]
                found.update(zip(batch, map(_unit, embed(batch)), strict=True))
        except ModelUnavailable as error:
            _log.warning("words are compared by their letters alone: %s", error)
            self._failures += 1
            self._absent_until = self._clock() + PAUSE_S if error.retryable else math.inf
            return {}
        with self._lock:
            self._vectors.update(found)
        return found


NO_MEANING: Final = Meaning()


def _plain(word: str) -> str:
    return word.replace("_", " ").casefold()


def _head(name: str) -> str:
    """Return the last word of a name such as ``kitchen_counter_12``, without its number; any other text as it is."""
    words = [word for word in name.split("_") if word and not word.isdigit()]
    return words[-1] if len(words) > 1 else name


def _cosine(one: Vector, other: Vector) -> float:
    return float(sum(map(mul, one, other)))


def _unit(vector: Vector) -> Vector:
    length = math.hypot(*vector)
    return tuple(number / length for number in vector) if length else vector

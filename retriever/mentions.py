"""Detection of a scene's names in a question, by words alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final, Self

_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDINGS: Final = (
    ("ves", "f"),
    ("ve", "f"),
    ("fe", "f"),
    ("ies", "y"),
    ("ie", "y"),
    ("sses", "ss"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("s", ""),
)
_SHORT: Final = 3


class Mention(IntEnum):
    """The part of a name that a text holds."""

    NONE = 0
    PART = 1
    WHOLE = 2


@dataclass(frozen=True, slots=True)
class Mentions:
    """The stems of a text's words."""

    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the stems of `text`, and each two neighbours joined (``table lamp``, ``tablelamp``)."""
        words = stems(text)
        return cls(frozenset(words) | {one + other for one, other in pairwise(words)})

    def restricted_to(self, words: frozenset[str]) -> Mentions:
        """Keep these words only. With `words_of` some names, each of them is mentioned as before."""
        return Mentions(self.words & words)

    def mention(self, name: str) -> Mention:
        """Return WHOLE if the text mentions all of `name`, PART for a word of it, else NONE."""
        words = _stems_of(name)
        if words and ("".join(words) in self.words or self.words.issuperset(words)):
            return Mention.WHOLE
        return Mention.PART if any(len(word) >= _SHORT and word in self.words for word in words) else Mention.NONE


def words_of(names: Iterable[str]) -> frozenset[str]:
    """Return all words by which a text may mention one of `names`."""
    return frozenset(word for words in map(_stems_of, names) for word in (*words, "".join(words)))


@lru_cache(maxsize=4_096)
def _stems_of(name: str) -> tuple[str, ...]:
    """Return a name's stems; cached, since a scene's names are looked up with each question."""
    return tuple(stems(name))


def stems(text: str) -> list[str]:
    """Return the words and numbers of a text in order, without case and plural.

    A stem is a common form, not always a word: knife and knives are ``knif``.
    """
    return [_stem(word.casefold()) for word in _WORD.findall(_CAMEL.sub(" ", text))]


def _stem(word: str) -> str:
    if len(word) <= _SHORT or word.endswith(("ss", "us", "is")):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    return word

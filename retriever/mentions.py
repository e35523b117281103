"""Detection of a scene's names in a question, by words alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Self

from scenecypher.words import SHORT, stems, stems_of


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
        words = stems_of(name)
        if words and ("".join(words) in self.words or self.words.issuperset(words)):
            return Mention.WHOLE
        return Mention.PART if any(len(word) >= SHORT and word in self.words for word in words) else Mention.NONE


def words_of(names: Iterable[str]) -> frozenset[str]:
    """Return all words by which a text may mention one of `names`."""
    return frozenset(word for words in map(stems_of, names) for word in (*words, "".join(words)))

"""Words beside the names of a scene or a table: stems, the names that a word stands for, and those spelt alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

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
SHORT: Final = 3
"""Letters of a word that has no ending, and of the shortest one that names are suggested for by their words."""
COMPOUND: Final = 4
"""Letters of the shortest word that is looked for at the end of others: lamp in tablelamp."""
ALIKE: Final = 0.6
"""Least likeness of spelling, by difflib's measure."""


def stems(text: str) -> list[str]:
    """Return the words and numbers of a text in order, without case and plural.

    A stem is a common form, not always a word: knife and knives are ``knif``.
    """
    return [_stem(word.casefold()) for word in _WORD.findall(_CAMEL.sub(" ", text))]


@lru_cache(maxsize=4_096)
def stems_of(name: str) -> tuple[str, ...]:
    """Return a name's stems; cached, since a scene's names are looked up with each question."""
    return tuple(stems(name))


def named_by(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that a word stands for, the word itself first, else in the order of `names`.

    They are compounds that end with it, as English ones do (egg: food_egg; lamp: tablelamp), else those that hold it.
    """
    word = "".join(stems_of(text))
    if not word:
        return ()
    ending, holding = list[str](), list[str]()
    for name in names:
        parts = stems_of(name)
        if parts and _is_head(word, parts):
            ending.append(name)
        elif word in parts:
            holding.append(name)
    return tuple(sorted(ending, key=lambda name: "".join(stems_of(name)) != word) or holding)


def nearest_names(text: str, names: Sequence[str], *, limit: int) -> list[str]:
    """Return the `limit` names that a word stands for or is spelt like, in any case: compounds, then the likest."""
    folded = {name.casefold(): name for name in names}
    alike = get_close_matches(text.casefold(), list(folded), n=limit, cutoff=ALIKE)
    named = named_by(text, names) if len(text) >= SHORT else ()
    return [*dict.fromkeys((*named, *(folded[name] for name in alike)))][:limit]


def _is_head(word: str, parts: tuple[str, ...]) -> bool:
    """Check if a word is a name, its last word, or the end of that."""
    return word in {parts[-1], "".join(parts)} or (len(word) >= COMPOUND and "".join(parts).endswith(word))


def _stem(word: str) -> str:
    if len(word) <= SHORT or word.endswith(("ss", "us", "is")):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    return word

"""Words beside the names of a scene or a table: stems, the names that a word stands for, and those spelt alike."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
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
SLIP: Final = 0.8
"""Least likeness of a word and the one that was surely meant: tabel and table, not apple and table."""


def stems(text: str) -> list[str]:
    """Return the words and numbers of a text in order, without case and plural.

    A stem is a common form, not always a word: knife and knives are ``knif``.
    """
    return [_stem(word.casefold()) for word in _WORD.findall(_CAMEL.sub(" ", text))]


@lru_cache(maxsize=4_096)
def stems_of(name: str) -> tuple[str, ...]:
    """Return a name's stems; cached, since a scene's names are looked up with each question."""
    return tuple(stems(name))


def spelt_as(word: str, names: Collection[str]) -> str | None:
    """Return the one of the names that a word is: spelt so, else in another case or its plural; None if it is none."""
    stem, long = "".join(stems_of(word)), len(word)
    same = [it for it in names if it == word or (stem and len(it) <= long and "".join(stems_of(it)) == stem)]
    return word if word in same else min(same, key=lambda name: name.casefold() != word.casefold(), default=None)


def compounds(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that end with a word, as English compounds do (egg: food_egg; lamp: tablelamp), itself first."""
    stem = "".join(stems_of(word))
    ending = [name for name in names if stem and (parts := stems_of(name)) and _is_head(stem, parts)]
    return sorted(ending, key=lambda name: "".join(stems_of(name)) != stem)


def named_by(text: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the names that a word stands for: compounds that end with it, else those that hold it, in their order."""
    word = "".join(stems_of(text))
    return tuple(compounds(text, names) or (name for name in names if word and word in stems_of(name)))


def nearest_names(text: str, names: Sequence[str], *, limit: int) -> list[str]:
    """Return the `limit` names that a word stands for or is spelt like, in any case: compounds, then the likest."""
    folded = {name.casefold(): name for name in names}
    alike = get_close_matches(text.casefold(), list(folded), n=limit, cutoff=ALIKE)
    named = named_by(text, names) if len(text) >= SHORT else ()
    return [*dict.fromkeys((*named, *(folded[name] for name in alike)))][:limit]


def is_slip(word: str, names: Collection[str], *, is_exact: bool = False) -> bool:
    """Check if a word is one of the names, in any case or its plural, or misspelt unless `is_exact`: tabel, table."""
    folded = [name.casefold() for name in names]
    cutoff = 1.0 if is_exact else SLIP
    return spelt_as(word, names) is not None or bool(get_close_matches(word.casefold(), folded, n=1, cutoff=cutoff))


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

"""Comparison of the words by which people, models and data sets name things."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Final
from unicodedata import category, normalize

from scenecypher.words import COMPOUND

_ARTICLE: Final = re.compile(r"^(?:the|an?)\s+(?=\S)")
_GAP: Final = re.compile(r"[\s_-]+")
NUMBERED: Final = re.compile(r"[-_ ]?\d+$")
"""Number at the end of a name."""
_ENDINGS: Final = (("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe"))
"""Endings of plurals, and of their singulars."""

_PLURALS: Final = {"sses": "ss", "xes": "x", "ches": "ch", "shes": "sh", "zes": "z", "ies": "y", "ves": "f", "s": ""}
"""Endings of plurals, the longest first, and what most singulars have in their place."""
_MOST_LETTERS: Final = 60
_MOST_WORDS: Final = 6
_MARKS: Final = re.compile(r"[.!?;:\u2026](?:\s|$)|[{}<>()\[\]|`\"\\,=]")
"""Marks that end a part of a sentence, or that a name has no use for."""
WORDS: Final = tomllib.loads(files("scenecypher.planner.perception").joinpath("words.toml").read_text(encoding="utf-8"))
NO_THINGS: Final = frozenset(WORDS["no_things"])
"""Classes of persons, animals and furniture: names that mean no thing to be moved."""
_SPEECH, _APART = frozenset(WORDS["speech"]), frozenset(WORDS["apart"])
_SAME: Final = {word: words[0] for words in WORDS["alike"] for word in words}
"""Words that people use for the same things, with the first of each group."""


def one_line(words: str) -> str:
    """Normalise a text for graph and prompts: NFC, on one line, without control, format and unassigned characters."""
    printed = "".join(it for it in normalize("NFC", words) if it.isspace() or not category(it).startswith("C"))
    return " ".join(printed.split())


def cleaned_name(words: str) -> str:
    """Return a name on one line. Raises ValueError if nothing is left of it."""
    if not (name := one_line(words)):
        raise ValueError("a name is empty; give the name of a thing")
    return name


def without_orders(words: str) -> str:
    """Return a text on one line, nothing if it has words of orders to a model, as a note in a picture may."""
    line = one_line(words)
    return "" if {*WORDS["orders"]} & {*re.findall(r"\w+", line.casefold())} else line


def is_name(words: str) -> bool:
    """Check if a text can be the name of a thing: a few words, and no sentence."""
    parts = normal_form(words).split()
    is_short = 0 < len(parts) <= _MOST_WORDS and len(words) <= _MOST_LETTERS
    return is_short and not _MARKS.search(words) and not _SPEECH & {*parts} and any(map(str.isalnum, words))


@lru_cache(maxsize=65_536)
def normal_form(name: str) -> str:
    """Return a name in lower case, without an article, with single spaces for hyphens and underscores."""
    return _GAP.sub(" ", _ARTICLE.sub("", name.strip().casefold(), count=1)).strip()


def without_number(name: str) -> str:
    """Return the normal form of a name without a final number: ``half apple`` for ``half_apple-1``."""
    return NUMBERED.sub("", normal_form(name)) or normal_form(name)


def singular_forms(name: str, *, plural: bool = False) -> tuple[str, ...]:
    """Return the normal form of a name without a number, and what it may be the plural of.

    The likeliest singular comes first if the name is known to be a `plural`.
    """
    bare = without_number(name)
    found = (bare.removesuffix(ending) + one for ending, one in _ENDINGS if bare.endswith(ending))
    if not plural or bare.endswith(("ss", "us", "is")):
        return (bare, *found)
    ending, one = next((it for it in _PLURALS.items() if bare.endswith(it[0])), ("", ""))
    return (bare.removesuffix(ending) + one, bare, *found)


def compact(name: str) -> str:
    """Return a name's normal form without spaces, in which ``coffee table`` is the class ``coffeetable``."""
    return normal_form(name).replace(" ", "")


def ends_of(class_: str) -> set[str]:
    """Return the ends of a class by which people call it, without spaces: its last words, or letters of a compound."""
    words = normal_form(class_).split()
    letters = "".join(words)
    ends = {letters[start:] for start in range(1, len(letters) - COMPOUND + 1)} if letters not in _APART else set()
    return ends | {"".join(words[start:]) for start in range(1, len(words))}


@lru_cache(maxsize=65_536)
def _called(word: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a word may mean, without spaces, and the same with its ends."""
    forms = [" ".join(_SAME.get(it, it) for it in form.split()) for form in singular_forms(word)]
    meant = frozenset(map(compact, forms))
    return meant, meant.union(*map(ends_of, forms))


def are_near(one: str, other: str) -> bool:
    """Check if two words may be of one thing: one is the end of the other, but for words that mean the same."""
    (first, with_ends), (second, ends) = _called(one), _called(other)
    return not first.isdisjoint(ends) or not second.isdisjoint(with_ends)


def is_of_class(word: str, class_: str) -> bool:
    """Check if a word means a class: it is its name, maybe in the plural or with a number."""
    return compact(class_) in map(compact, singular_forms(word))

"""Comparison of the words by which people, models and data sets name things."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_ARTICLE: Final = re.compile(r"^(?:the|an?)\s+(?=\S)")
_GAP: Final = re.compile(r"[\s_-]+")
NUMBERED: Final = re.compile(r"[-_ ]?\d+$")
"""Number at the end of a name."""
_ENDINGS: Final = (("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe"))
"""Endings of plurals, and of their singulars."""

_PLURALS: Final = (
    *((f"{stem}es", stem) for stem in ("ss", "x", "ch", "sh", "z")),
    ("ies", "y"),
    ("ves", "f"),
    ("s", ""),
)
"""Endings of plurals, the longest first, and what most singulars have in their place."""


@lru_cache(maxsize=65_536)
def normal_form(name: str) -> str:
    """Return a name in lower case, without an article, with single spaces for hyphens and underscores."""
    return _GAP.sub(" ", _ARTICLE.sub("", name.strip().casefold(), count=1)).strip()


def without_number(name: str) -> str:
    """Return the normal form of a name without a final number: ``half apple`` for ``half_apple-1``."""
    return NUMBERED.sub("", normal_form(name)) or normal_form(name)


def singular_forms(name: str) -> tuple[str, ...]:
    """Return the normal form of a name without a number, and what it may be the plural of."""
    bare = without_number(name)
    found = (bare.removesuffix(plural) + one for plural, one in _ENDINGS if bare.endswith(plural))
    return (bare, *found)


def likely_singular(name: str) -> str:
    """Return the normal form of a name without a number, in the singular if it looks like a plural."""
    bare = without_number(name)
    if bare.endswith(("ss", "us", "is")):
        return bare
    ending, one = next((it for it in _PLURALS if bare.endswith(it[0])), ("", ""))
    return bare.removesuffix(ending) + one


def is_of_class(word: str, class_: str) -> bool:
    """Check if a word means a class: it is its name, maybe in the plural or with a number."""
    return normal_form(class_) in singular_forms(word)


def is_end_of_class(word: str, class_: str) -> bool:
    """Check if a word is the end of a class's name, such as ``table`` of ``breakfast_table``."""
    return any(normal_form(class_).endswith(f" {form}") for form in singular_forms(word))

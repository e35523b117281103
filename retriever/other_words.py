"""Words of a question that a scene does not use, with its classes that are near to them in meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from scenecypher.db.store.enumerations import Enumerations
from scenecypher.meaning import Meaning
from scenecypher.retriever.mentions import Mention, Mentions, stems, words_of
from scenecypher.retriever.trim import listed_names

OtherWords: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Words or phrases of a question, each with the nearest classes of the scene."""

SHORTEST: Final = 2
CLASSES_A_WORD: Final = 2
CLASSES_A_PHRASE: Final = 3
LEAST_OF_A_PHRASE: Final = 0.2
"""Least cosine of all new words together, where none alone is near a class: "drink" and cup have 0.24."""
GENERAL: Final = frozenset(
    stems(
        "a about all an and any are as at be been before by can could did do does for from get go had has have he her "
        "here him his how i if in is it its item list many may me more most much must my near nearest no not object of "
        "off on one only or other our place put room she should show some something tell than that the their them "
        "there these they thing this those to two up us want was we were what when where which who why will with you "
        "your"
    )
)
"""Stems of words that name no class of thing."""
_WORD: Final = re.compile(r"[^\W\d_]+")


def other_words(question: str, occurring: Enumerations, meaning: Meaning) -> OtherWords:
    """Return the words of `question` that no name of the scene has, each with the nearest classes.

    Where a question mentions no class, and none of its words is near one, its new words are compared as one phrase.
    """
    classes = tuple(dict.fromkeys(use.name for use in occurring.classes))
    known = GENERAL | words_of(listed_names(occurring))
    asked = [word for word in dict.fromkeys(_WORD.findall(question.casefold())) if len(word) >= SHORTEST]
    new = [word for word in asked if stems(word)[0] not in known]
    found = tuple((word, near) for word in new if (near := _nearest(word, classes, meaning)))
    mentions = Mentions.of(question)
    if found or not new or any(mentions.mention(name) == Mention.WHOLE for name in classes):
        return found
    phrase = " ".join(new)
    blurred = meaning.nearest(phrase, classes, limit=CLASSES_A_PHRASE, least=LEAST_OF_A_PHRASE)
    return ((phrase, tuple(it.word for it in blurred)),) if blurred else ()


def _nearest(word: str, classes: Sequence[str], meaning: Meaning) -> tuple[str, ...]:
    return tuple(it.word for it in meaning.nearest(word, classes, limit=CLASSES_A_WORD))

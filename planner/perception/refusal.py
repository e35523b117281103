"""Recognition of replies in which a model says that it can't take pictures, or that it got none."""

from __future__ import annotations

import re
from typing import Final

_BEGINNING: Final = 400
"""Characters of a reply in which a refusal stands."""
_PICTURE: Final = r"(?:images?|pictures?|photos?|photographs?|visual (?:content|input))"
_THE: Final = r"(?:(?:the|this|that|any|your|an?|attached|provided|actual|such) )*"
_NOT_THINGS: Final = r"\b(?! (?:on|in|hanging|frames?))"
"""End of a word for the given picture, not for a thing of that name in it."""
_CANNOT: Final = r"(?:can(?:no|')?t|can not|could(?: not|n't)|(?:not able|unable) to)"
_SENSES: Final = (
    r"(?:(?:directly|actually|currently) )?(?:view|see|open|access|process|interpret|analy[sz]e|display|describe)"
)
_GIVE: Final = r"(?:see|have|receive|attach|provide|upload)"
_GIVEN: Final = r"(?:attached|provided|uploaded|included|received|given)"
_REFUSALS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_CANNOT} {_SENSES} {_THE}{_PICTURE}{_NOT_THINGS}",
        rf"\b(?:i|you) (?:don't|do not|didn't|did not) {_GIVE} {_THE}{_PICTURE}{_NOT_THINGS}",
        rf"\bno {_PICTURE} (?:(?:was|were|is|has been|have been) )?{_GIVEN}\b",
        rf"\bplease (?:upload|provide|attach|share|send) {_THE}{_PICTURE}\b",
        r"^(?:i'm |i am |we're )?(?:very |so |truly )?sorry\b",
        r"^i apologi[sz]e\b",
        r"^(?:i'm|i am) afraid (?:that )?i (?:can|am|do)",
        r"\bas (?:an?|a text-based|a large) (?:ai|text-only|language)\b",
        r"\bcan(?:no|')?t (?:help|assist) with\b",
    )
)


def is_refusal(description: str) -> bool:
    """Check if a description of a picture begins with a refusal or an apology instead."""
    words = " ".join(description[:_BEGINNING].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").casefold().split())
    return any(pattern.search(words) for pattern in _REFUSALS)

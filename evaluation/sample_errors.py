"""Errors that ended samples: a summary for the operator, and a check for rows without any result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Final

HEAD_CHARACTERS: Final = 60
TAIL_CHARACTERS: Final = 240
"""Characters of a long message that are kept at its end; HEAD_CHARACTERS at its start."""
REQUEST: Final = re.compile(r"Request: \{.*?\} (?=\w+\()")
"""Inspect puts the whole request before the reason, so that no two messages are equal."""


def has_failed_row(samples: Iterable[tuple[Hashable, bool]]) -> bool:
    """Check that all samples of some row failed; `samples` are pairs of a row and whether the sample failed."""
    rows: dict[Hashable, list[bool]] = {}
    for row, failed in samples:
        rows.setdefault(row, []).append(failed)
    return any(map(all, rows.values()))


def most_common_error(errors: Iterable[str]) -> str:
    """Return the most common error with its count; empty if there are no errors."""
    common = Counter(filter(None, map(_shorten, errors))).most_common(1)
    return "".join(f"{count} ended by {message}" for message, count in common)


def _shorten(message: str) -> str:
    line = REQUEST.sub("", " ".join(message.replace("\\n", " ").split()))
    return (
        line
        if len(line) <= HEAD_CHARACTERS + TAIL_CHARACTERS
        else f"{line[:HEAD_CHARACTERS]} … {line[-TAIL_CHARACTERS:]}"
    )

"""What ended samples that have no score, in words for who runs them, and whether it left a row with nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Final

HEAD_CHARACTERS: Final = 60
TAIL_CHARACTERS: Final = 240
"""Characters of a long message that are told."""
REQUEST: Final = re.compile(r"Request: \{.*?\} (?=\w+\()")
"""Inspect tells the whole request before the reason; no two are alike."""


def has_failed_row(samples: Iterable[tuple[Hashable, bool]]) -> bool:
    """Whether all samples of a row failed, so that nothing of it was measured; of each its row, and whether it did."""
    rows: dict[Hashable, list[bool]] = {}
    for row, failed in samples:
        rows.setdefault(row, []).append(failed)
    return any(map(all, rows.values()))


def most_common_error(errors: Iterable[str]) -> str:
    """The commonest of the samples' errors, with how many ended so; empty where none has one."""
    common = Counter(filter(None, map(_shorten, errors))).most_common(1)
    return "".join(f"{count} ended by {message}" for message, count in common)


def _shorten(message: str) -> str:
    line = REQUEST.sub("", " ".join(message.replace("\\n", " ").split()))
    return (
        line
        if len(line) <= HEAD_CHARACTERS + TAIL_CHARACTERS
        else f"{line[:HEAD_CHARACTERS]} … {line[-TAIL_CHARACTERS:]}"
    )

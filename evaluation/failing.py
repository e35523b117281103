"""What ended samples that have no score, in words for who runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

START: Final = 60
END: Final = 240
"""Characters of a long message that are told; Inspect's begin with the whole request and end with the reason."""


def told(errors: Iterable[str]) -> str:
    """The commonest of the samples' errors, with how many ended so; empty where none has one."""
    common = Counter(filter(None, map(_short, errors))).most_common(1)
    return "".join(f"{count} ended by {message}" for message, count in common)


def _short(message: str) -> str:
    line = " ".join(message.replace("\\n", " ").split())
    return line if len(line) <= START + END else f"{line[:START]} … {line[-END:]}"

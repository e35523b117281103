"""What every prompt tells besides at its end, such as what others did meanwhile: a heading, and lines under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scenecypher.chat.model import Message

MEANWHILE: Final = "Since your last decision others have acted here; what was known before may no longer be so:"


def listed(heading: str, lines: Sequence[str]) -> str:
    """Return lines under a heading."""
    return "\n".join((heading, *(f"- {line}" for line in lines)))


def with_lines(message: Message, heading: str, lines: Sequence[str]) -> Message:
    """Return the message with lines under a heading at its end; the message itself without lines."""
    return replace(message, text=f"{message.text}\n\n{listed(heading, lines)}") if lines else message

"""What others did meanwhile, as every prompt tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scenecypher.chat.model import Message

MEANWHILE: Final = "Since your last decision others have acted here; what was known before may no longer be so:"


def with_meanwhile(message: Message, lines: Sequence[str]) -> Message:
    """Return the message with a line for each act of others at its end."""
    told = "\n".join(f"- {line}" for line in lines)
    return replace(message, text=f"{message.text}\n\n{MEANWHILE}\n{told}")

"""The fields of a page's address or form, as text that is checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from scenecypher.errors import InputError

Fields: TypeAlias = Mapping[str, str]


def required(fields: Fields, name: str) -> str:
    """Return a field's text. Raises InputError if it is empty."""
    text = fields.get(name, "").strip()
    if not text:
        raise InputError(f"the field {name!r} is empty; fill it in")
    return text


def number(fields: Fields, name: str) -> int | None:
    """Return a whole number, None if the field is not given. Raises InputError."""
    text = fields.get(name, "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 19):
        raise InputError(f"{name} {text[:40]!r} is no whole number")
    return int(text) if text else None

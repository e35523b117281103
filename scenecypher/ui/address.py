"""Addresses of the pages about one scene at one version, and the fields of addresses and forms, checked when read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlencode

from scenecypher.errors import InputError

Fields: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Address:
    """The pages about a scene; `version` is None for the scene as it is now."""

    scene: str
    version: int | None = None

    def to(self, page: str, **fields: object) -> str:
        """Return the address of a page, of a part of one, or of its data, such as ``home``; at this version.

        `fields` are added, and may name another version; None is the scene as it is now.
        """
        given = {"scene": self.scene, "version": self.version, **fields}
        return f"/{page}?{urlencode({name: value for name, value in given.items() if value is not None})}"


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

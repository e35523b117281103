"""Tables of the page of experiments."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

PUBLISHED: Final[dict[str, list[dict[str, str]]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
"""Lines of the tables by experiment."""
HEAD: Final = "| published | command | without a model |\n|---|---|---|\n"
TABLE: Final = re.compile(r"(?<=\n)## (?P<section>[^\n]+)\n\n\|[^\n]*\n\|[-|]+\n(?:\|[^\n]*\n)*")
"""Heading of a section and the table after it."""


def page(text: str, published: dict[str, Any] = PUBLISHED) -> str:
    """Return the page's text with all tables made anew, one after the heading of its section."""
    return TABLE.sub(lambda found: "".join(_section(found["section"], published)), text)


def _section(section: str, published: dict[str, Any]) -> Iterator[str]:
    yield f"## {section}\n\n{HEAD}"
    for name, rows in published.items():
        for one in (one for one in rows if one["section"] == section):
            command = f"scenecypher eval {name} {one.get('options', '')}".strip()
            yield f"| {one['table']} | `{command}` | {one['without_model']} |\n"

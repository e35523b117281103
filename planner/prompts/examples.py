"""Worked examples for prompts as data: JSON files, one a method and vocabulary."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from scenecypher.db.vocabulary import conventions_of


def examples(method: str, vocabulary: str) -> Any:
    """Return the examples of a method in a vocabulary as its file has them; an empty list without a file."""
    file = files(conventions_of(vocabulary).texts) / "examples" / f"{method}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []

"""The tables of words of formats and data sets, and the instructions of tasks, which are files in `data/`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def tables(file: str) -> Mapping[str, Any]:
    """Return the content of the file `data/FILE.toml`."""
    return tomllib.loads((files("scenecypher.importers") / "data" / f"{file}.toml").read_text(encoding="utf-8"))


@cache
def instructions(data_set: str) -> Mapping[str, str]:
    """Return one instruction in plain English for each task of a data set, by the task's id in it."""
    file = f"{data_set.replace('-', '_')}_instructions.json"
    texts: dict[str, str] = json.loads((files("scenecypher.importers") / "data" / file).read_text(encoding="utf-8"))
    return texts


def listed(words: str | Sequence[str]) -> tuple[str, ...]:
    """Return words that are written as one text, or as a list."""
    return tuple(words.split() if isinstance(words, str) else words)


def by_word(table: Mapping[str, str | Sequence[str]]) -> dict[str, str]:
    """Return ours by theirs of a table from ours to all words of theirs."""
    return {word: ours for ours, words in table.items() for word in listed(words)}

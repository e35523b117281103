"""Short digest of the prompts; results of different prompts are not comparable."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final

PROMPTS: Final = ("scenecypher.planner", "scenecypher.retriever")
"""Packages, with their subfolders, that produce the texts shown to models."""
SUFFIXES: Final = (".py", ".md", ".txt", ".json", ".jsonl", ".pddl")
METADATA_KEY: Final = "prompts"
"""Key of the digest in a log's metadata, since a log may be reported after prompts have changed."""


@cache
def prompt_version() -> str:
    """Return the first twelve digits of the digest of all source files that produce prompts."""
    digest = sha256()
    for package in PROMPTS:
        for file in prompt_files(package):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def prompt_files(package: str) -> Iterator[Path]:
    """Yield the files of a package that are in the digest, in order."""
    folder = Path(str(files(package)))
    yield from (file for file in sorted(folder.rglob("*")) if file.name.endswith(SUFFIXES))

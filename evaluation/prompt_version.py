"""A short name for the prompts as they are: results of different prompts are not compared."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

PROMPTS: Final = (("planner", "methods"), ("planner", "prompts"), ("retriever",), ("planner", "actions"))
"""Where texts that models are shown are made."""


def prompt_version() -> str:
    """The first twelve digits of the digest of all source that makes prompts."""
    digest = sha256()
    for package, *folders in PROMPTS:
        folder = files(package).joinpath(*folders)
        for file in sorted(folder.iterdir(), key=_name):
            if file.is_file() and file.name.endswith((".py", ".md", ".txt", ".json")):
                digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def _name(file: Traversable) -> str:
    return file.name

"""The PDDL domains in which a model writes a problem (LLM+P), one a vocabulary."""

from __future__ import annotations

from importlib.resources import files

from scenecypher.db.vocabulary import conventions_of


def domain_text(vocabulary: str) -> str:
    """Return the domain of a vocabulary; empty if there is none."""
    file = files(conventions_of(vocabulary).texts) / "domain.pddl"
    return file.read_text(encoding="utf-8") if file.is_file() else ""

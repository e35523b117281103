"""The papers' "environment explanation" of prompts."""

from __future__ import annotations

from scenecypher.planner.vocabularies.registry import vocabulary_named


def environment_explanation(vocabulary: str) -> str:
    """Return the prompt's description of the world that scene graphs of this vocabulary represent."""
    return vocabulary_named(vocabulary).words.environment

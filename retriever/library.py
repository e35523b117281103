"""The library of worked examples: questions with their Cypher, a file of each vocabulary, chosen by shared words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from pydantic import BaseModel, ConfigDict

from scenecypher.db.vocabulary import DEFAULT, conventions_of
from scenecypher.retriever.mentions import stems

COMMON: Final = frozenset(
    stems("a an are be before can do does from have has i in is it many much of or the there to what where which with")
)


class Example(BaseModel):
    """One line of a library file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    cypher: str


@cache
def library(vocabulary: str) -> tuple[Example, ...]:
    """Return the examples of a vocabulary, or the default's if it has none of its own."""
    own, others = (files(conventions_of(name).texts) / "queries.jsonl" for name in (vocabulary, DEFAULT))
    lines = (own if own.is_file() else others).read_text(encoding="utf-8").splitlines()
    return tuple(Example.model_validate_json(line) for line in lines)


@lru_cache(maxsize=1_024)
def examples_for(vocabulary: str, question: str, count: int) -> tuple[Example, ...]:
    """Return the `count` examples of a vocabulary that are nearest to a question."""
    return nearest_examples(library(vocabulary), question, count=count)


def nearest_examples(examples: Sequence[Example], question: str, *, count: int) -> tuple[Example, ...]:
    """Return the `count` examples that share most words with `question`, the nearest last; ties in file order."""
    asked = _words(question)
    ranked = sorted(enumerate(examples), key=lambda pair: (-_similarity(asked, _words(pair[1].question)), pair[0]))
    return tuple(example for _, example in reversed(ranked[:count]))


@lru_cache(maxsize=1_024)
def _words(question: str) -> frozenset[str]:
    return frozenset(stems(question)) - COMMON


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one & other else 0.0

"""The library of worked examples: questions with their Cypher, a file of each vocabulary and one of robots' maps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from pydantic import BaseModel, ConfigDict

from scenecypher.db.vocabulary import DEFAULT, conventions_of
from scenecypher.meaning import NO_MEANING, Meaning
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
    return read_examples(own if own.is_file() else others)


@cache
def map_library() -> tuple[Example, ...]:
    """Return the examples for robots' maps."""
    return read_examples(files("scenecypher.retriever") / "map_queries.jsonl")


@lru_cache(maxsize=1_024)
def examples_for(
    vocabulary: str, question: str, count: int, *, is_map: bool = False, meaning: Meaning = NO_MEANING
) -> tuple[Example, ...]:
    """Return the `count` examples of a vocabulary, and of robots' maps for one, that are nearest to a question."""
    known = (*library(vocabulary), *(map_library() if is_map else ()))
    return nearest_examples(known, question, count=count, meaning=meaning)


def nearest_examples(
    examples: Sequence[Example], question: str, *, count: int, meaning: Meaning = NO_MEANING
) -> tuple[Example, ...]:
    """Return the `count` examples that are nearest to `question`, the nearest last; ties in file order.

    The nearest share most words and, if `meaning` knows vectors, mean most nearly the same.
    """
    known, asked = [one.question for one in examples], _words(question)
    cosines = {it.word: it.cosine for it in meaning.nearest(question, known, least=-1, limit=len(known))}
    near = {it: _similarity(asked, _words(it)) + cosines.get(it, 0.0) for it in known}
    ranked = sorted(enumerate(examples), key=lambda pair: (-near[pair[1].question], pair[0]))
    return tuple(example for _, example in reversed(ranked[:count]))


def read_examples(file: Traversable) -> tuple[Example, ...]:
    """Return the examples of a file, one a line."""
    return tuple(Example.model_validate_json(line) for line in file.read_text(encoding="utf-8").splitlines())


@lru_cache(maxsize=1_024)
def _words(question: str) -> frozenset[str]:
    return frozenset(stems(question)) - COMMON


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one & other else 0.0

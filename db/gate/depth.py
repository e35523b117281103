"""How deep the parts of a query stand within each other, brackets apart, which are counted as they are read.

Where a text is nested some 150 deep the server's stack overflows, and it never answers, not even with an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.reading import Reading

NEGATIONS: Final = 40
"""NOT and `!` in the whole query: 160 in a row are planned, 200 are not."""
CASES: Final = 20
"""CASE within CASE: 100 are planned, 140 are not."""
SLICES: Final = 40
"""Slices such as `[1..]` in the whole query: 100 in a row are planned, 200 are not."""
SUBQUERIES: Final = 8
"""Sub-queries within sub-queries: 12 are planned in half a second, 16 in five, 20 not within twenty."""


def depths(reading: Reading) -> Iterator[tuple[str, int, int]]:
    """Each thing that may nest: a piece of it, how often it does, and how often it may."""
    tokens = reading.tokens
    yield "NOT", sum(token.word == "NOT" or token.text == "!" for token in tokens), NEGATIONS
    yield "CASE", _cases(tokens), CASES
    yield "..", sum(token.text == ".." for token in tokens), SLICES
    yield "{", reading.levels, SUBQUERIES


def _cases(tokens: tuple[Token, ...]) -> int:
    """How many CASE are open at once, at most."""
    open_ = deepest = 0
    for token in tokens:
        open_ += (token.word == "CASE") - (token.word == "END")
        deepest = max(deepest, open_)
    return deepest

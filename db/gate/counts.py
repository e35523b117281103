"""Limits on counts of tokens that the server's planner multiplies or nests, checked before the text is parsed.

A text nested some 150 deep overflows the server's stack: it never answers, not even with an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

from scenecypher.db.gate.cursor import OPENING
from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.words import LOGIC, words
from scenecypher.errors import QueryRefused

MAX_COUNTS: Final[Mapping[str, tuple[frozenset[str], int, str]]] = {
    "NOT": (words("NOT !"), 40, "nesting"),  # 160 in a row are planned, 200 are not
    "..": (words(".."), 40, "nesting"),  # 100 slices in a row are planned, 200 are not
    "-": (words("-"), 120, "nesting"),
    "XOR": (words("XOR"), 6, "cost"),  # 20 are rewritten for 71 s
    "AND": (words("AND OR"), 100, "cost"),
    "=": (words("= <> < > <= >="), 150, "cost"),
    ",": (words(","), 600, "cost"),
    "WITH": (words("MATCH WITH RETURN UNWIND CALL LET FILTER UNION NEXT"), 60, "cost"),
}
"""Words, their maximum number, and the refusal's code, by the piece of text that the refusal names."""
MAX_CASE_DEPTH: Final = 20
"""Maximum CASE in CASE: 100 are planned, 140 are not."""
MAX_LOGIC_DEPTH: Final = 12
"""Maximum nested brackets that hold AND, OR or XOR: the server multiplies conditions out."""


def check_counts(tokens: Sequence[Token]) -> None:
    """Refuse a text with more of a construct than the server can plan. Raises QueryRefused."""
    for piece, (counted, most, code) in MAX_COUNTS.items():
        if sum(token.word in counted for token in tokens) > most:
            raise QueryRefused(code, f"more than {most} times `{piece}` in the query", piece=piece, hint="ask in steps")
    for piece, depth, most, code in (
        ("CASE", _case_depth(tokens), MAX_CASE_DEPTH, "nesting"),
        ("OR", _logic_depth(tokens), MAX_LOGIC_DEPTH, "cost"),
    ):
        if depth > most:
            raise QueryRefused(code, f"`{piece}` nested more than {most} deep", piece=piece, hint="ask in steps")


def _case_depth(tokens: Sequence[Token]) -> int:
    return max(accumulate((token.word == "CASE") - (token.word == "END") for token in tokens))


def _logic_depth(tokens: Sequence[Token]) -> int:
    """Return the depth of nested brackets that hold AND, OR or XOR."""
    deepest = 0
    open_: list[tuple[int, bool]] = [(0, False)]
    for token in tokens:
        inside, has_logic = open_[-1]
        if token.word in LOGIC:
            open_[-1] = (inside, True)
        elif token.word in OPENING:
            open_.append((0, False))
        elif token.word in OPENING.values() and len(open_) > 1:
            open_.pop()
            depth = inside + has_logic
            open_[-1] = (max(depth, open_[-1][0]), open_[-1][1])
            deepest = max(deepest, depth)
    return deepest

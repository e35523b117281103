"""Limits on counts of tokens that the server's planner multiplies or nests, checked before the text is parsed.

A text nested some 150 deep overflows the server's stack: it never answers, not even with an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from scenecypher.db.gate.lexer import Token
from scenecypher.errors import QueryRefused

TokenCounter = Callable[[Sequence[Token]], int]


def check_counts(tokens: Sequence[Token]) -> None:
    """Refuse a text with more of a construct than the server can plan. Raises QueryRefused."""
    for piece, (count, most, code) in COUNT_LIMITS.items():
        if count(tokens) > most:
            raise QueryRefused(code, f"more than {most} times `{piece}` in the query", piece=piece, hint="ask in steps")


def _words(*words: str) -> TokenCounter:
    return lambda tokens: sum(token.word in words for token in tokens)


def _marks(*marks: str) -> TokenCounter:
    return lambda tokens: sum(token.kind == "mark" and token.text in marks for token in tokens)


def _negations(tokens: Sequence[Token]) -> int:
    return _words("NOT")(tokens) + _marks("!")(tokens)


def _open_cases(tokens: Sequence[Token]) -> int:
    """Return the depth of nested CASE."""
    open_ = deepest = 0
    for token in tokens:
        open_ += (token.word == "CASE") - (token.word == "END")
        deepest = max(deepest, open_)
    return deepest


def _logic_levels(tokens: Sequence[Token]) -> int:
    """Return the depth of nested brackets that hold AND, OR or XOR: the server multiplies conditions out."""
    depth, flags, heights = 0, [False], [0]
    for token in tokens:
        if token.word in {"AND", "OR", "XOR"}:
            flags[-1] = True
        elif token.kind == "mark" and token.text in {"(", "[", "{"}:
            flags.append(False)
            heights.append(0)
        elif token.kind == "mark" and token.text in {")", "]", "}"} and len(flags) > 1:
            height = heights.pop() + flags.pop()
            heights[-1] = max(heights[-1], height)
            depth = max(depth, height)
    return depth


COUNT_LIMITS: Final[Mapping[str, tuple[TokenCounter, int, str]]] = {
    "NOT": (_negations, 40, "nesting"),  # 160 in a row are planned, 200 are not
    "CASE": (_open_cases, 20, "nesting"),  # 100 within each other are planned, 140 are not
    "..": (_marks(".."), 40, "nesting"),  # 100 slices in a row are planned, 200 are not
    "-": (_marks("-"), 120, "nesting"),
    "XOR": (_words("XOR"), 6, "cost"),  # 20 are rewritten for 71 s
    "OR": (_logic_levels, 12, "cost"),
    "AND": (_words("AND", "OR"), 100, "cost"),
    "=": (_marks("=", "<>", "<", ">", "<=", ">="), 150, "cost"),
    ",": (_marks(","), 600, "cost"),
    "WITH": (_words("MATCH", "WITH", "RETURN", "UNWIND", "CALL", "LET", "FILTER", "UNION", "NEXT"), 60, "cost"),
}
"""Counting function, maximum and refusal's code, by the piece of text that the refusal names."""

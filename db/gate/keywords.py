"""Keywords that are names where they stand, such as the end of a path, put into backticks.

Which one is meant is seen from its neighbours. Where that is seen wrongly, the server and the reader still agree that
it is a name, so that nothing worse than an error comes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.words import CLAUSES, OPERATORS, REFUSED

NAMES: Final = (CLAUSES | frozenset(REFUSED) | {"END", "STARTS", "ENDS", "CONTAINS"}) - {"AS", "WHERE", "WITH"}
"""Keywords that people call things by."""
AHEAD: Final = frozenset({"UNION", "NEXT", "OPTIONAL"})
"""Words right after which a clause begins."""
MARKS_AFTER: Final = frozenset({".", "..", ",", ")", "]", "}", "|", "||", ":", ";", "=", "<>", "<", ">", "<=", ">="})
MORE_MARKS_AFTER: Final = frozenset({"[", "{", "+", "-", "*", "/", "%", "^", "=~"})
"""Marks after a name; these ones also stand after the following keywords."""
BEGINNING: Final = frozenset({"RETURN", "UNWIND", "CALL", "FILTER"})
BEFORE_VALUES: Final = OPERATORS | CLAUSES
WORDS_AFTER: Final = (BEFORE_VALUES | {"END"}) - {"NOT", "CASE", "DISTINCT", "BY"}


def names_quoted(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The tokens, each keyword that is a name in backticks."""
    found: list[Token] = []
    for index, token in enumerate(tokens):
        is_name = token.word in NAMES and _is_name(found, token, tokens[index + 1])
        found.append(replace(token, kind="quoted", text=f"`{token.text}`", word="") if is_name else token)
    return tuple(found)


def _is_name(before: list[Token], token: Token, after: Token) -> bool:
    """Whether a name should stand between these neighbours."""
    if not before or before[-1].text in {".", "{", ";"} or _begins_clause(before):
        return False
    if before[-1].word == "AS":
        return True
    return not _is_value(before) and _can_follow(token, after)


def _begins_clause(before: list[Token]) -> bool:
    """Whether a clause should stand next: after UNION, UNION DISTINCT and the like."""
    words = [token.word for token in before[-2:]]
    return words[-1] in AHEAD or words == ["UNION", "DISTINCT"]


def _is_value(before: list[Token]) -> bool:
    """Whether the last of these ends a value: `*` and `%` do where they stand for all there is."""
    last = before[-1]
    if last.kind != "mark":
        return last.word not in BEFORE_VALUES
    if last.text in {"*", "%"}:
        return len(before) == 1 or not _is_value(before[:-1])
    return last.text in {")", "]", "}"}


def _can_follow(name: Token, after: Token) -> bool:
    if after.kind == "mark":
        return after.text in (MARKS_AFTER if name.word in BEGINNING else MARKS_AFTER | MORE_MARKS_AFTER)
    if after.word == "WITH":
        return name.word not in {"STARTS", "ENDS"}
    return after.kind == "end" or after.word in WORDS_AFTER

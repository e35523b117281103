"""Parser of the text in the server's plans: conditions, and sub-queries that are printed inside an expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

NAME: Final = r"(?:`[^`]+`|[^\W\d][\w@]*)"
PIECE: Final = re.compile(r"`[^`]+`|\$`?\w+`?|[^\W\d][\w@]*|\d[\w.]*|<=|>=|<>|=~|\S")
"""A token of a plan's text, called a piece here."""
SCENE_BINDING: Final = re.compile(
    rf"({NAME}) \. scene (?:= \$__scene|IN \[ \$__scene \])|cache \[ ({NAME}) \. scene \] = \$__scene"
)
PROPERTY: Final = rf"(?:{NAME} \. \w+|cache \[ {NAME} \. \w+ \])"
INFALLIBLE: Final = re.compile(
    rf"(?:NOT )?{NAME} : [\w|&!%:() ]+"
    rf"|(?:NOT )?{NAME} = {NAME}"
    rf"|(?:NOT )?{PROPERTY} (?:=|<>|<|>|<=|>=|STARTS WITH|ENDS WITH|CONTAINS) (?:{PROPERTY}|\$\S+)"
    rf"|(?:NOT )?{PROPERTY} IN (?:\$\S+|\[ \$\S+(?: , \$\S+)* \])"
    rf"|(?:NOT )?\$\S+ IN (?:{NAME} \. (?:states|affordances)|cache \[ {NAME} \. (?:states|affordances) \])"
    rf"|{PROPERTY} IS (?:NOT )?NULL"
)
"""Conditions that can't fail, whatever a node holds: tests of labels and comparisons of properties."""


def conditions(details: str) -> list[str]:
    """Return the parts of a conjunction in order of evaluation; the whole as one part if it has an OR at top level."""
    return list(_conjuncts(PIECE.findall(details)))


def _conjuncts(pieces: list[str]) -> Iterator[str]:
    pieces = _strip_brackets(pieces)
    parts: list[list[str]] = [[]]
    depth = 0
    for piece in pieces:
        depth += (piece in "([{") - (piece in ")]}")
        if depth == 0 and piece in {"OR", "XOR"}:
            yield " ".join(pieces)
            return
        if depth == 0 and piece == "AND":
            parts.append([])
        else:
            parts[-1].append(piece)
    if len(parts) == 1:
        yield " ".join(pieces)
        return
    for part in parts:
        yield from _conjuncts(part)


def _strip_brackets(pieces: list[str]) -> list[str]:
    """Remove brackets around the whole."""
    while pieces[:1] == ["("] and _closing_bracket(pieces) == len(pieces) - 1:
        pieces = pieces[1:-1]
    return pieces


def _closing_bracket(pieces: list[str]) -> int:
    depth = 0
    for index, piece in enumerate(pieces):
        depth += (piece in "([{") - (piece in ")]}")
        if depth == 0:
            return index
    return -1


def bound_name(condition: str) -> str | None:
    """Return the node that a condition binds to the scene, or None if the condition says anything else."""
    match = SCENE_BINDING.fullmatch(condition)
    return (match.group(1) or match.group(2)).strip("`") if match else None


def columns(details: str) -> set[str]:
    """Return the columns that an aggregation gives: `a, count(o) AS n` gives `a` and `n`."""
    found, last, depth = set(), "", 0
    for piece in [*PIECE.findall(details), ","]:
        depth += (piece in "([{") - (piece in ")]}")
        if depth == 0 and piece == ",":
            found.add(last.strip("`"))
        last = piece
    return found


def names_in(details: str) -> set[str]:
    """Return all pieces of the details, names among them."""
    return {piece.strip("`") for piece in PIECE.findall(details)}


def cannot_fail(condition: str) -> bool:
    """Check that a condition can't fail: only comparisons, joined by AND and OR."""
    parts = re.split(r" (?:OR|AND) ", condition.replace("( ", "").replace(" )", ""))
    return all(INFALLIBLE.fullmatch(part) for part in parts)


# --- sub-queries printed inside an expression

CLAUSE_WORDS: Final = frozenset(
    {"MATCH", "OPTIONAL", "WITH", "RETURN", "UNION", "UNWIND", "CALL", "ORDER", "SKIP", "LIMIT"}
)


def subqueries_are_bound(details: str) -> bool:
    """Check that each sub-query in the details of an operator is bound to the scene, path by path."""
    return all(_is_match_bound(pattern, where) for pattern, where in subquery_matches(details))


def subquery_matches(details: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each MATCH in the details of an operator: the pieces of its patterns, and those of its WHERE."""
    if "{" not in details:
        return
    pieces = PIECE.findall(details)
    for index, piece in enumerate(pieces):
        if piece == "MATCH":
            pattern, at = _until(pieces, index + 1, CLAUSE_WORDS | {"WHERE"})
            where = _until(pieces, at + 1, CLAUSE_WORDS)[0] if pieces[at : at + 1] == ["WHERE"] else []
            yield pattern, where


def _until(pieces: list[str], start: int, words: frozenset[str]) -> tuple[list[str], int]:
    """Return the pieces up to one of these words or the closing bracket around them, and the index of that end."""
    depth = 0
    for at in range(start, len(pieces)):
        depth += (pieces[at] in "([{") - (pieces[at] in ")]}")
        if depth < 0 or (depth == 0 and pieces[at] in words and pieces[at - 1] not in {"STARTS", "ENDS"}):
            return pieces[start:at], at
    return pieces[start:], len(pieces)


def _is_match_bound(pattern: list[str], where: list[str]) -> bool:
    """Check that each path of a MATCH has a node that its WHERE binds to the scene."""
    bound = {bound_name(condition) for condition in _conjuncts(where)} if where else set()
    return all(bound & nodes for nodes in _paths(pattern))


def _paths(pattern: list[str]) -> Iterator[set[str]]:
    nodes: set[str] = set()
    depth = 0
    for index, piece in enumerate(pattern):
        depth += (piece in "([{") - (piece in ")]}")
        if depth == 0 and piece == ",":
            yield nodes
            nodes = set()
        if piece == "(" and pattern[index + 2 : index + 3] == [")"]:
            nodes.add(pattern[index + 1].strip("`"))
    yield nodes

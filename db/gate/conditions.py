"""What the server prints in its plans: conditions, and the sub-queries that stand as text inside an expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

NAME: Final = r"(?:`[^`]+`|[^\W\d][\w@]*)"
PIECE: Final = re.compile(r"`[^`]+`|\$`?\w+`?|[^\W\d][\w@]*|\d[\w.]*|<=|>=|<>|=~|\S")
BOUND: Final = re.compile(
    rf"({NAME}) \. scene (?:= \$__scene|IN \[ \$__scene \])|cache \[ ({NAME}) \. scene \] = \$__scene"
)
PROPERTY: Final = rf"(?:{NAME} \. \w+|cache \[ {NAME} \. \w+ \])"
HARMLESS: Final = re.compile(
    rf"(?:NOT )?{NAME} : [\w|&!%:() ]+"
    rf"|(?:NOT )?{NAME} = {NAME}"
    rf"|(?:NOT )?{PROPERTY} (?:=|<>|<|>|<=|>=|STARTS WITH|ENDS WITH|CONTAINS) (?:{PROPERTY}|\$\S+)"
    rf"|(?:NOT )?{PROPERTY} IN (?:\$\S+|\[ \$\S+(?: , \$\S+)* \])"
    rf"|(?:NOT )?\$\S+ IN (?:{NAME} \. (?:states|affordances)|cache \[ {NAME} \. (?:states|affordances) \])"
    rf"|{PROPERTY} IS (?:NOT )?NULL"
)
"""Conditions that can't fail, whatever a node holds: what labels it has, and how its properties compare."""


def conditions(details: str) -> list[str]:
    """The parts of a conjunction in the order of their evaluation; nothing but the whole if any OR stands open."""
    return list(_conjuncts(PIECE.findall(details)))


def _conjuncts(pieces: list[str]) -> Iterator[str]:
    pieces = _unwrapped(pieces)
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


def _unwrapped(pieces: list[str]) -> list[str]:
    """Without brackets around the whole."""
    while pieces[:1] == ["("] and _closing(pieces) == len(pieces) - 1:
        pieces = pieces[1:-1]
    return pieces


def _closing(pieces: list[str]) -> int:
    depth = 0
    for index, piece in enumerate(pieces):
        depth += (piece in "([{") - (piece in ")]}")
        if depth == 0:
            return index
    return -1


def bound_name(condition: str) -> str | None:
    """The node that a condition binds to the scene, if that is all it says."""
    match = BOUND.fullmatch(condition)
    return (match.group(1) or match.group(2)).strip("`") if match else None


def columns(details: str) -> set[str]:
    """The columns that an aggregation gives: `a, count(o) AS n` gives `a` and `n`."""
    found, last, depth = set(), "", 0
    for piece in [*PIECE.findall(details), ","]:
        depth += (piece in "([{") - (piece in ")]}")
        if depth == 0 and piece == ",":
            found.add(last.strip("`"))
        last = piece
    return found


def names(details: str) -> set[str]:
    """Every word in it, names among them."""
    return {piece.strip("`") for piece in PIECE.findall(details)}


def is_harmless(condition: str) -> bool:
    """Whether asking it can't fail: comparisons, joined by AND and OR."""
    parts = re.split(r" (?:OR|AND) ", condition.replace("( ", "").replace(" )", ""))
    return all(HARMLESS.fullmatch(part) for part in parts)


# --- plans that stand as text inside an expression

ENDING: Final = frozenset({"MATCH", "OPTIONAL", "WITH", "RETURN", "UNION", "UNWIND", "CALL", "ORDER", "SKIP", "LIMIT"})


def anchored(details: str) -> bool:
    """Whether each sub-query inside the details of an operator is bound to the scene, path by path."""
    return all(_is_anchored(pattern, where) for pattern, where in hidden(details))


def hidden(details: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each MATCH in the details of an operator: the pieces of its patterns, and those of its WHERE."""
    if "{" not in details:
        return
    pieces = PIECE.findall(details)
    for index, piece in enumerate(pieces):
        if piece == "MATCH":
            pattern, at = _until(pieces, index + 1, ENDING | {"WHERE"})
            where = _until(pieces, at + 1, ENDING)[0] if pieces[at : at + 1] == ["WHERE"] else []
            yield pattern, where


def _until(pieces: list[str], start: int, words: frozenset[str]) -> tuple[list[str], int]:
    """Pieces up to one of these words or the bracket that ends it all."""
    depth = 0
    for at in range(start, len(pieces)):
        depth += (pieces[at] in "([{") - (pieces[at] in ")]}")
        if depth < 0 or (depth == 0 and pieces[at] in words and pieces[at - 1] not in {"STARTS", "ENDS"}):
            return pieces[start:at], at
    return pieces[start:], len(pieces)


def _is_anchored(pattern: list[str], where: list[str]) -> bool:
    """Whether each path of a hidden MATCH has a node that its WHERE binds to the scene."""
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

"""Canonical forms of expressions: Boolean lines of sub-goals, and PDDL preconditions and effects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from scenecypher.evaluation.eai.transition_text import EMPTY, Expression

Signature: TypeAlias = Mapping[str, int]
"""Number of arguments of each word."""

_TOKEN: Final = re.compile(r"\s*(?:(\w+)\s*\(([^()]*)\)|(and|or)\b|([()])|(\w+))")
MAX_TOKENS: Final = 500
MAX_DEPTH: Final = 20


def read_clause(text: str, words: Signature) -> Expression | None:
    """Return the canonical form of a line such as ``OPEN(door.1) and ON(lamp.2)``; None if it is invalid."""
    tokens = _tokens(text, words)
    if tokens is None:
        return None
    try:
        found = _parse_joined(tokens, depth=0)
    except ValueError:
        return None
    return None if tokens else canonical_tree(found)


def canonical_tree(found: Expression) -> Expression:
    """Flatten nested ``and`` and ``or``, sort and deduplicate parts, unwrap single ones, and number bound names."""
    return _canonical(found, 0)


def parameter_names(parameters: str) -> tuple[str, ...]:
    """Return the names in a list of parameters, in order. Raises ValueError if one occurs twice."""
    found = tuple(re.findall(r"\?[\w-]+", parameters))
    if len(set(found)) != len(found):
        raise ValueError(f"{parameters[:60]} has a parameter twice")
    return found


def rename_variables(found: Expression, names: Mapping[str, str]) -> Expression:
    """Return the expression with variables renamed as in `names`."""
    if isinstance(found, str):
        return " ".join(names.get(word, word) for word in found.split())
    return tuple(rename_variables(part, names) for part in found)


def _canonical(found: Expression, bound: int) -> Expression:
    if isinstance(found, str):
        return found
    head, parts = found[0], found[1:]
    if head in {"exists", "forall"}:
        names = {name: f"?q{bound + at}" for at, name in enumerate(parameter_names(str(parts[0])))}
        return (
            head,
            rename_variables(parts[0], names),
            _canonical(rename_variables(parts[1], names), bound + len(names)),
        )
    inner = [_canonical(part, bound) for part in parts]
    if head not in {"and", "or"}:
        return (head, *inner)
    flat = {one for part in inner for one in (part[1:] if part[0] == head and not isinstance(part, str) else (part,))}
    kept = sorted(flat - {EMPTY} if head == "and" else flat, key=repr)
    return kept[0] if len(kept) == 1 else (head, *kept) if kept else EMPTY


def _tokens(text: str, words: Signature) -> list[str] | None:
    """Return the tokens in reverse order, to be popped; None for an unknown word or a wrong number of arguments."""
    tokens: list[str] = []
    at = 0
    text = text.strip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or len(tokens) > MAX_TOKENS:
            return None
        atom, arguments, connective, bracket, bare = found.groups()
        if atom or bare:
            named = [one.strip() for one in (arguments or "").split(",") if one.strip()]
            if words.get(atom or bare) != len(named):
                return None
            tokens.append(f"{atom or bare}({', '.join(named)})")
        else:
            tokens.append(connective or bracket)
        at = found.end()
    return tokens[::-1]


def _parse_joined(tokens: list[str], *, depth: int, connectives: Sequence[str] = ("or", "and")) -> Expression:
    """Parse operands joined by the first of `connectives`, which binds less than the others. Raises ValueError."""
    if not connectives:
        return _parse_unit(tokens, depth=depth)
    head, *others = connectives
    parts = [_parse_joined(tokens, depth=depth, connectives=others)]
    while tokens and tokens[-1] == head:
        tokens.pop()
        parts.append(_parse_joined(tokens, depth=depth, connectives=others))
    return parts[0] if len(parts) == 1 else (head, *parts)


def _parse_unit(tokens: list[str], *, depth: int) -> Expression:
    if not tokens or depth > MAX_DEPTH:
        raise ValueError("an expression is missing, or too deep")
    token = tokens.pop()
    if token == "(":  # noqa: S105 - a bracket
        inner = _parse_joined(tokens, depth=depth + 1)
        if not tokens or tokens.pop() != ")":
            raise ValueError("a bracket is missing")
        return inner
    if token in {")", "and", "or"}:
        raise ValueError(f"{token} in the wrong place")
    return token

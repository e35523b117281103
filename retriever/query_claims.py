"""The values that a query asks for and the relations that it follows, read from the gate's tokens for hints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from scenecypher.db.gate.lexer import Token, tokens_of
from scenecypher.errors import QueryRefused

Test: TypeAlias = Literal["=", "IN", "CONTAINS", "STARTS", "ENDS"]

_CASE_FUNCTIONS: Final = frozenset({"TOLOWER", "TOUPPER", "LOWER", "UPPER"})


@dataclass(frozen=True, slots=True)
class PropertyClaim:
    """A test of a property: it equals one of `values` (`=`), holds it in its list (`IN`), or contains, starts or ends
    with it. `ignores_case` if the property is brought to one case first.
    """

    property: str
    test: Test
    values: tuple[str, ...]
    label: str = ""
    ignores_case: bool = False


@dataclass(frozen=True, slots=True)
class RelationClaim:
    """One relation between two nodes. An empty label stands for any; `directed` is false if both directions match.

    `start` and `end` are the place of its arrow in the text.
    """

    source: str
    types: tuple[str, ...]
    target: str
    directed: bool = True
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class QueryClaims:
    """The claims of a query about the scene, any of which may be mistaken."""

    properties: tuple[PropertyClaim, ...] = ()
    relations: tuple[RelationClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class _Node:
    variable: str
    label: str
    class_: str
    end: int


def claims_of(cypher: str, kinds: Mapping[str, str] = MappingProxyType({})) -> QueryClaims:
    """Return the claims of a query, without those that are not understood; none if the gate's lexer refuses the text.

    In claims of relations a node without label has the one that `kinds` gives for its class.

    The result serves hints only, never a decision about safety.
    """
    try:
        tokens = tokens_of(cypher)
    except QueryRefused:
        return QueryClaims()
    nodes = {at: node for at in range(len(tokens)) if (node := _node(tokens, at))}
    labels = {node.variable: node.label for node in nodes.values() if node.variable and node.label}
    properties = (*_expression_claims(tokens, labels), *_map_claims(tokens, nodes, labels))
    classes = {node.variable: kinds[node.class_] for node in nodes.values() if node.variable and node.class_ in kinds}
    known = {
        at: replace(node, label=node.label or labels.get(node.variable, "") or kinds.get(node.class_, ""))
        for at, node in nodes.items()
    }
    return QueryClaims(properties, tuple(_relation_claims(tokens, known, classes)))


def _word(tokens: Sequence[Token], at: int) -> str:
    """Return the keyword (in capitals) or the mark at `at`, else an empty text."""
    if not 0 <= at < len(tokens):
        return ""
    return tokens[at].text if tokens[at].kind == "mark" else tokens[at].word


def _name(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].value if 0 <= at < len(tokens) and tokens[at].kind in {"name", "quoted"} else ""


def _node(tokens: Sequence[Token], at: int) -> _Node | None:
    """Return the node pattern that opens at `at`, if any: ``(``, a variable, one label, a map or WHERE, ``)``."""
    if _word(tokens, at) != "(":
        return None
    variable = "" if _word(tokens, at + 1) == "WHERE" else _name(tokens, at + 1)
    after = at + 2 if variable else at + 1
    label = ""
    if _word(tokens, after) == ":":
        label, after = _name(tokens, after + 1), after + 2
    if _word(tokens, after) not in {")", "{", "WHERE"}:
        return None
    end = _closing_parenthesis(tokens, at)
    inside = range(after, end) if _word(tokens, after) == "{" else ()
    classes = [
        _strings(tokens, it + 2) for it in inside if _name(tokens, it) == "class" and _word(tokens, it + 1) == ":"
    ]
    class_ = classes[0][0] if classes and classes[0] else ""
    return _Node(variable, "" if label == "Entity" else label, class_, end)


def _closing_parenthesis(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for end in range(at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(_word(tokens, end), 0)
        if depth == 0:
            return end
    return len(tokens)


def _relation_claims(
    tokens: Sequence[Token], nodes: Mapping[int, _Node], labels: Mapping[str, str]
) -> Iterator[RelationClaim]:
    for node in nodes.values():
        to_left = _word(tokens, node.end + 1) == "<"
        opening = node.end + 2 + to_left
        closing = next((at for at in range(opening, len(tokens)) if _word(tokens, at) == "]"), None)
        if _word(tokens, opening - 1) != "-" or _word(tokens, opening) != "[" or closing is None:
            continue
        to_right = _word(tokens, closing + 2) == ">"
        types, other = _types(tokens[opening + 1 : closing]), nodes.get(closing + 2 + to_right)
        if not types or other is None or _word(tokens, closing + 1) != "-" or (to_left and to_right):
            continue
        left, right = (one.label or labels.get(one.variable, "") for one in (node, other))
        source, target = (right, left) if to_left else (left, right)
        start, end = tokens[node.end + 1].start, tokens[closing + 1 + to_right].end
        yield RelationClaim(source, types, target, to_left or to_right, start, end)


def _types(inside: Sequence[Token]) -> tuple[str, ...]:
    """Return the types of a relation pattern of one step; none for several steps or an expression."""
    words = [_word(inside, at) for at in range(len(inside))]
    if ":" not in words or {"*", "!", "{", "(", "&", "%"} & set(words):
        return ()
    return tuple(name for at in range(words.index(":"), len(inside)) if (name := _name(inside, at)))


def _map_claims(
    tokens: Sequence[Token], nodes: Mapping[int, _Node], labels: Mapping[str, str]
) -> Iterator[PropertyClaim]:
    """Yield the claims in the maps of node patterns: ``{class: 'cup'}``."""
    for start, node in nodes.items():
        label = node.label or labels.get(node.variable, "")
        for at in range(start, node.end):
            key = _name(tokens, at)
            if key and _word(tokens, at - 1) in {"{", ","} and _word(tokens, at + 1) == ":":
                values = _strings(tokens, at + 2)[:1]
                yield from (PropertyClaim(key, "=", (value,), label) for value in values)


def _expression_claims(tokens: Sequence[Token], labels: Mapping[str, str]) -> Iterator[PropertyClaim]:
    """Yield the claims in expressions.

    Examples: ``n.class = 'cup'``, ``toLower(n.name) CONTAINS 'cup'``, ``'open' IN n.states``.
    """
    for at in range(1, len(tokens)):
        variable = _name(tokens, at - 1)
        if _word(tokens, at) != "." or not variable or not _name(tokens, at + 1):
            continue
        label = labels.get(variable, "")
        claim = _membership(tokens, at, label) or _comparison(tokens, at, label)
        if claim is not None:
            yield claim


def _membership(tokens: Sequence[Token], dot: int, label: str) -> PropertyClaim | None:
    """Return the claim of ``'open' IN n.states``, given the position of its dot."""
    value = _strings(tokens, dot - 3)[:1] if dot >= 3 else ()
    if not value or _word(tokens, dot - 2) != "IN" or _word(tokens, dot - 4) == "NOT":
        return None
    return PropertyClaim(_name(tokens, dot + 1), "IN", value, label)


def _comparison(tokens: Sequence[Token], dot: int, label: str) -> PropertyClaim | None:
    """Return the claim of a comparison such as ``n.class = 'cup'``, given the position of its first dot."""
    folded = (
        _word(tokens, dot - 3) in _CASE_FUNCTIONS and _word(tokens, dot - 2) == "(" and _word(tokens, dot + 2) == ")"
    )
    start, after = (dot - 3, dot + 3) if folded else (dot - 1, dot + 2)
    if "NOT" in {_word(tokens, start - 1), _word(tokens, start - 2)}:
        return None
    test, values = _test(tokens, after)
    return PropertyClaim(_name(tokens, dot + 1), test, values, label, folded) if values else None


def _test(tokens: Sequence[Token], at: int) -> tuple[Test, tuple[str, ...]]:
    """Return the test at `at` and its strings, none without a test; ``IN`` a list of strings reads as ``=``."""
    match _word(tokens, at):
        case "=":
            return "=", _strings(tokens, at + 1)[:1]
        case "CONTAINS":
            return "CONTAINS", _strings(tokens, at + 1)[:1]
        case "STARTS":
            return "STARTS", _strings(tokens, at + 2)[:1]
        case "ENDS":
            return "ENDS", _strings(tokens, at + 2)[:1]
        case "IN" if _word(tokens, at + 1) == "[":
            return "=", _strings(tokens, at + 2)
        case _:
            return "=", ()


def _strings(tokens: Sequence[Token], at: int) -> tuple[str, ...]:
    """Return the comma-separated strings from `at` on; none if another token stands there."""
    found: list[str] = []
    while at < len(tokens) and tokens[at].kind == "string":
        found.append(tokens[at].value)
        at += 2 if _word(tokens, at + 1) == "," else 1
    return tuple(found)

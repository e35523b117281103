"""Reading a query that the gate accepted: which values it asks for and which relations it follows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Test: TypeAlias = Literal["=", "IN", "CONTAINS", "STARTS", "ENDS"]

_TOKEN: Final = re.compile(
    r"""(?P<skip> \s+ | //[^\r\n]* | /\*.*?\*/ )
      | (?P<text> '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" )
      | (?P<name> `[^`]+` | \w+ )
      | (?P<sign> =~ | <> | <= | >= | -> | <- | . )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES: Final[Mapping[str, str]] = {"n": "\n", "t": "\t", "r": "\r"}
_FOLDING: Final = frozenset({"TOLOWER", "TOUPPER", "LOWER", "UPPER"})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the query: a quoted text (unescaped), a name (unquoted) or a sign."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """The token as a keyword or sign; a quoted text is neither."""
        return "" if self.kind == "text" else self.text.upper()


@dataclass(frozen=True, slots=True)
class Claim:
    """A property must equal one of `values` (`=`), hold it in its list (`IN`), or contain, start or end with it."""

    property: str
    test: Test
    values: tuple[str, ...]
    label: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Hop:
    """One relation between two nodes; an empty label is any, and `directed` is false where both directions do."""

    source: str
    types: tuple[str, ...]
    target: str
    directed: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """What a query says that may be mistaken."""

    claims: tuple[Claim, ...]
    hops: tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class _Node:
    variable: str
    label: str
    end: int


def read(cypher: str) -> Reading:
    """The claims and hops of a query. What is not understood is left out: this is for hints, not for safety."""
    tokens = tuple(_tokens(cypher))
    nodes = {at: node for at in range(len(tokens)) if (node := _node(tokens, at))}
    labels = {node.variable: node.label for node in nodes.values() if node.variable and node.label}
    claims = (*_written(tokens, labels), *_mapped(tokens, nodes, labels))
    return Reading(claims, tuple(_hops(tokens, nodes, labels)))


def _tokens(cypher: str) -> Iterator[Token]:
    for found in _TOKEN.finditer(cypher):
        match found.lastgroup:
            case "text":
                yield Token("text", _ESCAPED.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), found[0][1:-1]))
            case "name":
                yield Token("name", found[0].strip("`"))
            case "sign":
                yield Token("sign", found[0])


def _word(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].word if 0 <= at < len(tokens) else ""


def _name(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if 0 <= at < len(tokens) and tokens[at].kind == "name" else ""


def _node(tokens: Sequence[Token], at: int) -> _Node | None:
    """The node pattern that opens at `at`, if one does: ``(``, a variable, one label, a map or WHERE, ``)``."""
    if _word(tokens, at) != "(":
        return None
    variable = "" if _word(tokens, at + 1) == "WHERE" else _name(tokens, at + 1)
    after = at + 2 if variable else at + 1
    label = ""
    if _word(tokens, after) == ":":
        label, after = _name(tokens, after + 1), after + 2
    if _word(tokens, after) not in {")", "{", "WHERE"}:
        return None
    return _Node(variable, "" if label == "Entity" else label, _closing(tokens, at))


def _closing(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for end in range(at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[end].word, 0)
        if depth == 0:
            return end
    return len(tokens)


def _hops(tokens: Sequence[Token], nodes: Mapping[int, _Node], labels: Mapping[str, str]) -> Iterator[Hop]:
    for node in nodes.values():
        opening = node.end + 2
        closing = next((at for at in range(opening, len(tokens)) if tokens[at].word == "]"), None)
        if _word(tokens, opening) != "[" or closing is None:
            continue
        types, other = _types(tokens[opening + 1 : closing]), nodes.get(closing + 2)
        ends = _word(tokens, node.end + 1), _word(tokens, closing + 1)
        if not types or other is None or ends not in {("-", "->"), ("<-", "-"), ("-", "-")}:
            continue
        left, right = (one.label or labels.get(one.variable, "") for one in (node, other))
        source, target = (right, left) if ends == ("<-", "-") else (left, right)
        yield Hop(source, types, target, directed=ends != ("-", "-"))


def _types(inside: Sequence[Token]) -> tuple[str, ...]:
    """The types of a relation pattern of one step; none where there are several steps or an expression."""
    words = [token.word for token in inside]
    if ":" not in words or {"*", "!", "{", "(", "&", "%"} & set(words):
        return ()
    return tuple(token.text for token in inside[words.index(":") :] if token.kind == "name")


def _mapped(tokens: Sequence[Token], nodes: Mapping[int, _Node], labels: Mapping[str, str]) -> Iterator[Claim]:
    """The claims in the maps of node patterns: ``{class: 'cup'}``."""
    for start, node in nodes.items():
        label = node.label or labels.get(node.variable, "")
        for at in range(start, node.end):
            key = _name(tokens, at)
            if key and _word(tokens, at - 1) in {"{", ","} and _word(tokens, at + 1) == ":":
                values = _texts(tokens, at + 2)[:1]
                yield from (Claim(key, "=", (value,), label) for value in values)


def _written(tokens: Sequence[Token], labels: Mapping[str, str]) -> Iterator[Claim]:
    """The claims in expressions: ``n.class = 'cup'``, ``toLower(n.name) CONTAINS 'cup'``, ``'open' IN n.states``."""
    for at in range(1, len(tokens)):
        if tokens[at].word != "." or not _name(tokens, at + 1) or not _name(tokens, at - 1):
            continue
        label = labels.get(tokens[at - 1].text, "")
        claim = _element(tokens, at, label) or _comparison(tokens, at, label)
        if claim is not None:
            yield claim


def _element(tokens: Sequence[Token], dot: int, label: str) -> Claim | None:
    """``'open' IN n.states``, its dot being at `dot`."""
    value = tokens[dot - 3] if dot >= 3 else None
    if value is None or value.kind != "text" or _word(tokens, dot - 2) != "IN" or _word(tokens, dot - 4) == "NOT":
        return None
    return Claim(tokens[dot + 1].text, "IN", (value.text,), label)


def _comparison(tokens: Sequence[Token], dot: int, label: str) -> Claim | None:
    """``n.class = 'cup'`` and the like, the first dot being at `dot`."""
    folded = _word(tokens, dot - 3) in _FOLDING and _word(tokens, dot - 2) == "(" and _word(tokens, dot + 2) == ")"
    start, after = (dot - 3, dot + 3) if folded else (dot - 1, dot + 2)
    if "NOT" in {_word(tokens, start - 1), _word(tokens, start - 2)}:
        return None
    test, values = _tested(tokens, after)
    return Claim(tokens[dot + 1].text, test, values, label, folded) if values else None


def _tested(tokens: Sequence[Token], at: int) -> tuple[Test, tuple[str, ...]]:
    """The test that stands at `at` and the texts it tests for, maybe none; any of a list will do."""
    match _word(tokens, at):
        case "=":
            return "=", _texts(tokens, at + 1)[:1]
        case "CONTAINS":
            return "CONTAINS", _texts(tokens, at + 1)[:1]
        case "STARTS":
            return "STARTS", _texts(tokens, at + 2)[:1]
        case "ENDS":
            return "ENDS", _texts(tokens, at + 2)[:1]
        case "IN" if _word(tokens, at + 1) == "[":
            return "=", _texts(tokens, at + 2)
        case _:
            return "=", ()


def _texts(tokens: Sequence[Token], at: int) -> tuple[str, ...]:
    """The quoted texts from `at` on, with commas between; none where something else stands there."""
    found: list[str] = []
    while at < len(tokens) and tokens[at].kind == "text":
        found.append(tokens[at].text)
        at += 2 if _word(tokens, at + 1) == "," else 1
    return tuple(found)

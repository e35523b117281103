"""The claims of a query about its scene, for hints: which values and relations it asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast, get_args

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.syntax import parse
from scenecypher.db.gate.tree import (
    Call,
    Chain,
    Constant,
    Expression,
    Group,
    Hop,
    Listed,
    Map,
    Node,
    Operator,
    Part,
    Path,
    Property,
    Variable,
)
from scenecypher.db.schema import ENTITY, KINDS
from scenecypher.errors import QueryRefused

Test: TypeAlias = Literal["=", "IN", "CONTAINS", "STARTS", "ENDS"]
_TESTS: Final = frozenset(get_args(Test))
_CASE_FUNCTIONS: Final = frozenset({"tolower", "toupper", "lower", "upper"})


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


def claims_of(cypher: str, kinds: Mapping[str, str] = MappingProxyType({})) -> QueryClaims:
    """Return the claims of a query, none if the gate's parser refuses it; they serve hints, no decision about safety.

    In claims of relations a node without label has the one that `kinds` gives for its class.
    """
    try:
        parsed = parse(cypher, Limits().nesting, frozenset({ENTITY, *KINDS}))
    except QueryRefused:
        return QueryClaims()
    parts = parsed.parts
    nodes = {part.at: part for part in parts if isinstance(part, Node) and len(part.names) == len(part.labels) < 2}
    labels = {node.name: _label(node) for node in nodes.values() if node.name and _label(node)}
    equal = {at: [(key, value) for key, value in _pairs(node.properties)] for at, node in nodes.items()}
    told = {at: _label(node) or labels.get(node.name, "") for at, node in nodes.items()}
    by_class = {at: kinds.get(dict(equal[at]).get("class", ""), "") for at in nodes}
    classes = {node.name: by_class[at] for at, node in nodes.items() if node.name and by_class[at]}
    known = {at: told[at] or by_class[at] or classes.get(node.name, "") for at, node in nodes.items()}
    in_maps = [PropertyClaim(key, "=", (value,), told[at]) for at in nodes for key, value in equal[at]]
    negated = {id(one) for part in parts for denied in _denied(part) for one in denied.walk()}
    tests = (test for part in parts if id(part) not in negated for test in _compared(part))
    compared = [replace(claim, label=labels.get(name, "")) for name, claim in tests]
    return QueryClaims(
        (*compared, *in_maps), tuple(it for part in parts for it in _related(part, known, parsed.tokens))
    )


def _label(node: Node) -> str:
    return node.labels[0] if node.labels and node.labels != (ENTITY,) else ""


def _strings(part: Part) -> tuple[str, ...]:
    """Return the value of a string, alone or in a list of strings; none for all else."""
    match part:
        case Constant(token=token) if token.kind == "string":
            return (token.value,)
        case Expression(terms=(value,)):
            return _strings(value)
        case Listed(items=items) if all(map(_strings, items)):
            return tuple(chain.from_iterable(map(_strings, items)))
    return ()


def _pairs(properties: Map | None) -> Iterator[tuple[str, str]]:
    """Yield the properties of a pattern whose values are strings."""
    for key, value in pairwise(properties.entries if properties else ()):
        if isinstance(key, Property) and len(found := _strings(value)) == 1:
            yield key.name, found[0]


def _property(part: Part) -> tuple[str, str, bool] | None:
    """Return the variable and the property of `n.class`, and whether it is brought to one case as in toLower()."""
    match part:
        case Chain(base=Variable(name=variable), steps=(Property(name=name),)):
            return variable, name, False
        case Call(name=function, arguments=(Expression(terms=(value,)),)) if function in _CASE_FUNCTIONS:
            return (*found[:2], True) if (found := _property(value)) else None
    return None


def _denied(part: Part) -> list[Part]:
    """Return the terms of an expression that follow NOT."""
    pairs = pairwise(part.terms if isinstance(part, Expression) else ())
    return [term for before, term in pairs if isinstance(before, Operator) and before.word == "NOT"]


def _compared(part: Part) -> Iterator[tuple[str, PropertyClaim]]:
    """Yield the tests of an expression that are not negated, each with the variable of its node."""
    terms, denied = part.terms if isinstance(part, Expression) else (), _denied(part)
    for one, operator, other in zip(terms, terms[1:], terms[2:], strict=False):
        if isinstance(operator, Operator) and one not in denied:
            is_held = operator.word == "IN" and isinstance(one, Constant)
            is_listed = operator.word == "IN" and not is_held
            subject, values = (other, _strings(one)) if is_held else (one, _strings(other))
            word, found = "=" if is_listed else operator.word, _property(subject)
            if word in _TESTS and values and isinstance(other, Listed) == is_listed and found:
                yield found[0], PropertyClaim(found[1], cast("Test", word), values, "", found[2])


def _related(part: Part, known: Mapping[int, str], tokens: Sequence[Token]) -> Iterator[RelationClaim]:
    """Yield the relations of a path whose nodes have these labels."""
    links = part.links if isinstance(part, Path | Group) else ()
    for left, hop, right in zip(links, links[1:], links[2:], strict=False):
        named = hop.expression if isinstance(hop, Hop) and hop.is_single and not hop.properties else None
        if isinstance(hop, Hop) and named and named.marks <= {"|", ":"} and {left.at, right.at} <= known.keys():
            ends = (known[left.at], known[right.at])
            source, target = ends[hop.direction < 0], ends[hop.direction >= 0]
            place = tokens[hop.at].start, tokens[right.at - 1].end
            yield RelationClaim(source, hop.names, target, hop.direction != 0, *place)

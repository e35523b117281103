"""The claims of a query about its scene, for hints: which values and relations it asks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast, get_args

from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.syntax import Parsed, parse
from scenecypher.db.gate.tree import (
    Call,
    Chain,
    Constant,
    Expression,
    Group,
    Hop,
    Listed,
    Loop,
    Node,
    Operator,
    Part,
    Path,
    Project,
    Property,
    Variable,
)
from scenecypher.db.schema import ENTITY, SCENES, Schema
from scenecypher.errors import QueryRefused

Test: TypeAlias = Literal["=", "IN", "CONTAINS", "STARTS", "ENDS"]
_TESTS: Final = frozenset(get_args(Test))
TYPE: Final = "type()"
"""The property of a claim about the type of a relation."""
_PLAIN_REGEX: Final = re.compile(r"(\(\?i\))?(\.\*)?([\w ]+)(\.\*)?")
_CASE_FUNCTIONS: Final = {"tolower": str.lower, "toupper": str.upper, "lower": str.lower, "upper": str.upper}


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

    `classes` are those of its source and target, empty where no pattern names one; `start` and `end` are the place of
    its arrow in the text.
    """

    source: str
    types: tuple[str, ...]
    target: str
    directed: bool = True
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    classes: tuple[str, str] = field(default=("", ""), compare=False)


@dataclass(frozen=True, slots=True)
class QueryClaims:
    """The claims of a query about the scene, any of which may be mistaken; `denied` are tests for what shall not be.

    `repeated` are two columns that are the same property of one node, and that property: ``("furniture", "room",
    "x.name")``; empty if there are none.
    """

    properties: tuple[PropertyClaim, ...] = ()
    relations: tuple[RelationClaim, ...] = ()
    repeated: tuple[str, ...] = ()
    denied: tuple[PropertyClaim, ...] = ()


def claims_of(cypher: str, kinds: Mapping[str, str] = MappingProxyType({}), schema: Schema = SCENES) -> QueryClaims:
    """Return the claims of a query, none if the gate's parser refuses it; they serve hints, no decision about safety.

    In claims of relations a node without label has the one that `kinds` gives for its class.
    """
    try:
        parsed = parse(cypher, Limits().nesting, schema)
    except QueryRefused:
        return QueryClaims()
    nodes = [part for part in parsed.parts if isinstance(part, Node) and len(part.names) == len(part.labels) < 2]
    every = {(node.name, _label(node)) for node in nodes if node.name and _label(node)}
    named, has_union = Counter(name for name, _ in every), any(it.word == "UNION" for it in parsed.tokens)
    labels = {name: label for name, label in every if named[name] == 1 and not has_union}
    told = {node.at: _label(node) or labels.get(node.name, "") for node in nodes}
    in_maps = [(node, key, value) for node in nodes for key, value in _pairs(node)]
    of_class = {node.at: value for node, key, value in in_maps if key == "class"}
    by_class = {at: kinds.get(value, "") for at, value in of_class.items()}
    named_class = {node.name: of_class[node.at] for node in nodes if node.name and node.at in of_class}
    classes = {node.at: of_class.get(node.at) or named_class.get(node.name, "") for node in nodes}
    by_name = {node.name: by_class[node.at] for node in nodes if node.name and by_class.get(node.at)}
    known = {node.at: told[node.at] or by_class.get(node.at) or by_name.get(node.name, "") for node in nodes}
    negated, loops = _negated(parsed), dict(_loops(parsed))
    compared = [*chain.from_iterable(_compared(part, labels, negated, loops) for part in parsed.parts)]
    meant, denied = (tuple(claim for claim, it in compared if it == is_denied) for is_denied in (False, True))
    equal = (PropertyClaim(key, "=", (value,), told[node.at]) for node, key, value in in_maps)
    related = chain.from_iterable(_related(part, known, classes, parsed) for part in parsed.parts)
    repeated = next(chain.from_iterable(map(_repeated, parsed.parts)), ())
    return QueryClaims((*meant, *equal), tuple(related), repeated, denied)


def _label(node: Node) -> str:
    return node.labels[0] if node.labels and node.labels != (ENTITY,) else ""


def _strings(part: Part) -> tuple[str, ...]:
    """Return the value of a string, alone or in a list of strings; none for all else."""
    match part:
        case Constant(token=token) if token.kind == "string":
            return (token.value,)
        case Expression(terms=(value,)):
            return _strings(value)
        case Call(name=function, arguments=(value,)) if function in _CASE_FUNCTIONS:
            return tuple(map(_CASE_FUNCTIONS[function], _strings(value)))
        case Listed(items=items) if all(map(_strings, items)):
            return tuple(chain.from_iterable(map(_strings, items)))
    return ()


def _pairs(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the properties of a pattern whose values are strings."""
    for key, value in pairwise(node.properties.entries if node.properties else ()):
        if isinstance(key, Property) and len(found := _strings(value)) == 1:
            yield key.name, found[0]


def _property(part: Part) -> tuple[str, str, bool] | None:
    """Return the variable and the property of `n.class` or `type(r)`, and whether it is brought to one case."""
    match part:
        case Chain(base=Variable(name=variable), steps=(Property(name=name),)):
            return variable, name, False
        case Call(name="type", arguments=(Expression(terms=(Variable(name=variable),)),)):
            return variable, TYPE, False
        case Call(name=function, arguments=(Expression(terms=(value,)),)) if function in _CASE_FUNCTIONS:
            return (*found[:2], True) if (found := _property(value)) else None
    return None


def _repeated(part: Part) -> Iterator[tuple[str, ...]]:
    """Yield pairs of columns that are the same property under two names."""
    first = dict[str, str]()
    for item in part.items if isinstance(part, Project) else ():
        match item.value:
            case Expression(terms=(value,)) if (found := _property(value)) and not found[2]:
                here = f"{found[0]}.{found[1]}"
                if first.setdefault(here, item.name) != item.name:
                    yield first[here], item.name, here


def _negated(parsed: Parsed) -> frozenset[int]:
    """Return the ids of all parts of what follows NOT."""
    pairs = (pair for part in parsed.parts if isinstance(part, Expression) for pair in pairwise(part.terms))
    denied = (term for before, term in pairs if isinstance(before, Operator) and before.word == "NOT")
    return frozenset(id(part) for term in denied for part in term.walk())


def _loops(parsed: Parsed) -> Iterator[tuple[str, tuple[str, str, bool]]]:
    """Yield the variables of loops over a node's list, as in `any(s IN n.states WHERE …)`, and that list."""
    for part in parsed.parts:
        match part:
            case Loop(name=name, source=Expression(terms=(value,))) if found := _property(value):
                yield name, found


def _compared(
    part: Part, labels: Mapping[str, str], negated: frozenset[int], loops: Mapping[str, tuple[str, str, bool]]
) -> Iterator[tuple[PropertyClaim, bool]]:
    """Yield the tests of an expression, and whether they are denied."""
    terms = part.terms if isinstance(part, Expression) else ()
    for one, operator, other in zip(terms, terms[1:], (*terms[2:], None), strict=False):
        if not isinstance(operator, Operator):
            continue
        is_denied = operator.word == "<>" or not negated.isdisjoint((id(part), id(one)))
        if regex := _PLAIN_REGEX.fullmatch(operator.regex):
            if found := _property(one):
                tests: tuple[Test, ...] = ("=", "STARTS", "ENDS", "CONTAINS")
                test = tests[2 * bool(regex[2]) + bool(regex[4])]
                yield _claim(found, test, (regex[3],), labels, ignores_case=bool(regex[1])), is_denied
        elif other is not None and operator.word in {*_TESTS, "<>"}:
            is_listed = operator.word == "IN" and not isinstance(one, Constant)
            subject, values = (one, _strings(other)) if is_listed or operator.word != "IN" else (other, _strings(one))
            word = "=" if is_listed or operator.word == "<>" else operator.word
            item = loops.get(subject.name) if isinstance(subject, Variable) and word == "=" else None
            found = item or _property(subject)
            if values and found and isinstance(other, Listed) == is_listed:
                yield _claim(found, "IN" if item else cast("Test", word), values, labels), is_denied


def _claim(
    of: tuple[str, str, bool],
    test: Test,
    values: tuple[str, ...],
    labels: Mapping[str, str],
    *,
    ignores_case: bool = False,
) -> PropertyClaim:
    variable, name, is_of_one_case = of
    return PropertyClaim(name, test, values, labels.get(variable, ""), is_of_one_case or ignores_case)


def _related(
    part: Part, known: Mapping[int, str], classes: Mapping[int, str], parsed: Parsed
) -> Iterator[RelationClaim]:
    """Yield the relations of a path whose nodes have these labels and classes."""
    links = part.links if isinstance(part, Path | Group) else ()
    for left, hop, right in zip(links, links[1:], links[2:], strict=False):
        named = hop.expression if isinstance(hop, Hop) and hop.is_single and not hop.properties else None
        if isinstance(hop, Hop) and named and named.marks <= {"|", ":"} and {left.at, right.at} <= known.keys():
            ends = (left, right) if hop.direction >= 0 else (right, left)
            source, target = (known[end.at] for end in ends)
            of = classes[ends[0].at], classes[ends[1].at]
            place = parsed.tokens[hop.at].start, parsed.tokens[right.at - 1].end
            yield RelationClaim(source, hop.names, target, hop.direction != 0, *place, of)

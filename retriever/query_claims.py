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
    Clause,
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
"""The property of a claim about the type of a relation; that of one about the labels of a node is ``labels()``."""
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
    """One relation between two nodes, or several in a row unless it `is_single`. An empty label stands for any;
    `directed` is false if both directions match.

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
    is_single: bool = True


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
    bound = dict(_bound(parsed))
    in_maps = [(node, key, values) for node in nodes for key, values in _pairs(node, bound)]
    of_class = {node.at: values[0] for node, key, values in in_maps if key == "class" and len(values) == 1}
    by_class = {at: kinds.get(value, "") for at, value in of_class.items()}
    named_class = {node.name: of_class[node.at] for node in nodes if node.name and node.at in of_class}
    classes = {node.at: of_class.get(node.at) or named_class.get(node.name, "") for node in nodes}
    by_name = {node.name: by_class[node.at] for node in nodes if node.name and by_class.get(node.at)}
    known = {node.at: told[node.at] or by_class.get(node.at) or by_name.get(node.name, "") for node in nodes}
    negated, names = _negated(parsed), _Names(labels, bound, dict(_loops(parsed)))
    compared = [*chain.from_iterable(_compared(part, negated, names) for part in parsed.parts)]
    meant, denied = (tuple(claim for claim, it in compared if it == is_denied) for is_denied in (False, True))
    equal = (PropertyClaim(key, "=", values, told[node.at]) for node, key, values in in_maps)
    related = chain.from_iterable(_related(part, known, classes, parsed) for part in parsed.parts)
    repeated = next(chain.from_iterable(map(_repeated, parsed.parts)), ())
    return QueryClaims((*meant, *equal), tuple(related), repeated, denied)


def _label(node: Node) -> str:
    return node.labels[0] if node.labels and node.labels != (ENTITY,) else ""


Bound: TypeAlias = Mapping[str, tuple[str, ...]]
"""Variables that stand for strings, by WITH, UNWIND, LET or a loop over a list."""
NOTHING: Final[Bound] = MappingProxyType({})
Subject: TypeAlias = tuple[str, str, str]
"""A variable, its property, and the function that brings that to one case, if any."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The variables of a query: labels of nodes, strings, and the lists of nodes whose items loops name."""

    labels: Mapping[str, str]
    bound: Bound
    loops: Mapping[str, Subject]


def _bound(parsed: Parsed) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield variables that stand for strings, and these; none that stand for something else, too."""
    given: dict[str, set[tuple[str, ...]]] = {}
    for part in parsed.parts:
        for item in part.items if isinstance(part, Project | Clause) else ():
            if not (isinstance(it := _only(item.value), Variable) and it.name == item.name):
                given.setdefault(item.name, set()).add(_strings(item.value))
        if isinstance(part, Loop) and isinstance(part.source, Expression):
            given.setdefault(part.name, set()).add(_strings(part.source))
    for name, found in given.items():
        if name and len(found) == 1 and (values := found.pop()):
            yield name, values


def _strings(part: Part, bound: Bound = NOTHING) -> tuple[str, ...]:
    """Return the value of a string, alone or in a list of strings, or of a variable that is one; none for all else."""
    match part:
        case Variable(name=name):
            return bound.get(name, ())
        case Constant(token=token) if token.kind == "string":
            return (token.value,)
        case Expression(terms=(value,)):
            return _strings(value, bound)
        case Call(name=function, arguments=(value,)) if function in _CASE_FUNCTIONS:
            return tuple(map(_CASE_FUNCTIONS[function], _strings(value)))
        case Listed(items=items) if all(map(_strings, items)):
            return tuple(chain.from_iterable(map(_strings, items)))
    return ()


def _pairs(node: Node, bound: Bound) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the properties of a pattern whose values are strings; several of a variable, any of which may be meant."""
    for key, value in pairwise(node.properties.entries if node.properties else ()):
        if isinstance(key, Property) and (found := _strings(value, bound)) and not isinstance(_only(value), Listed):
            yield key.name, found


def _only(part: Part) -> Part:
    """Return the value that an expression consists of, else the expression."""
    return part.terms[0] if isinstance(part, Expression) and len(part.terms) == 1 else part


def _property(part: Part) -> Subject | None:
    """Return the variable and the property of `n.class` or `type(r)`, and whether it is brought to one case."""
    match part:
        case Chain(base=Variable(name=variable), steps=(Property(name=name),)):
            return variable, name, ""
        case Call(name="type" | "labels" as read, arguments=(Expression(terms=(Variable(name=variable),)),)):
            return variable, f"{read}()", ""
        case Call(name=function, arguments=(Expression(terms=(value,)),)) if function in _CASE_FUNCTIONS:
            return (*found[:2], function) if (found := _property(value)) else None
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


def _loops(parsed: Parsed) -> Iterator[tuple[str, Subject]]:
    """Yield the variables of loops over a node's list, as in `any(s IN n.states WHERE …)`, and that list."""
    for part in parsed.parts:
        match part:
            case Loop(name=name, source=Expression(terms=(value,))) if found := _property(value):
                yield name, found


def _compared(part: Part, negated: frozenset[int], names: _Names) -> Iterator[tuple[PropertyClaim, bool]]:
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
                yield _claim(found, test, (regex[3],), names, ignores_case=bool(regex[1])), is_denied
        elif other is not None and operator.word in {*_TESTS, "<>"}:
            for claim in _tested(one, operator.word, other, names):
                yield claim, is_denied


def _tested(one: Part, word: str, other: Part, names: _Names) -> Iterator[PropertyClaim]:
    """Yield the claim of a test of a property, whichever side it stands on; of one in a list the item."""
    is_swapped = bool(word in {"=", "<>", "IN"} and _strings(one, names.bound) and _property(other))
    subject, value = (other, one) if is_swapped else (one, other)
    item = names.loops.get(subject.name) if isinstance(subject, Variable) else None
    found, values = item or _property(subject), _strings(value, names.bound)
    is_list = isinstance(value, Listed) or (isinstance(value, Variable) and word == "IN")
    is_read = is_swapped or is_list if word == "IN" else not is_list
    if found is None or not values or not is_read or (item and word not in {"=", "IN"}):
        return
    holds = word == "IN" and (is_swapped or item is not None)
    yield _claim(found, "IN" if holds or item else "=" if word in {"IN", "<>"} else cast("Test", word), values, names)


def _claim(
    of: Subject, test: Test, values: tuple[str, ...], names: _Names, *, ignores_case: bool = False
) -> PropertyClaim:
    """Return a claim; what is brought to one case is equal to no value in the other."""
    variable, name, function = of
    is_of_one_case = bool(function) and all(_CASE_FUNCTIONS[function](value) == value for value in values)
    return PropertyClaim(name, test, values, names.labels.get(variable, ""), is_of_one_case or ignores_case)


def _related(
    part: Part, known: Mapping[int, str], classes: Mapping[int, str], parsed: Parsed
) -> Iterator[RelationClaim]:
    """Yield the relations of a path whose nodes have these labels and classes."""
    links = part.links if isinstance(part, Path | Group) else ()
    for left, hop, right in zip(links, links[1:], links[2:], strict=False):
        named = hop.expression if isinstance(hop, Hop) and not hop.properties else None
        if isinstance(hop, Hop) and named and named.marks <= {"|", ":"} and {left.at, right.at} <= known.keys():
            ends = (left, right) if hop.direction >= 0 else (right, left)
            source, target = (known[end.at] for end in ends)
            of = classes[ends[0].at], classes[ends[1].at]
            place = parsed.tokens[hop.at].start, parsed.tokens[right.at - 1].end
            yield RelationClaim(source, hop.names, target, hop.direction != 0, *place, of, hop.is_single)

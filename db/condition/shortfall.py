"""Explanation of failing Conditions: the smallest parts that fail, in words that a model can act on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, assert_never

from scenecypher.db.condition.algebra import (
    NEVER,
    And,
    AtLeast,
    Atom,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasClass,
    HasKind,
    Id,
    Not,
    Or,
    Quantifier,
    conjuncts,
    terms,
)
from scenecypher.db.condition.evaluation import evaluate, witnesses
from scenecypher.db.condition.words import Phraser
from scenecypher.db.graph.scene import GraphView

CASES_NAMED: Final = 5
"""Cap on the nodes that are named one by one where a quantified condition fails."""


def unmet_parts(condition: Condition, graph: GraphView, bindings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the smallest parts that fail, each as a sentence about the obstacle; empty if `condition` holds."""
    return tuple(dict.fromkeys(_failures(condition, graph, bindings)))


def _failures(condition: Condition, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    match condition:
        case _ if evaluate(condition, graph, bindings):
            return
        case And():
            for part in condition.parts:
                yield from _failures(part, graph, bindings)
        case Or():
            yield from _failures_of_or(condition, graph, bindings)
        case Not():
            yield from _failures_of_not(condition.part, graph, bindings)
        case ForAll() | Exists() | AtLeast() | Exactly():
            yield from _failures_of_quantifier(condition, graph, bindings)
        case _:
            yield from _failures_of_atom(condition, graph, bindings)


def _failures_of_or(condition: Or, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    if len(condition.parts) == 1:
        yield from _failures(condition.parts[0], graph, bindings)
        return
    speaker = Phraser(graph, bindings)
    choices = ", or ".join(speaker.said(part) for part in condition.parts)
    yield f"none of these holds: {choices}" if choices else speaker.said(condition)


def _failures_of_not(part: Condition, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    """Yield the reasons why `part` holds, which it should not."""
    match part:
        case Not():
            yield from _failures(part.part, graph, bindings)
        case Or():
            for choice in part.parts:
                yield from _failures(Not(choice), graph, bindings)
        case And(()):
            yield Phraser(graph, bindings).said(NEVER)
        case Exists() if informative := _informative_parts(part):
            found = witnesses(part.var, part.where, graph=graph, bindings=bindings)
            yield from _cases(Not(And(informative)), part.var, found, graph=graph, bindings=bindings)
        case _:
            yield Phraser(graph, bindings).said(part)


def _informative_parts(condition: Exists) -> tuple[Condition, ...]:
    """Return the conjuncts worth stating about a witness: not that an apple is an apple."""
    parts = conjuncts(condition.where)
    return tuple(part for part in parts if not (isinstance(part, HasClass | HasKind) and part.x == condition.var))


def _failures_of_quantifier(condition: Quantifier, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    found = witnesses(condition.var, condition.where, graph=graph, bindings=bindings)
    match condition:
        case ForAll():
            yield from _cases(condition.then, condition.var, found, graph=graph, bindings=bindings)
        case AtLeast() | Exactly():
            yield f"{Phraser(graph, bindings).said(condition, negated=True)} ({sum(1 for _ in found)} now)"
        case Exists():
            yield Phraser(graph, bindings).said(condition, negated=True)
        case _:
            assert_never(condition)


def _cases(
    then: Condition, var: str, found: Iterable[str], *, graph: GraphView, bindings: Mapping[str, str]
) -> Iterator[str]:
    failing = (node for node in found if not evaluate(then, graph, {**bindings, var: node}))
    for node in islice(failing, CASES_NAMED):
        yield from _failures(then, graph, {**bindings, var: node})
    more = sum(1 for _ in failing)
    if more:
        yield f"{more} more like these"


def _failures_of_atom(atom: Atom, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    lacking = False
    for term in terms(atom):
        node_id = term.id if isinstance(term, Id) else bindings.get(term)
        if node_id is None:
            yield f"nothing is given for {term}"
        elif node_id not in graph.nodes:
            yield f"there is no node '{node_id}'"
        lacking = lacking or node_id is None or node_id not in graph.nodes
    if not lacking:
        yield Phraser(graph, bindings).said(atom, negated=True)

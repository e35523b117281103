"""The value of a Condition on a scene graph in memory: two-valued, and what is absent is false."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import assert_never

from db.change import value_of
from db.condition.algebra import (
    And,
    AtLeast,
    Atom,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasAffordance,
    HasClass,
    HasKind,
    HasState,
    HeldBy,
    Id,
    Not,
    Or,
    PropertyEquals,
    Quantifier,
    Related,
    Same,
    Term,
    Within,
    conjuncts,
    terms,
)
from db.scene import Relation, SceneGraph, same_value
from db.schema import HOLDING


def evaluate(condition: Condition, graph: SceneGraph, bindings: Mapping[str, str]) -> bool:
    """Whether `condition` holds; `bindings` gives variables their node ids.

    An atom about an unbound variable or a missing node is false, so its Not is true.
    """
    match condition:
        case And():
            return all(evaluate(part, graph, bindings) for part in condition.parts)
        case Or():
            return any(evaluate(part, graph, bindings) for part in condition.parts)
        case Not():
            return not evaluate(condition.part, graph, bindings)
        case Exists() | ForAll() | AtLeast() | Exactly():
            return _holds_for(condition, graph, bindings)
        case _:
            return _holds(condition, graph, bindings)


def witnesses(var: str, where: Condition, *, graph: SceneGraph, bindings: Mapping[str, str]) -> Iterator[str]:
    """Ids of the nodes that, as `var`, make `where` true."""
    for node in _candidates(var, where, graph, bindings):
        if evaluate(where, graph, {**bindings, var: node}):
            yield node


def resolve(term: Term, graph: SceneGraph, bindings: Mapping[str, str]) -> str | None:
    """The id of the node that `term` stands for; None where it is unbound or missing."""
    node = term.id if isinstance(term, Id) else bindings.get(term)
    return node if node is not None and node in graph.nodes else None


def _holds_for(condition: Quantifier, graph: SceneGraph, bindings: Mapping[str, str]) -> bool:
    found = witnesses(condition.var, condition.where, graph=graph, bindings=bindings)
    match condition:
        case Exists():
            return _counted(found, 1) == 1
        case ForAll():
            return all(evaluate(condition.then, graph, {**bindings, condition.var: node}) for node in found)
        case AtLeast():
            return _counted(found, condition.n) == condition.n
        case Exactly():
            return _counted(found, condition.n + 1) == condition.n
        case _:
            assert_never(condition)


def _counted(found: Iterator[str], limit: int) -> int:
    return sum(1 for _ in islice(found, limit))


def _holds(atom: Atom, graph: SceneGraph, bindings: Mapping[str, str]) -> bool:
    match atom:
        case Related() | HeldBy() | Within() | Same():
            return _holds_between(atom, graph, bindings)
        case HasState() | HasClass() | HasKind() | HasAffordance() | PropertyEquals():
            node_id = resolve(atom.x, graph, bindings)
            return node_id is not None and _holds_of(atom, graph, node_id)
        case _:
            assert_never(atom)


def _holds_of(
    atom: HasState | HasClass | HasKind | HasAffordance | PropertyEquals, graph: SceneGraph, node_id: str
) -> bool:
    node = graph.nodes[node_id]
    match atom:
        case HasState():
            return atom.state in node.states
        case HasClass():
            return atom.class_ == node.class_
        case HasKind():
            return atom.kind == node.kind
        case HasAffordance():
            return atom.affordance in node.affordances
        case PropertyEquals():
            return same_value(value_of(node, atom.key), atom.value)


def _holds_between(atom: Related | HeldBy | Within | Same, graph: SceneGraph, bindings: Mapping[str, str]) -> bool:
    match atom:
        case Related():
            x, y = resolve(atom.source, graph, bindings), resolve(atom.target, graph, bindings)
            return x is not None and y is not None and Relation(x, atom.type, y) in graph.relations
        case HeldBy():
            x, y = resolve(atom.x, graph, bindings), resolve(atom.agent, graph, bindings)
            return (
                x is not None and y is not None and any(Relation(y, type_, x) in graph.relations for type_ in HOLDING)
            )
        case Within():
            x, y = resolve(atom.x, graph, bindings), resolve(atom.y, graph, bindings)
            return x is not None and y is not None and y in graph.reached(x, *atom.types)
        case Same():
            x, y = resolve(atom.x, graph, bindings), resolve(atom.y, graph, bindings)
            return x is not None and x == y


def _candidates(var: str, where: Condition, graph: SceneGraph, bindings: Mapping[str, str]) -> Collection[str]:
    """The smallest set of ids, read off one part of `where`, that holds every witness; else all ids."""
    best: Collection[str] = graph.nodes
    for part in conjuncts(where):
        found = _narrowed(var, part, graph, bindings)
        if found is not None and len(found) < len(best):
            best = found
    return sorted(best) if isinstance(best, set) else best


def _narrowed(var: str, part: Condition, graph: SceneGraph, bindings: Mapping[str, str]) -> Collection[str] | None:
    match part:
        case HasClass(x, class_) if x == var:
            return graph.by_class.get(class_, ())
        case HasKind(x, kind) if x == var:
            return graph.by_kind.get(kind, ())
        case Related() | HeldBy() | Within() | Same():
            return _neighbours(var, part, graph, bindings)
        case _:
            return None


def _neighbours(
    var: str, atom: Related | HeldBy | Within | Same, graph: SceneGraph, bindings: Mapping[str, str]
) -> Collection[str] | None:
    first, second = terms(atom)
    if var not in (first, second) or first == second:
        return None
    other = resolve(second if first == var else first, graph, bindings)
    if other is None:
        return ()
    match atom:
        case Related():
            return set(graph.sources(other, atom.type) if first == var else graph.targets(other, atom.type))
        case HeldBy():
            return set(graph.targets(other, *HOLDING) if first == var else graph.sources(other, *HOLDING))
        case Within():
            return graph.reaching(other, *atom.types) if first == var else graph.reached(other, *atom.types)
        case Same():
            return (other,)

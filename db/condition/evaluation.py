"""Evaluation of a Condition on a scene graph in memory: two-valued, false of absent nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import assert_never

from scenecypher.db.condition import algebra as c
from scenecypher.db.graph.change import value_of
from scenecypher.db.graph.scene import GraphView, Node, same_value
from scenecypher.db.schema import HOLDING


def evaluate(condition: c.Condition, graph: GraphView, bindings: Mapping[str, str]) -> bool:
    """Check if `condition` holds; `bindings` maps variables to node ids.

    An atom about an unbound variable or a missing node is false, so its Not is true.
    """
    match condition:
        case c.Related() | c.HeldBy() | c.Within() | c.Same():
            return _holds_between(condition, graph, bindings)
        case c.HasState() | c.HasClass() | c.HasKind() | c.HasAffordance() | c.PropertyEquals():
            node_id = resolve_term(condition.x, graph, bindings)
            return node_id is not None and _holds_of(condition, graph.nodes[node_id])
        case c.And():
            return all(evaluate(part, graph, bindings) for part in condition.parts)
        case c.Or():
            return any(evaluate(part, graph, bindings) for part in condition.parts)
        case c.Not():
            return not evaluate(condition.part, graph, bindings)
        case _:
            return _holds_for(condition, graph, bindings)


def witnesses(var: str, where: c.Condition, *, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    """Yield the ids of the nodes that, bound to `var`, make `where` true."""
    for node in _candidates(var, where, graph, bindings):
        if evaluate(where, graph, {**bindings, var: node}):
            yield node


def resolve_term(term: c.Term, graph: GraphView, bindings: Mapping[str, str]) -> str | None:
    """Return the node id of `term`; None if it is unbound or missing."""
    node = term.id if isinstance(term, c.Id) else bindings.get(term)
    return node if node is not None and node in graph.nodes else None


def _holds_for(condition: c.Quantifier, graph: GraphView, bindings: Mapping[str, str]) -> bool:
    found = witnesses(condition.var, condition.where, graph=graph, bindings=bindings)
    match condition:
        case c.Exists():
            return _count_up_to(found, 1) == 1
        case c.ForAll():
            return all(evaluate(condition.then, graph, {**bindings, condition.var: node}) for node in found)
        case c.AtLeast():
            return _count_up_to(found, condition.n) == condition.n
        case c.Exactly():
            return _count_up_to(found, condition.n + 1) == condition.n
        case _:
            assert_never(condition)


def _count_up_to(found: Iterator[str], limit: int) -> int:
    return sum(1 for _ in islice(found, limit))


def _holds_of(atom: c.HasState | c.HasClass | c.HasKind | c.HasAffordance | c.PropertyEquals, node: Node) -> bool:
    match atom:
        case c.HasState():
            return atom.state in node.states
        case c.HasClass():
            return atom.class_ == node.class_
        case c.HasKind():
            return atom.kind == node.kind
        case c.HasAffordance():
            return atom.affordance in node.affordances
        case c.PropertyEquals():
            return same_value(value_of(node, atom.key), atom.value)


def _holds_between(
    atom: c.Related | c.HeldBy | c.Within | c.Same, graph: GraphView, bindings: Mapping[str, str]
) -> bool:
    first, second = c.terms(atom)
    x, y = resolve_term(first, graph, bindings), resolve_term(second, graph, bindings)
    if x is None or y is None:
        return False
    match atom:
        case c.Related():
            return graph.has(x, atom.type, y)
        case c.HeldBy():
            return any(graph.has(y, type_, x) for type_ in HOLDING)
        case c.Within():
            return y in graph.reached(x, *atom.types)
        case c.Same():
            return x == y


def _candidates(var: str, where: c.Condition, graph: GraphView, bindings: Mapping[str, str]) -> Collection[str]:
    """Return the smallest superset of the witnesses that one conjunct of `where` gives, else all ids."""
    best: Collection[str] = graph.nodes
    for part in c.conjuncts(where):
        found = _narrowed(var, part, graph, bindings)
        if found is not None and len(found) < len(best):
            best = found
    return sorted(best) if isinstance(best, set) else best


def _narrowed(var: str, part: c.Condition, graph: GraphView, bindings: Mapping[str, str]) -> Collection[str] | None:
    match part:
        case c.HasClass(x, class_) if x == var:
            return graph.by_class.get(class_, ())
        case c.HasKind(x, kind) if x == var:
            return graph.by_kind.get(kind, ())
        case c.Related() | c.HeldBy() | c.Within() | c.Same():
            return _neighbours(var, part, graph, bindings)
        case _:
            return None


def _neighbours(
    var: str, atom: c.Related | c.HeldBy | c.Within | c.Same, graph: GraphView, bindings: Mapping[str, str]
) -> Collection[str] | None:
    first, second = c.terms(atom)
    if var not in (first, second) or first == second:
        return None
    other = resolve_term(second if first == var else first, graph, bindings)
    if other is None:
        return ()
    match atom:
        case c.Related():
            return set(graph.sources(other, atom.type) if first == var else graph.targets(other, atom.type))
        case c.HeldBy():
            return set(graph.targets(other, *HOLDING) if first == var else graph.sources(other, *HOLDING))
        case c.Within():
            return graph.reaching(other, *atom.types) if first == var else graph.reached(other, *atom.types)
        case c.Same():
            return (other,)

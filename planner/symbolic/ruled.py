"""What a plan must never bring about, of what a rule forbids: all but what is so at the start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph


def planned_never(condition: c.Condition, graph: SceneGraph) -> c.Condition | None:
    """Return what a plan must not bring about: the condition, but for the things of which it is true at the start.

    None if it is true at the start of no single things: a plan is checked against it step by step in any case.
    """
    if not c.evaluate(condition, graph, {}):
        return condition
    match condition:
        case c.Or(parts):
            found = [it for part in parts if (it := planned_never(part, graph)) is not None]
            return c.Or(tuple(found)) if found else None
        case c.Exists():
            variables = _chain(condition)
            known = tuple(_same(it) for it in _solutions(condition, graph, {}))
            return _within(condition, len(variables), c.Not(c.Or(known)))
    return None


def _chain(condition: c.Exists) -> tuple[str, ...]:
    """Return the variables of existentials, each the only one within the one before it."""
    inner = _inner(condition)
    return (condition.var, *(_chain(inner) if inner else ()))


def _inner(condition: c.Exists) -> c.Exists | None:
    found = [it for it in c.conjuncts(condition.where) if isinstance(it, c.Exists)]
    return found[0] if len(found) == 1 else None


def _solutions(condition: c.Exists, graph: SceneGraph, known: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    inner = _inner(condition)
    for node in c.witnesses(condition.var, condition.where, graph=graph, bindings=known):
        bound = {**known, condition.var: node}
        yield from _solutions(inner, graph, bound) if inner else (bound,)


def _same(nodes: Mapping[str, str]) -> c.Condition:
    return c.And(tuple(c.Same(var, c.Id(node)) for var, node in nodes.items()))


def _within(condition: c.Exists, depth: int, more: c.Condition) -> c.Exists:
    """Return the existential with a further conjunct in the innermost of the chain."""
    inner = _inner(condition)
    if inner is None or depth == 1:
        return replace(condition, where=c.And((*c.conjuncts(condition.where), more)))
    deeper = _within(inner, depth - 1, more)
    parts = (deeper if it is inner else it for it in c.conjuncts(condition.where))
    return replace(condition, where=c.And(tuple(parts)))

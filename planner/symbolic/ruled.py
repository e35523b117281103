"""What a plan must never bring about, of what a rule forbids: all but what is so at the start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.rules import Rule
from scenecypher.planner.actions.operator import Become, nested_effects
from scenecypher.planner.rules.contradictions import may_hold
from scenecypher.planner.symbolic.required_actions import PlanningState
from scenecypher.planner.symbolic.write import goal_parts


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


def holds_with(condition: c.Condition, goal: c.Condition, graph: SceneGraph) -> bool:
    """Check if a condition, false now, holds wherever a goal does; False where that can't be told at once.

    A condition that denies nothing holds in any state if it holds in one with the facts of the goal alone.
    """
    if any(isinstance(it, c.Not | c.ForAll | c.Exactly | c.PropertyEquals) for it in _parts(condition)):
        return False
    if c.evaluate(condition, graph, {}):
        return False
    states: dict[str, set[str]] = {}
    relations: set[Relation] = set()
    for part in goal_parts(goal, graph):
        match part:
            case c.HasState(c.Id(node), state):
                states.setdefault(node, set()).add(state)
            case c.Related(c.Id(source), type_, c.Id(target)):
                relations.add(Relation(source, type_, target))
    nodes = (replace(it, states=tuple(states.get(it.id, ()))) for it in graph.nodes.values())
    known = {it for it in relations if it.source in graph.nodes and it.target in graph.nodes}
    return c.evaluate(condition, SceneGraph.of(nodes, known), {})


def stays_open(rule: Rule, goal: c.Condition, state: PlanningState) -> bool:
    """Check if a goal brings about what a duty begins with, beside which what it asks for can't hold.

    False where that can't be told at once. Opposite states are those in whose place an action gives another.
    """
    effects = (effect for it in state.operators.values() for effect in nested_effects(it.effects))
    opposites = {frozenset((it.state, it.instead_of)) for it in effects if isinstance(it, Become) and it.instead_of}
    together = c.And((rule.begun, rule.condition))
    return holds_with(rule.begun, goal, state.graph) and not may_hold(together, state.graph, opposites)


def _parts(condition: c.Condition) -> Iterator[c.Condition]:
    yield condition
    for it in c.children(condition):
        yield from _parts(it)


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

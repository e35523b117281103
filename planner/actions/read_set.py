"""The read set of an operator, derived from its data: the relations and nodes that its result depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, TypeAlias, assert_never

import scenecypher.db.condition as c
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.commit import PLACEHOLDER_KIND
from scenecypher.db.store.footprint import NodeFilter, RelationPattern
from scenecypher.planner.actions.operator import (
    AGENT,
    Assign,
    Become,
    Cease,
    Choose,
    Effect,
    ForEach,
    Forget,
    Operator,
    Relate,
    Unrelate,
    When,
)

ANY_NODE: Final = "_"
"""The variable for an arbitrary node at the other end of a relation."""


@dataclass(frozen=True, slots=True)
class AccessPath:
    """One path to the node that a variable stands for: its hops, and the variable's name in them."""

    name: str
    hops: tuple[RelationPattern, ...] = ()


AccessPaths: TypeAlias = Mapping[str, tuple[AccessPath, ...]]


@dataclass(frozen=True, slots=True)
class ReadNeed:
    """A fact that an action depends on: the last hop of `hops`, the node `whole`, or the nodes of `class_`.

    With `only`, the node matters only if it meets that filter. `guard` is a seed and an affordance: without that
    affordance the fact does not matter.
    """

    hops: tuple[RelationPattern, ...] = ()
    whole: str | None = None
    only: NodeFilter | None = None
    class_: str | None = None
    guard: tuple[str, str] | None = None


def read_needs(operator: Operator) -> Iterator[ReadNeed]:
    """Yield every fact that the operator's conditions and effects may depend on; some occur more than once."""
    known: AccessPaths = {name: (AccessPath(name),) for name in seed_variables(operator)}
    yield from choice_needs(operator.choose, known)
    known = add_choices(operator.choose, known)
    for requirement in operator.requires:
        yield from condition_needs(requirement.condition, known)
    for effect in operator.effects:
        yield from effect_needs(effect, known)


def seed_variables(operator: Operator) -> tuple[str, ...]:
    """Return the variables that are bound from the start: the agent, then the parameters."""
    return (AGENT, *(parameter.name for parameter in operator.parameters))


def choice_needs(choices: tuple[Choose, ...], known: AccessPaths) -> Iterator[ReadNeed]:
    """Yield the facts that binding `choices` depends on."""
    for choice in choices:
        for where in choice.among:
            yield from quantifier_needs(choice.var, where, known)
        known = add_choices((choice,), known)


def add_choices(choices: tuple[Choose, ...], known: AccessPaths) -> AccessPaths:
    """Return `known` extended by the access paths of the chosen variables."""
    for choice in choices:
        paths = (path for where in choice.among for path in access_paths(choice.var, where, known))
        known = {**known, choice.var: tuple(dict.fromkeys(paths))}
    return known


def condition_needs(condition: c.Condition, known: AccessPaths) -> Iterator[ReadNeed]:
    """Yield the facts that evaluating `condition` depends on."""
    match condition:
        case c.And() | c.Or() | c.Not():
            for part in (condition.part,) if isinstance(condition, c.Not) else condition.parts:
                yield from condition_needs(part, known)
        case c.Exists() | c.AtLeast() | c.Exactly():
            yield from quantifier_needs(condition.var, condition.where, known)
        case c.ForAll():
            inside = {**known, condition.var: access_paths(condition.var, condition.where, known)}
            yield from quantifier_needs(condition.var, condition.where, known)
            yield from condition_needs(condition.then, inside)
        case c.Related() | c.HeldBy() | c.Within():
            yield from hop_needs(hop_of(condition), known)
        case c.HasState() | c.HasClass() | c.HasKind() | c.HasAffordance() | c.PropertyEquals():
            yield from node_needs(condition.x, known, only=filter_of(condition))
        case c.Same():
            return
        case _:
            assert_never(condition)


def quantifier_needs(var: str, where: c.Condition, known: AccessPaths) -> Iterator[ReadNeed]:
    """Yield the facts needed to find the nodes that make `where` true when bound to `var`."""
    for alternative in positive_alternatives(where):
        classes = [part.class_ for part in alternative if isinstance(part, c.HasClass) and part.x == var]
        yield from (ReadNeed(class_=class_) for class_ in classes)
    yield from condition_needs(where, {**known, var: access_paths(var, where, known)})


def effect_needs(effect: Effect, known: AccessPaths) -> Iterator[ReadNeed]:
    """Yield the facts needed to compute what an effect changes."""
    match effect:
        case Become() | Cease() | Assign() | Forget():
            yield from node_needs(effect.x, known)
        case Relate() | Unrelate():
            for hop in hops_of(effect):
                yield from hop_needs(hop, {**known, ANY_NODE: (AccessPath(ANY_NODE),)})
        case ForEach():
            yield from quantifier_needs(effect.var, effect.where, known)
            inside = {**known, effect.var: access_paths(effect.var, effect.where, known)}
            for part in effect.effects:
                yield from effect_needs(part, inside)
        case When():
            yield from condition_needs(effect.condition, known)
            yield from branch_needs(effect, known)
        case _:
            assert_never(effect)


def branch_needs(effect: When, known: AccessPaths) -> Iterator[ReadNeed]:
    """Yield the facts of both branches; those of the first are guarded by the affordance its condition requires."""
    guard = guard_of(effect.condition, known)
    for part in effect.effects:
        yield from (replace(need, guard=need.guard or guard) for need in effect_needs(part, known))
    for part in effect.otherwise:
        yield from effect_needs(part, known)


def guard_of(condition: c.Condition, known: AccessPaths) -> tuple[str, str] | None:
    """Return a seed and an affordance of it that `condition` requires, else None."""
    for part in c.conjuncts(condition):
        if isinstance(part, c.HasAffordance) and known[variable_name(part.x)] == (AccessPath(variable_name(part.x)),):
            return variable_name(part.x), part.affordance
    return None


def hops_of(effect: Relate | Unrelate) -> Iterator[RelationPattern]:
    """Yield the relations that an effect may add or remove."""
    if isinstance(effect, Unrelate):
        other = effect.other or ANY_NODE
        yield RelationPattern(effect.x, effect.types, other)
        if not effect.directed:
            yield RelationPattern(other, effect.types, effect.x)
        return
    yield RelationPattern(effect.source, (effect.type,), effect.target)
    if effect.mutual:
        yield RelationPattern(effect.target, (effect.type,), effect.source)


def hop_needs(hop: RelationPattern, known: AccessPaths) -> Iterator[ReadNeed]:
    """Yield one need for each combination of access paths to the relation's two ends."""
    for source, target in product(known[hop.source], known[hop.target]):
        last = RelationPattern(source.name, hop.types, target.name, hop.far)
        yield ReadNeed(tuple(dict.fromkeys((*source.hops, *target.hops, last))))


def node_needs(term: c.Term, known: AccessPaths, *, only: NodeFilter | None = None) -> Iterator[ReadNeed]:
    """Yield the node that `term` stands for, unless it is a seed: seeds are always read."""
    for path in known[variable_name(term)]:
        if path.hops:
            yield ReadNeed(path.hops, whole=path.name, only=only)


def filter_of(atom: c.HasState | c.HasClass | c.HasKind | c.HasAffordance | c.PropertyEquals) -> NodeFilter | None:
    """Return a filter that a node must pass for the atom to be true, else None.

    For all other nodes the atom is false, and remains false if only their id is known.
    """
    match atom:
        case c.HasState():
            return NodeFilter("states", atom.state)
        case c.HasAffordance():
            return NodeFilter("affordances", atom.affordance)
        case c.HasClass():
            return NodeFilter("class", atom.class_)
        case c.HasKind() if atom.kind != PLACEHOLDER_KIND:
            return NodeFilter("kind", atom.kind)
        case _:
            return None


def access_paths(var: str, where: c.Condition, known: AccessPaths) -> tuple[AccessPath, ...]:
    """Return the access paths to the nodes that make `where` true.

    Raises ValueError if no known variable leads to them.
    """
    paths = (path for parts in positive_alternatives(where) for path in _alternative_paths(var, parts, known))
    return tuple(dict.fromkeys(paths))


def _alternative_paths(var: str, parts: tuple[c.Condition, ...], known: AccessPaths) -> Iterator[AccessPath]:
    """Yield the paths of one alternative, along all its relations at once to read few nodes."""
    binders: list[RelationPattern] = []
    for part in parts:
        match part:
            case c.Same(x, y) if var in (x, y) and x != y:
                yield from known[variable_name(y if x == var else x)]
                return
            case c.Related() | c.HeldBy() | c.Within():
                hop = hop_of(part)
                if var in (hop.source, hop.target) and hop.source != hop.target:
                    binders.append(hop)
            case _:
                continue
    if not binders and not any(isinstance(part, c.HasClass) and part.x == var for part in parts):
        msg = f"no known variable leads to {var!r}: relate it to a parameter, or state its class"
        raise ValueError(msg)
    for ends in product(*(known[hop.source if hop.target == var else hop.target] for hop in binders)):
        hops = [hop for end in ends for hop in end.hops]
        hops += [_rename_end(hop, var, end.name) for hop, end in zip(binders, ends, strict=True)]
        yield AccessPath(var, tuple(dict.fromkeys(hops)))


def _rename_end(hop: RelationPattern, var: str, other: str) -> RelationPattern:
    if hop.source == var:
        return RelationPattern(var, hop.types, other, hop.far)
    return RelationPattern(other, hop.types, var, hop.far)


def positive_alternatives(condition: c.Condition, *, denied: bool = False) -> Iterator[tuple[c.Condition, ...]]:
    """Yield the positive literals of each clause of the disjunctive normal form; negated literals are dropped."""
    match condition:
        case c.Not():
            yield from positive_alternatives(condition.part, denied=not denied)
        case c.And() | c.Or() if isinstance(condition, c.Or) is not denied:
            for part in condition.parts:
                yield from positive_alternatives(part, denied=denied)
        case c.And() | c.Or():
            for choice in product(*(tuple(positive_alternatives(part, denied=denied)) for part in condition.parts)):
                yield tuple(part for parts in choice for part in parts)
        case _:
            yield () if denied else (condition,)


def hop_of(atom: c.Related | c.HeldBy | c.Within) -> RelationPattern:
    """Return the relation that an atom tests."""
    match atom:
        case c.Related():
            return RelationPattern(variable_name(atom.source), (atom.type,), variable_name(atom.target))
        case c.HeldBy():
            return RelationPattern(variable_name(atom.agent), HOLDING, variable_name(atom.x))
        case c.Within():
            return RelationPattern(variable_name(atom.x), atom.types, variable_name(atom.y), far=True)
        case _:
            assert_never(atom)


def variable_name(term: c.Term) -> str:
    """Return the term's variable. Raises ValueError for a constant, which an operator must not name."""
    if isinstance(term, c.Id):
        msg = f"an operator can't name the node {term.id!r}: make it a parameter"
        raise ValueError(msg)  # noqa: TRY004 - an operator's mistake, not a type's
    return term

"""What an operator reads of a scene, derived from its own data: the relations and nodes that decide it."""

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

ANY: Final = "_"
"""A variable that stands for whatever node is at a relation's other end."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to reach what a variable stands for: the hops to it, and by which name they call it."""

    name: str
    hops: tuple[RelationPattern, ...] = ()


Known: TypeAlias = Mapping[str, tuple[Way, ...]]


@dataclass(frozen=True, slots=True)
class Need:
    """A fact that decides an action: the last of `hops`, or all of the node `whole`; `class_` is looked up as such.

    With `only`, the node matters only where it is such; with a `guard`, a seed and an affordance, only where the seed
    has that.
    """

    hops: tuple[RelationPattern, ...] = ()
    whole: str | None = None
    only: NodeFilter | None = None
    class_: str | None = None
    guard: tuple[str, str] | None = None


def needs(operator: Operator) -> Iterator[Need]:
    """Every fact that the operator's conditions and effects may look at, some more than once."""
    known: Known = {name: (Way(name),) for name in seeds(operator)}
    yield from choices_needs(operator.choose, known)
    known = with_choices(operator.choose, known)
    for requirement in operator.requires:
        yield from condition_needs(requirement.condition, known)
    for effect in operator.effects:
        yield from effect_needs(effect, known)


def seeds(operator: Operator) -> tuple[str, ...]:
    """The variables that are bound from the start: the agent, then the parameters."""
    return (AGENT, *(parameter.name for parameter in operator.parameters))


def choices_needs(choices: tuple[Choose, ...], known: Known) -> Iterator[Need]:
    """What binding `choices` looks at."""
    for choice in choices:
        for where in choice.among:
            yield from quantified_needs(choice.var, where, known)
        known = with_choices((choice,), known)


def with_choices(choices: tuple[Choose, ...], known: Known) -> Known:
    """`known` and the ways to what is chosen."""
    for choice in choices:
        ways = (way for where in choice.among for way in ways_to(choice.var, where, known))
        known = {**known, choice.var: tuple(dict.fromkeys(ways))}
    return known


def condition_needs(condition: c.Condition, known: Known) -> Iterator[Need]:
    """What evaluating `condition` looks at."""
    match condition:
        case c.And() | c.Or() | c.Not():
            for part in (condition.part,) if isinstance(condition, c.Not) else condition.parts:
                yield from condition_needs(part, known)
        case c.Exists() | c.AtLeast() | c.Exactly():
            yield from quantified_needs(condition.var, condition.where, known)
        case c.ForAll():
            inside = {**known, condition.var: ways_to(condition.var, condition.where, known)}
            yield from quantified_needs(condition.var, condition.where, known)
            yield from condition_needs(condition.then, inside)
        case c.Related() | c.HeldBy() | c.Within():
            yield from hop_needs(hop_of(condition), known)
        case c.HasState() | c.HasClass() | c.HasKind() | c.HasAffordance() | c.PropertyEquals():
            yield from node_needs(condition.x, known, only=only_of(condition))
        case c.Same():
            return
        case _:
            assert_never(condition)


def quantified_needs(var: str, where: c.Condition, known: Known) -> Iterator[Need]:
    """What finding the nodes that, as `var`, make `where` true looks at."""
    for alternative in alternatives(where):
        classes = [part.class_ for part in alternative if isinstance(part, c.HasClass) and part.x == var]
        yield from (Need(class_=class_) for class_ in classes)
    yield from condition_needs(where, {**known, var: ways_to(var, where, known)})


def effect_needs(effect: Effect, known: Known) -> Iterator[Need]:
    """What an effect looks at, to change only what is to be changed."""
    match effect:
        case Become() | Cease() | Assign() | Forget():
            yield from node_needs(effect.x, known)
        case Relate() | Unrelate():
            for hop in hops_of(effect):
                yield from hop_needs(hop, {**known, ANY: (Way(ANY),)})
        case ForEach():
            yield from quantified_needs(effect.var, effect.where, known)
            inside = {**known, effect.var: ways_to(effect.var, effect.where, known)}
            for part in effect.effects:
                yield from effect_needs(part, inside)
        case When():
            yield from condition_needs(effect.condition, known)
            yield from branch_needs(effect, known)
        case _:
            assert_never(effect)


def branch_needs(effect: When, known: Known) -> Iterator[Need]:
    """What the effects of both branches look at, guarded by what the condition asks of a seed."""
    guard = guard_of(effect.condition, known)
    for part in effect.effects:
        yield from (replace(need, guard=need.guard or guard) for need in effect_needs(part, known))
    for part in effect.otherwise:
        yield from effect_needs(part, known)


def guard_of(condition: c.Condition, known: Known) -> tuple[str, str] | None:
    """An affordance of a seed without which `condition` can't hold."""
    for part in c.conjuncts(condition):
        if isinstance(part, c.HasAffordance) and known[variable(part.x)] == (Way(variable(part.x)),):
            return variable(part.x), part.affordance
    return None


def hops_of(effect: Relate | Unrelate) -> Iterator[RelationPattern]:
    """The relations that an effect may add or take away."""
    if isinstance(effect, Unrelate):
        other = effect.other or ANY
        yield RelationPattern(effect.x, effect.types, other)
        if not effect.directed:
            yield RelationPattern(other, effect.types, effect.x)
        return
    yield RelationPattern(effect.source, (effect.type,), effect.target)
    if effect.mutual:
        yield RelationPattern(effect.target, (effect.type,), effect.source)


def hop_needs(hop: RelationPattern, known: Known) -> Iterator[Need]:
    """The relation itself, by every way to its two ends."""
    for source, target in product(known[hop.source], known[hop.target]):
        last = RelationPattern(source.name, hop.types, target.name, hop.far)
        yield Need(tuple(dict.fromkeys((*source.hops, *target.hops, last))))


def node_needs(term: c.Term, known: Known, *, only: NodeFilter | None = None) -> Iterator[Need]:
    """The node that `term` stands for, unless it is a seed, which is read anyway."""
    for way in known[variable(term)]:
        if way.hops:
            yield Need(way.hops, whole=way.name, only=only)


def only_of(atom: c.HasState | c.HasClass | c.HasKind | c.HasAffordance | c.PropertyEquals) -> NodeFilter | None:
    """Of which nodes an atom may be true: for all others it is false of a node known by its id only, too."""
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


def ways_to(var: str, where: c.Condition, known: Known) -> tuple[Way, ...]:
    """How the nodes that make `where` true can be reached. Raises ValueError where nothing known leads to them."""
    ways = (way for parts in alternatives(where) for way in _ways(var, parts, known))
    return tuple(dict.fromkeys(ways))


def _ways(var: str, parts: tuple[c.Condition, ...], known: Known) -> Iterator[Way]:
    """The ways of one alternative: along all its relations at once, so that little is read."""
    binders: list[RelationPattern] = []
    for part in parts:
        match part:
            case c.Same(x, y) if var in (x, y) and x != y:
                yield from known[variable(y if x == var else x)]
                return
            case c.Related() | c.HeldBy() | c.Within():
                hop = hop_of(part)
                if var in (hop.source, hop.target) and hop.source != hop.target:
                    binders.append(hop)
            case _:
                continue
    if not binders and not any(isinstance(part, c.HasClass) and part.x == var for part in parts):
        msg = f"nothing that is known leads to {var!r}: relate it to a parameter, or say its class"
        raise ValueError(msg)
    for ends in product(*(known[hop.source if hop.target == var else hop.target] for hop in binders)):
        hops = [hop for end in ends for hop in end.hops]
        hops += [_renamed(hop, var, end.name) for hop, end in zip(binders, ends, strict=True)]
        yield Way(var, tuple(dict.fromkeys(hops)))


def _renamed(hop: RelationPattern, var: str, other: str) -> RelationPattern:
    if hop.source == var:
        return RelationPattern(var, hop.types, other, hop.far)
    return RelationPattern(other, hop.types, var, hop.far)


def alternatives(condition: c.Condition, *, denied: bool = False) -> Iterator[tuple[c.Condition, ...]]:
    """The disjunctive normal form: each alternative's parts that hold as they stand; what is denied is left out."""
    match condition:
        case c.Not():
            yield from alternatives(condition.part, denied=not denied)
        case c.And() | c.Or() if isinstance(condition, c.Or) is not denied:
            for part in condition.parts:
                yield from alternatives(part, denied=denied)
        case c.And() | c.Or():
            for choice in product(*(tuple(alternatives(part, denied=denied)) for part in condition.parts)):
                yield tuple(part for parts in choice for part in parts)
        case _:
            yield () if denied else (condition,)


def hop_of(atom: c.Related | c.HeldBy | c.Within) -> RelationPattern:
    """The relation that an atom speaks of."""
    match atom:
        case c.Related():
            return RelationPattern(variable(atom.source), (atom.type,), variable(atom.target))
        case c.HeldBy():
            return RelationPattern(variable(atom.agent), HOLDING, variable(atom.x))
        case c.Within():
            return RelationPattern(variable(atom.x), atom.types, variable(atom.y), far=True)
        case _:
            assert_never(atom)


def variable(term: c.Term) -> str:
    """The variable that a term is. Raises ValueError for a constant, which no operator has."""
    if isinstance(term, c.Id):
        msg = f"an operator can't name the node {term.id!r}: make it a parameter"
        raise ValueError(msg)  # noqa: TRY004 - an operator's mistake, not a type's
    return term

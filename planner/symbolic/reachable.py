"""What actions can bring about at most: facts by the delete relaxation, from the goal back to the scene.

A fact that holds at first, or that some action may add, stays true; each is asked about single nodes where the goal
names them, else about any of several. No action may make what a rule of the house excludes. So nothing that a plan
reaches is missed, and what is missed has no plan.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import scenecypher.db.condition as c
from scenecypher.db.rules import Rule
from scenecypher.db.schema import HOLDING
from scenecypher.planner.actions import operator as op
from scenecypher.planner.symbolic.states import PlanningState
from scenecypher.planner.symbolic.write import goal_parts

LONGEST_S: Final = 1.0
"""Processor time after which everything counts as reachable."""
NEW: Final = "new "
"""Before a type of relations: one that was not there at first."""
FEW: Final = 20
"""Most nodes that a quantifier asks about one by one."""

Some: TypeAlias = frozenset[str | None]
"""Nodes of which a variable may be any; None: it may be unbound."""
Scope: TypeAlias = Mapping[str, Some]
Key: TypeAlias = tuple[str, bool]
"""A state or a type of relations, and whether it comes to hold."""
Fact: TypeAlias = tuple[Key, tuple[Some, ...]]
Ends: TypeAlias = tuple[c.Term | None, ...]


@dataclass(frozen=True, slots=True)
class _Change:
    """A fact that an action may bring about, its ends, all facts of its effect, and the conditions of that."""

    operator: op.Operator
    key: Key
    ends: Ends
    together: tuple[tuple[Key, Ends], ...]
    bound: tuple[op.Binding, ...]
    under: tuple[c.Condition, ...]


def unreachable_part(goal: c.Condition, state: PlanningState) -> c.Condition | None:
    """Return the first part of a goal that no action can bring about; None if there is none, or no time to know it."""
    relaxed = _Relaxation(state)
    return next((it for it in goal_parts(goal, state.graph) if not relaxed.may_ever(it)), None)


def forbidding(rules: Iterable[Rule], goal: c.Condition, state: PlanningState) -> Rule | None:
    """Return the first rule that a goal can't be reached beside, as far as that can be told at once.

    It is a `never` rule, kept now, that is broken wherever the goal holds, or a duty that the goal begins and does not
    let end.
    """
    relaxed = _Relaxation(state)
    given = frozenset(fact for part in goal_parts(goal, state.graph) for fact in relaxed.certain(part))

    def forbids(rule: Rule) -> bool:
        broken = rule.begun if rule.kind == "within" else rule.condition
        is_new = not c.evaluate(broken, state.graph, {}) and not relaxed.may_ever(broken, given, holds=False)
        return is_new and (rule.kind == "never" or not relaxed.may_ever(rule.condition, given))

    return next((it for it in rules if it.kind in {"never", "within"} and forbids(it)), None)


@dataclass(slots=True)
class _Relaxation:
    """The facts asked for so far, and those of them that are known to be reachable; `given` are facts that hold now."""

    state: PlanningState
    known: set[Fact] = field(default_factory=set)
    asked: dict[Fact, None] = field(default_factory=dict)
    changes: dict[Key, list[_Change]] = field(default_factory=dict)
    given: frozenset[Fact] = frozenset()
    _fitting: dict[tuple[str, c.Condition], Some] = field(default_factory=dict)
    _scopes: dict[int, Scope] = field(default_factory=dict)
    _assigned: frozenset[str] = field(init=False)
    _opposites: set[tuple[str, str]] = field(init=False)
    _end_s: float = field(default_factory=lambda: time.thread_time() + LONGEST_S)

    def __post_init__(self) -> None:
        operators = self.state.operators.values()
        effects = [effect for it in operators for effect in op.simple_effects(it.effects)]
        self._assigned = frozenset(it.key for it in effects if isinstance(it, op.Assign | op.Forget))
        for change in (change for it in operators for change in _changes(it)):
            self.changes.setdefault(change.key, []).append(change)
            self.changes.setdefault((f"{NEW}{change.key[0]}", change.key[1]), []).append(change)
        pairs = {(it.state, it.instead_of) for it in effects if isinstance(it, op.Become) and it.instead_of}
        self._opposites = {pair for one, other in pairs for pair in ((one, other), (other, one)) if one != other}

    def may_ever(self, condition: c.Condition, given: frozenset[Fact] = frozenset(), *, holds: bool = True) -> bool:
        """Check if a condition may come to hold, or not to, beside given facts; True if there is no time to know it."""
        self.asked.clear()  # what an earlier condition asked in vain need not be looked for again
        while not self._may_beside(given, condition, holds=holds):
            grown = self.grow()
            if self.is_late or not grown:
                return self.is_late
        return True

    def _may_beside(self, given: frozenset[Fact], condition: c.Condition, *, holds: bool) -> bool:
        self.given = given
        found = self.may(condition, {}, holds=holds)
        self.given = frozenset()
        return found

    def certain(self, part: c.Condition) -> Iterator[Fact]:
        """Yield the facts that hold wherever a part of a goal does, if it is about single nodes."""
        match part:
            case c.HasState(state=word) | c.Related(type=word):
                ends = tuple(self._end(it, {}) for it in c.terms(part))
                yield (word, True), ends
                yield from (((other, False), ends) for one, other in self._opposites if one == word)

    def grow(self) -> bool:
        """Look for actions that bring about what is asked for; return whether anything more is known, or asked."""
        before = len(self.known), len(self.asked)
        for fact in [*self.asked]:
            key, ends = fact
            ways = (it for it in self.changes.get(key, ()) if len(it.ends) == len(ends))
            if fact not in self.known and not self.is_late and any(self._is_way(it, ends) for it in ways):
                self.known.add(fact)
        return before != (len(self.known), len(self.asked))

    @property
    def is_late(self) -> bool:
        """Check if the time is over."""
        return time.thread_time() > self._end_s

    def may(self, condition: c.Condition, scope: Scope, *, holds: bool = True) -> bool:
        """Check if a condition may come to hold, or not to hold, for some nodes of its variables."""
        match condition:
            case c.And(parts):
                return (all if holds else any)(self.may(it, scope, holds=holds) for it in parts)
            case c.Or(parts):
                return (any if holds else all)(self.may(it, scope, holds=holds) for it in parts)
            case c.Not(part):
                return self.may(part, scope, holds=not holds)
            case c.ForAll() | c.Exists() | c.AtLeast() | c.Exactly():
                return self._may_quantified(condition, scope, holds=holds)
            case _:
                return self._may_atom(condition, scope, holds=holds)

    # --- quantifiers

    def _may_quantified(self, condition: c.Quantifier, scope: Scope, *, holds: bool) -> bool:
        match condition:
            case c.ForAll(var, where, then):
                return self._may_exist(c.Exists(var, c.And((where, c.Not(then)))), scope, holds=not holds)
            case c.Exists():
                return self._may_exist(condition, scope, holds=holds)
            case c.AtLeast() | c.Exactly():
                return self._may_count(condition, scope, holds=holds)

    def _may_exist(self, condition: c.Exists, scope: Scope, *, holds: bool) -> bool:
        var, where = condition.var, condition.where
        nodes = self._candidates(var, where)
        if len(nodes) > FEW:
            return self.may(where, {**scope, var: nodes}, holds=holds)
        each = (self.may(where, {**scope, var: frozenset((it,))}, holds=holds) for it in nodes)
        return any(each) if holds else all(each)

    def _may_count(self, condition: c.AtLeast | c.Exactly, scope: Scope, *, holds: bool) -> bool:
        """Check counts from above alone, where it is asked for so many: fewer may always be had."""
        if not holds:
            return True
        nodes = self._candidates(condition.var, condition.where)
        each = (self.may(condition.where, {**scope, condition.var: frozenset((it,))}) for it in sorted(nodes, key=str))
        return len(nodes) >= condition.n and sum(each) >= condition.n

    def _candidates(self, var: str, where: c.Condition) -> Some:
        """Return the nodes of which a condition may be true, as far as what never changes tells."""
        if (var, where) not in self._fitting:
            fixed = [it for it in c.conjuncts(where) if op.variables_of(it) == {var} and self._is_fixed(it)]
            graph = self.state.graph
            found = c.witnesses(var, c.And(tuple(fixed)), graph=graph, bindings={})
            self._fitting[var, where] = frozenset(found)
        return self._fitting[var, where]

    def _is_fixed(self, condition: c.Condition) -> bool:
        keys = {it.key for it in c.atoms_of(condition) if isinstance(it, c.PropertyEquals)}
        return op.is_static(condition) and not self._assigned & keys

    # --- atoms

    def _may_atom(self, atom: c.Atom, scope: Scope, *, holds: bool) -> bool:
        ends = tuple(self._end(it, scope) for it in c.terms(atom))
        if not holds and any(None in it for it in ends):
            return True
        ends = tuple(it - {None} for it in ends)
        if not all(ends):
            return False
        if op.is_static(atom):
            return self._may_be_fixed(atom, ends, holds=holds)
        match atom:
            case c.HasState(state=word) | c.Related(type=word):
                return self._may_be((word, holds), ends)
            case c.HeldBy():
                ways = (self._may_be((type_, holds), ends[::-1]) for type_ in HOLDING)
                return any(ways) if holds else all(ways)
            case c.Within(types=types):
                return self._may_lead(types, *ends) if holds else not self._surely_leads(types, *ends)
        raise AssertionError(atom)  # others never change

    def _may_be_fixed(self, atom: c.Atom, ends: tuple[Some, ...], *, holds: bool) -> bool:
        """Check an atom that no action changes, but for properties."""
        match atom:
            case c.Same(x, y) if x == y:
                return holds
            case c.Same():
                return bool(ends[0] & ends[1]) if holds else len(ends[0] | ends[1]) > 1
            case c.PropertyEquals(key=key) if key in self._assigned:
                return True
        (nodes,), (term,) = ends, c.terms(atom)
        return any(c.evaluate(atom, self.state.graph, {str(term): str(it)}) == holds for it in nodes)

    def _may_lead(self, types: Iterable[str], x: Some, y: Some, seen: Some = frozenset()) -> bool:
        """Check if a path may lead from one node to another.

        Something must reach the other; the one must be put anywhere, or else be first in what leads there.
        """
        anything, types = self._all, tuple(types)
        if not any(self._may_be((it, True), (anything, y)) for it in types):
            return False
        if any(self._may_be((f"{NEW}{it}", True), (x, anything)) for it in types):
            return True
        links = (it for node in x - seen for it in self.state.graph.outgoing.get(str(node), ()) if it.type in types)
        targets = {frozenset((it.target,)) for it in links}
        return any(it <= y or self._may_lead(types, it, y, seen | x) for it in targets)

    def _surely_leads(self, types: Iterable[str], x: Some, y: Some) -> bool:
        """Check if a path leads from one node to another: a given relation, and others that no action takes away."""
        firsts = (ends[1] for (word, _), ends in self.given if word in types and len(ends) == 2 and ends[0] == x)
        waiting, seen = [*firsts], set[Some]()
        while waiting:
            here = waiting.pop()
            if here == y:
                return True
            if here not in seen and None not in here:
                seen.add(here)
                links = (it for node in here for it in self.state.graph.outgoing.get(str(node), ()) if it.type in types)
                targets = ((it.type, frozenset((it.target,))) for it in links)
                waiting += [to for type_, to in targets if not self._may_be((type_, False), (here, to))]
        return False

    def _may_be(self, key: Key, ends: tuple[Some, ...]) -> bool:
        fact, (word, holds) = (key, ends), key
        if fact in self.given or ((word, not holds), ends) in self.given:
            return fact in self.given
        if fact not in self.asked and self._is_first(fact):
            self.known.add(fact)
        self.asked[fact] = None
        return fact in self.known

    def _is_first(self, fact: Fact) -> bool:
        """Check if the fact is so in the scene, of some of its nodes."""
        (word, holds), (first, *others) = fact
        graph = self.state.graph
        if not others:
            return any((word in graph.nodes[str(it)].states) == holds for it in first)
        (other,) = others
        number = sum(it.target in other for x in first for it in graph.outgoing.get(str(x), ()) if it.type == word)
        return number > 0 if holds else number < len(first) * len(other)

    # --- actions

    def _is_way(self, change: _Change, ends: tuple[Some, ...]) -> bool:
        """Check if an action, on some nodes, may bring about the change of these ends."""
        operator = change.operator
        scope = dict(self._scope(change))
        for term, wanted in zip(change.ends, ends, strict=True):
            if term is None:
                continue
            met = self._end(term, scope) & wanted
            if not met:
                return False
            if not isinstance(term, c.Id):
                scope[term] = met
        chosen = (c.Or(it.among) for it in operator.choose if None not in scope[it.var])
        conditions = (it.condition for it in operator.requires)
        needed = (*conditions, *change.under, *(where for _, where in change.bound), *chosen)
        return all(self.may(it, scope) for it in needed) and self._keeps(change, scope)

    def _keeps(self, change: _Change, scope: Scope) -> bool:
        """Check if what no plan may bring about may be avoided beside the facts of a change."""
        made = ((key, tuple(self._end(it or "", scope) for it in ends)) for key, ends in change.together)
        given = frozenset((key, ends) for key, ends in made if all(len(it) == 1 and None not in it for it in ends))
        words = {word for (word, _), _ in given}
        touched = (it for it, read in self.state.never.items() if read & words)
        return all(self._may_beside(given, it, holds=False) for it in touched)

    def _scope(self, change: _Change) -> Scope:
        """Return what the variables of a change may be, as far as what never changes tells."""
        if id(change) not in self._scopes:
            operator = change.operator
            needed = c.And(tuple(it.condition for it in operator.requires))
            besides = c.And((*change.under, *(where for _, where in change.bound)))
            found: dict[str, Some] = {op.AGENT: frozenset((self.state.agent,))}
            found |= {var: self._candidates(var, besides) for var, _ in change.bound}
            for name in (it.name for it in operator.parameters):
                found[name] = self._candidates(name, needed) & self._candidates(name, besides)
            for choice in operator.choose:
                found[choice.var] = frozenset((None,)).union(*(self._candidates(choice.var, it) for it in choice.among))
            self._scopes[id(change)] = found
        return self._scopes[id(change)]

    def _end(self, term: c.Term, scope: Scope) -> Some:
        if isinstance(term, c.Id):
            return frozenset((term.id if term.id in self.state.graph.nodes else None,))
        return scope.get(term, frozenset((None,)))

    @property
    def _all(self) -> Some:
        return self._candidates("x", c.ALWAYS)


def _changes(operator: op.Operator) -> Iterator[_Change]:
    """Yield the facts that an action may bring about."""
    for effect, bound, under in op.conditional_effects(operator.effects):
        facts = tuple(op.facts_of(effect))
        yield from (_Change(operator, key, ends, facts, bound, under) for key, ends in facts)

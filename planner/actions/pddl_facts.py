"""Partial evaluation of a Condition on a changing graph: a formula over the facts that may change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, assert_never

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.actions.pddl_formula import (
    FALSE,
    TRUE,
    Formula,
    GroundAtom,
    Literal,
    all_of,
    any_of,
    at_least,
    negated,
)

MAX_NESTING: Final = 5
"""Maximum depth of containment that is followed for movable objects."""


@dataclass
class PossibleFacts:
    """The facts that hold at first, and those that may be added (`gained`) or removed (`lost`).

    With `all_possible`, every fact may be true or false: a Condition read on it names all facts that it depends on,
    except those between the two ends of a Within.
    """

    graph: SceneGraph
    vocabulary: str
    now: set[GroundAtom] = field(init=False)
    gained: set[GroundAtom] = field(default_factory=set)
    lost: set[GroundAtom] = field(default_factory=set)
    all_possible: bool = False

    def __post_init__(self) -> None:
        relations = {(r.type, r.source, r.target) for r in self.graph.relations}
        self.now = relations | {(state, node.id) for node in self.graph.nodes.values() for state in node.states}
        self._from: dict[tuple[str, str], set[str]] = {}
        self._to: dict[tuple[str, str], set[str]] = {}
        for atom in relations:
            self._index(atom)
        rules = conventions_of(self.vocabulary)
        self.containment: tuple[str, ...] = rules.containment
        self.parent_types = frozenset((*rules.containment, *HOLDING)) if rules.one_parent else frozenset()

    def gain(self, atom: GroundAtom) -> bool:
        """Record that `atom` may be added; return whether that is new."""
        if atom in self.now or atom in self.gained:
            return False
        self.gained.add(atom)
        self._index(atom)
        return True

    def lose(self, atom: GroundAtom) -> bool:
        """Record that `atom` may be removed; return whether that is new."""
        if atom in self.lost or not (atom in self.now or atom in self.gained):
            return False
        self.lost.add(atom)
        return True

    def literal(self, atom: GroundAtom) -> Formula:
        """Return the formula of `atom`: a constant if it can't change."""
        if self.all_possible:
            return Literal(atom)
        if atom in self.now:
            return Literal(atom) if atom in self.lost else TRUE
        return Literal(atom) if atom in self.gained else FALSE

    def possible_targets(self, type_: str, x: str) -> set[str]:
        """Return the possible targets of `x`'s relations of the type."""
        if self.all_possible:
            return {*self.graph.nodes} - {x}
        return self._from.get((type_, x), set())

    def possible_sources(self, type_: str, x: str) -> set[str]:
        """Return the possible sources of relations of the type to `x`."""
        if self.all_possible:
            return {*self.graph.nodes} - {x}
        return self._to.get((type_, x), set())

    def holds_now(self, formula: Formula) -> bool:
        """Return the formula's value at first."""
        if isinstance(formula, Literal):
            return (formula.atom in self.now) is formula.holds
        met = sum(map(self.holds_now, formula.parts))
        return met >= (getattr(formula, "least", None) or len(formula.parts)) if formula != FALSE else False

    def parents(self, x: str) -> list[tuple[str, str]]:
        """Return possible containers, supports and holders of `x`: the relation type and the other node."""
        found = [(type_, y) for type_ in self.containment for y in sorted(self.possible_targets(type_, x))]
        return found + [(type_, y) for type_ in HOLDING for y in sorted(self.possible_sources(type_, x))]

    def _index(self, atom: GroundAtom) -> None:
        if len(atom) == 3:
            type_, source, target = atom
            self._from.setdefault((type_, source), set()).add(target)
            self._to.setdefault((type_, target), set()).add(source)


@dataclass(frozen=True, slots=True)
class ConditionReader:
    """Evaluates Conditions on `facts`; `places` fixes the parent of nodes (one parent each)."""

    facts: PossibleFacts
    places: Mapping[str, tuple[str, str] | None] = field(default_factory=dict)

    def read(self, condition: c.Condition, bindings: Mapping[str, str]) -> Formula:  # noqa: PLR0911 - a row a form
        """Return the formula of `condition`."""
        match condition:
            case c.And():
                return all_of(self._each(condition.parts, bindings))
            case c.Or():
                return any_of(self.read(part, bindings) for part in condition.parts)
            case c.Not():
                return negated(self.read(condition.part, bindings))
            case c.Exists():
                return any_of(formula for _, formula in self.witnesses(condition.var, condition.where, bindings))
            case c.ForAll():
                found = self.witnesses(condition.var, condition.where, bindings)
                return all_of(
                    any_of((negated(formula), self.read(condition.then, {**bindings, condition.var: node})))
                    for node, formula in found
                )
            case c.AtLeast() | c.Exactly():
                return self._counted(condition, bindings)
            case _:
                return self._atom(condition, bindings)

    def witnesses(self, var: str, where: c.Condition, bindings: Mapping[str, str]) -> Iterator[tuple[str, Formula]]:
        """Yield the nodes that may make `where` true when bound to `var`, by id, each with its condition."""
        for node in sorted(self._candidates(var, where, bindings)):
            formula = self.read(where, {**bindings, var: node})
            if formula != FALSE:
                yield node, formula

    def related(self, type_: str, x: str, y: str) -> Formula:
        """Return the formula of the relation from `x` to `y`."""
        child, parent = (y, x) if type_ in HOLDING else (x, y)
        if child in self.places and type_ in self.facts.parent_types:
            return TRUE if self.places[child] == (type_, parent) else FALSE
        return self.facts.literal((type_, x, y))

    def _each(self, parts: Iterable[c.Condition], bindings: Mapping[str, str]) -> Iterator[Formula]:
        """Yield the formulas of a conjunction's parts, up to the first false one."""
        for part in parts:
            formula = self.read(part, bindings)
            yield formula
            if formula == FALSE:
                return

    def _counted(self, condition: c.AtLeast | c.Exactly, bindings: Mapping[str, str]) -> Formula:
        found = [formula for _, formula in self.witnesses(condition.var, condition.where, bindings)]
        enough = at_least(condition.n, found)
        if isinstance(condition, c.AtLeast):
            return enough
        return all_of((enough, negated(at_least(condition.n + 1, found))))

    def _atom(
        self,
        atom: c.HasState
        | c.HasClass
        | c.HasKind
        | c.HasAffordance
        | c.PropertyEquals
        | c.Related
        | c.HeldBy
        | c.Within
        | c.Same,
        bindings: Mapping[str, str],
    ) -> Formula:
        match atom:
            case c.HasState():
                x = self._node(atom.x, bindings)
                return self.facts.literal((atom.state, x)) if x is not None else FALSE
            case c.HasClass() | c.HasKind() | c.HasAffordance() | c.PropertyEquals() | c.Same():
                return TRUE if c.evaluate(atom, self.facts.graph, bindings) else FALSE
            case c.Related():
                ends = self._node(atom.source, bindings), self._node(atom.target, bindings)
                return self.related(atom.type, ends[0], ends[1]) if ends[0] and ends[1] else FALSE
            case c.HeldBy():
                ends = self._node(atom.agent, bindings), self._node(atom.x, bindings)
                held = (self.related(type_, ends[0], ends[1]) for type_ in HOLDING if ends[0] and ends[1])
                return any_of(held)
            case c.Within():
                ends = self._node(atom.x, bindings), self._node(atom.y, bindings)
                return self._within(ends[0], ends[1], atom.types, ()) if ends[0] and ends[1] else FALSE
            case _:
                assert_never(atom)

    def _within(self, x: str, y: str, types: tuple[str, ...], visited: tuple[str, ...]) -> Formula:
        """Return the formula of a path of relations from `x` to `y` that avoids the nodes `visited`."""
        if len(visited) == MAX_NESTING:
            return FALSE
        if self.facts.all_possible:
            return any_of(Literal((type_, x, y)) for type_ in types)
        paths: list[Formula] = []
        for type_ in types:
            for parent in self._parents(type_, x):
                step = self.related(type_, x, parent)
                if step == FALSE or parent in visited:
                    continue
                paths.append(step if parent == y else all_of((step, self._within(parent, y, types, (*visited, x)))))
        return any_of(paths)

    def _parents(self, type_: str, x: str) -> Collection[str]:
        if x in self.places and type_ in self.facts.parent_types:
            place = self.places[x]
            return [place[1]] if place is not None and place[0] == type_ else []
        return sorted(self.facts.possible_targets(type_, x))

    def _node(self, term: c.Term, bindings: Mapping[str, str]) -> str | None:
        node = term.id if isinstance(term, c.Id) else bindings.get(term)
        return node if node is not None and node in self.facts.graph.nodes else None

    def _candidates(self, var: str, where: c.Condition, bindings: Mapping[str, str]) -> Collection[str]:
        best: Collection[str] = self.facts.graph.nodes
        for part in c.conjuncts(where):
            found = self._narrowed(var, part, bindings)
            if found is not None and len(found) < len(best):
                best = found
        return best

    def _narrowed(self, var: str, part: c.Condition, bindings: Mapping[str, str]) -> Collection[str] | None:
        graph = self.facts.graph
        match part:
            case c.HasClass(x, class_) if x == var:
                return graph.by_class.get(class_, ())
            case c.HasKind(x, kind) if x == var:
                return graph.by_kind.get(kind, ())
            case c.Related(source, type_, target) if source == var and target != var:
                node = self._node(target, bindings)
                return self.facts.possible_sources(type_, node) if node else ()
            case c.Related(source, type_, target) if target == var and source != var:
                node = self._node(source, bindings)
                return self.facts.possible_targets(type_, node) if node else ()
            case c.Within(x, y, types) if y == var and x != var:
                node = self._node(x, bindings)
                return self._above(node, types) if node else ()
            case _:
                return None

    def _above(self, x: str, types: tuple[str, ...]) -> set[str]:
        """Return the nodes that relations of the types may lead to from `x`."""
        found: set[str] = set()
        queue = [x]
        while queue:
            node = queue.pop()
            fresh = {parent for type_ in types for parent in self._parents(type_, node)} - found
            found |= fresh
            queue += fresh
        return found

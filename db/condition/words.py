"""Conditions in English: "the apple is not inside the fridge", and the smallest parts of one that fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias, assert_never

from scenecypher.db.condition import algebra as c
from scenecypher.db.condition.evaluation import evaluate, witnesses
from scenecypher.db.condition.phrases import (
    Phrase,
    affordance_phrase,
    plural_of,
    relation_phrase,
    state_phrase,
    value_words,
    with_a,
    with_the,
    within_phrase,
)
from scenecypher.db.graph.scene import GraphView

Literal: TypeAlias = tuple[c.Atom | c.Or, bool]
"""An atom, or that something is one of several nodes, and true if it is negated."""


def explain(condition: c.Condition, graph: GraphView, bindings: Mapping[str, str]) -> str:
    """Return `condition` in words, whether it holds or not: "the apple is not inside the fridge".

    A node is called by its unique name, else by name and id, else by id; an unbound variable by its own name.
    """
    return Phraser(graph, bindings).said(condition)


@dataclass(frozen=True, slots=True)
class Phraser:
    """Writer of conditions in English; `pronouns` maps quantified variables to phrases such as "that apple"."""

    graph: GraphView
    bindings: Mapping[str, str]
    pronouns: Mapping[str, str] = field(default_factory=dict)

    def said(self, condition: c.Condition, *, negated: bool = False) -> str:
        """Return the sentence, without a full stop."""
        match condition:
            case c.And() | c.Or():
                return self._joined(condition, negated=negated)
            case c.Not():
                return self.said(condition.part, negated=not negated)
            case c.ForAll():
                return self._said_of_all(condition, negated=negated)
            case c.Exists() | c.AtLeast() | c.Exactly():
                return self._said_of_some(condition, negated=negated)
            case c.HeldBy():
                holding = relation_phrase("HOLDS", self.name(condition.x))
                return f"{self.name(condition.agent)} {holding.said(negated=negated)}"
            case _:
                return f"{self.name(c.terms(condition)[0])} {self._predicate(condition).said(negated=negated)}"

    def name(self, term: c.Term) -> str:
        """Return the phrase for the node or variable of `term`."""
        if isinstance(term, str) and term in self.pronouns:
            return self.pronouns[term]
        node_id = term.id if isinstance(term, c.Id) else self.bindings.get(term, term)
        node = self.graph.nodes.get(node_id) if isinstance(term, c.Id) or term in self.bindings else None
        if node is None:
            return node_id
        unique = len(self.graph.by_name[node.name]) == 1
        return with_the(node.name) if unique else f"{with_the(node.name)} ({node_id})"

    def _joined(self, condition: c.And | c.Or, *, negated: bool) -> str:
        all_of_them = isinstance(condition, c.And) is not negated
        if not condition.parts:
            return "nothing is needed" if all_of_them else "what is needed is impossible"
        if len(condition.parts) == 1:
            return self.said(condition.parts[0], negated=negated)
        said = (self._bracketed(part, negated=negated) for part in condition.parts)
        return (" and " if all_of_them else " or ").join(said)

    def _bracketed(self, part: c.Condition, *, negated: bool) -> str:
        said = self.said(part, negated=negated)
        return f"({said})" if " and " in said or " or " in said or " such that " in said else said

    def _said_of_some(self, condition: c.Exists | c.AtLeast | c.Exactly, *, negated: bool) -> str:
        group = _Range.of(condition.var, condition.where)
        counted, plural = _quantity(condition, group.noun, negated=negated)
        literals = _literals(condition.var, group.rest)
        be = "are" if plural else "is"
        if not group.rest:
            return f"there {be} {counted}"
        if literals is not None:
            return f"{counted} {self._about(literals, plural=plural)}"
        return f"there {be} {counted} such that {self._meaning(condition.var, group.noun).said(c.And(group.rest))}"

    def _said_of_all(self, condition: c.ForAll, *, negated: bool) -> str:
        group = _Range.of(condition.var, condition.where)
        every = f"{'not every' if negated else 'every'} {group.noun}"
        which, then = _literals(condition.var, group.rest), _literals(condition.var, tuple(c.conjuncts(condition.then)))
        if which is not None and then:
            that = f" that {self._about(which, plural=False)}" if which else ""
            return f"{every}{that} {self._about(then, plural=False)}"
        inner = self._meaning(condition.var, group.noun)
        such = f" such that {inner.said(c.And(group.rest))}" if group.rest else ""
        opening = f"not for {every.removeprefix('not ')}" if negated else f"for {every}"
        return f"{opening}{such}: {inner.said(condition.then)}"

    def _meaning(self, var: str, noun: str) -> Phraser:
        """Return a phraser that calls `var` "that apple"."""
        phrase = f"that {noun}"
        if phrase in self.pronouns.values():
            phrase = f"{phrase} ({var})"
        return Phraser(self.graph, self.bindings, {**self.pronouns, var: phrase})

    def _about(self, literals: Sequence[Literal], *, plural: bool) -> str:
        return " and ".join(self._predicate(atom).said(negated=denied, plural=plural) for atom, denied in literals)

    def _predicate(self, atom: c.Atom | c.Or) -> Phrase:
        """Return the predicate of `atom` about its first term."""
        match atom:
            case c.HasState():
                return state_phrase(atom.state)
            case c.HasClass():
                return Phrase("be", with_a(atom.class_))
            case c.HasKind():
                return Phrase("be", with_a(atom.kind.lower()))
            case c.HasAffordance():
                return affordance_phrase(atom.affordance)
            case c.PropertyEquals():
                return Phrase("have", f"{atom.key} {value_words(atom.value)}")
            case c.Related() | c.HeldBy() | c.Within() | c.Same() | c.Or():
                return self._link(atom)
            case _:
                assert_never(atom)

    def _link(self, atom: c.Related | c.HeldBy | c.Within | c.Same | c.Or) -> Phrase:
        match atom:
            case c.Related():
                return relation_phrase(atom.type, self.name(atom.target))
            case c.HeldBy():
                return Phrase("be", f"held by {self.name(atom.agent)}")
            case c.Within():
                return within_phrase(atom.types, self.name(atom.y))
            case c.Same():
                return Phrase("be", self.name(atom.y))
            case c.Or(parts):
                return Phrase("be", " or ".join(self.name(it.y) for it in parts if isinstance(it, c.Same)))


@dataclass(frozen=True, slots=True)
class _Range:
    """The range of a quantifier: a noun, and the other conjuncts of its `where`."""

    noun: str
    rest: tuple[c.Condition, ...]

    @classmethod
    def of(cls, var: str, where: c.Condition) -> _Range:
        parts = tuple(c.conjuncts(where))
        for part in parts:
            if isinstance(part, c.HasClass) and part.x == var:
                return cls(part.class_, tuple(other for other in parts if other is not part))
        for part in parts:
            if isinstance(part, c.HasKind) and part.x == var:
                return cls(part.kind.lower(), tuple(other for other in parts if other is not part))
        return cls("thing", parts)


def _quantity(condition: c.Exists | c.AtLeast | c.Exactly, noun: str, *, negated: bool) -> tuple[str, bool]:
    """Return the subject, such as "at least 2 apples", and if it is a plural."""
    match condition:
        case c.Exists():
            return (f"no {noun}" if negated else with_a(noun)), False
        case c.AtLeast():
            how_many = "fewer than" if negated else "at least"
        case c.Exactly():
            how_many = "not exactly" if negated else "exactly"
    one = condition.n == 1
    return f"{how_many} {condition.n} {noun if one else plural_of(noun)}", not one


def _literals(var: str, parts: Sequence[c.Condition]) -> list[Literal] | None:
    """Return `parts` as predicates of `var`; None if one of them is not a literal about `var` alone."""
    found: list[Literal] = []
    for part in parts:
        atom = part.part if isinstance(part, c.Not) else part
        if isinstance(atom, c.Or) and atom.parts and all(isinstance(it, c.Same) and it.x == var for it in atom.parts):
            found.append((atom, atom is not part))
            continue
        if isinstance(atom, c.And | c.Or | c.Not | c.Exists | c.ForAll | c.AtLeast | c.Exactly):
            return None
        subject, *others = c.terms(atom)
        if subject != var or var in others:
            return None
        found.append((atom, atom is not part))
    return found


CASES_NAMED: Final = 5
"""Cap on the nodes that are named one by one where a quantified condition fails."""


def unmet_parts(condition: c.Condition, graph: GraphView, bindings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the smallest parts that fail, each as a sentence about the obstacle; empty if `condition` holds."""
    return tuple(dict.fromkeys(_failures(condition, graph, bindings)))


def _failures(condition: c.Condition, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    match condition:
        case _ if evaluate(condition, graph, bindings):
            return
        case c.And():
            for part in condition.parts:
                yield from _failures(part, graph, bindings)
        case c.Or():
            yield from _failures_of_or(condition, graph, bindings)
        case c.Not():
            yield from _failures_of_not(condition.part, graph, bindings)
        case c.ForAll() | c.Exists() | c.AtLeast() | c.Exactly():
            yield from _failures_of_quantifier(condition, graph, bindings)
        case _:
            yield from _failures_of_atom(condition, graph, bindings)


def _failures_of_or(condition: c.Or, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    if len(condition.parts) == 1:
        yield from _failures(condition.parts[0], graph, bindings)
        return
    speaker = Phraser(graph, bindings)
    choices = ", or ".join(speaker.said(part) for part in condition.parts)
    yield f"none of these holds: {choices}" if choices else speaker.said(condition)


def _failures_of_not(part: c.Condition, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    """Yield the reasons why `part` holds, which it should not."""
    match part:
        case c.Not():
            yield from _failures(part.part, graph, bindings)
        case c.Or():
            for choice in part.parts:
                yield from _failures(c.Not(choice), graph, bindings)
        case c.And(()):
            yield Phraser(graph, bindings).said(c.NEVER)
        case c.Exists() if informative := _informative_parts(part):
            found = witnesses(part.var, part.where, graph=graph, bindings=bindings)
            yield from _cases(c.Not(c.And(informative)), part.var, found, graph=graph, bindings=bindings)
        case _:
            yield Phraser(graph, bindings).said(part)


def _informative_parts(condition: c.Exists) -> tuple[c.Condition, ...]:
    """Return the conjuncts worth stating about a witness: not that an apple is an apple."""
    parts = c.conjuncts(condition.where)
    return tuple(part for part in parts if not (isinstance(part, c.HasClass | c.HasKind) and part.x == condition.var))


def _failures_of_quantifier(condition: c.Quantifier, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    found = witnesses(condition.var, condition.where, graph=graph, bindings=bindings)
    match condition:
        case c.ForAll():
            yield from _cases(condition.then, condition.var, found, graph=graph, bindings=bindings)
        case c.AtLeast() | c.Exactly():
            yield f"{Phraser(graph, bindings).said(condition, negated=True)} ({sum(1 for _ in found)} now)"
        case c.Exists():
            yield Phraser(graph, bindings).said(condition, negated=True)
        case _:
            assert_never(condition)


def _cases(
    then: c.Condition, var: str, found: Iterable[str], *, graph: GraphView, bindings: Mapping[str, str]
) -> Iterator[str]:
    failing = (node for node in found if not evaluate(then, graph, {**bindings, var: node}))
    for node in islice(failing, CASES_NAMED):
        yield from _failures(then, graph, {**bindings, var: node})
    more = sum(1 for _ in failing)
    if more:
        yield f"{more} more like these"


def _failures_of_atom(atom: c.Atom, graph: GraphView, bindings: Mapping[str, str]) -> Iterator[str]:
    lacking = False
    for term in c.terms(atom):
        node_id = term.id if isinstance(term, c.Id) else bindings.get(term)
        if node_id is None:
            yield f"nothing is given for {term}"
        elif node_id not in graph.nodes:
            yield f"there is no node '{node_id}'"
        lacking = lacking or node_id is None or node_id not in graph.nodes
    if not lacking:
        yield Phraser(graph, bindings).said(atom, negated=True)

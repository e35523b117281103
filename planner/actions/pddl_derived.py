"""Lifted PDDL: operators, a scene and a goal as text with derived predicates, which Fast Downward grounds itself.

What a thing is within, over any number of containers, is a derived predicate; so is each alternative of a goal. So the
text grows with the operators and the scene, not with the ways to act in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.planner.actions.operator import (
    AGENT,
    Become,
    Cease,
    Choose,
    Effect,
    ForEach,
    Operator,
    Relate,
    Unrelate,
    When,
    asks_empty_hand,
    nested_effects,
)
from scenecypher.planner.actions.pddl_facts import ConditionReader, PossibleFacts
from scenecypher.planner.actions.pddl_formula import Conjunction, Formula, GroundAtom, Literal, Threshold
from scenecypher.planner.actions.text import ActionCall

Scope: TypeAlias = Mapping[str, str]
"""The PDDL term of each variable."""
RESERVED: Final = ("and", "or", "not", "imply", "when", "exists", "forall", "either", "object")
_WITHIN: Final = "within "
_BREAK: Final = re.compile(r"[^a-z0-9_]+")
StaticAtom: TypeAlias = c.HasClass | c.HasKind | c.HasAffordance | c.PropertyEquals


class NotLifted(Exception):
    """An operator can't be written without grounding it: it chooses nodes by rules."""


@dataclass(frozen=True, slots=True)
class LiftedProblem:
    """Domain and problem as text, and the operator and node that each name in it stands for."""

    domain: str
    problem: str
    operators: Mapping[str, str]
    nodes: Mapping[str, str]

    def call(self, step: tuple[str, ...]) -> ActionCall:
        """Return a step of a plan as an action."""
        name, *arguments = step
        return ActionCall(self.operators[name], tuple(self.nodes[argument] for argument in arguments))


def lifted_problem(
    operators: Mapping[str, Operator], graph: SceneGraph, agent: str, goal: c.Condition, *, vocabulary: str
) -> LiftedProblem:
    """Return the problem of reaching `goal`. Raises NotLifted."""
    hand_is_fact = _holds_one_at_most(operators.values(), graph, agent)
    return _LiftedWriter(graph, agent, hand_is_fact).problem(operators, goal, vocabulary)


@dataclass(slots=True)
class _Names:
    """Gives each key a name that PDDL allows, none twice."""

    by_key: dict[Any, str] = field(default_factory=dict)
    _used: set[str] = field(default_factory=lambda: {*RESERVED})

    def of(self, key: object, text: str) -> str:
        if key not in self.by_key:
            name = _BREAK.sub("_", text.casefold()).strip("_") or "x"
            name = name if name[0].isalpha() else f"x_{name}"
            found = next(it for it in _numbered(name) if it not in self._used)
            self._used.add(found)
            self.by_key[key] = found
        return self.by_key[key]


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in range(2, 1_000_000_000))


@dataclass(slots=True)
class _LiftedWriter:
    graph: SceneGraph
    agent: str
    hand_is_fact: bool
    """The empty hand is a fact of its own; engines handle it better than the absence of what may be held."""
    _predicates: _Names = field(default_factory=_Names)
    _arities: dict[str, int] = field(default_factory=dict)
    _objects: _Names = field(default_factory=_Names)
    _derived: dict[str, str] = field(default_factory=dict)

    def problem(self, operators: Mapping[str, Operator], goal: c.Condition, vocabulary: str) -> LiftedProblem:
        nodes = {node: self._object(node) for node in sorted(self.graph.nodes)}
        names = _Names()
        actions = [self._action(names.of(it.name, it.name), it) for it in operators.values()]
        possible = PossibleFacts(self.graph, vocabulary, all_possible=True)
        wanted = self._formula(_GoalReader(possible).read(goal, {}))
        return LiftedProblem(
            self._domain(actions),
            _PROBLEM.format(goal=wanted, init="\n    ".join(self._facts())),
            {name: operator for operator, name in names.by_key.items()},
            {name: node for node, name in nodes.items()},
        )

    def _domain(self, actions: Iterable[str]) -> str:
        declared = (f"({name}{''.join(f' ?x{i}' for i in range(n))})" for name, n in self._arities.items())
        derived = (f"  (:derived {head}\n    {body})" for head, body in self._derived.items())
        parts = "\n".join((*derived, *actions))
        constants = " ".join(self._objects.by_key.values())
        return _DOMAIN.format(constants=constants, predicates="\n    ".join(declared), parts=parts)

    # --- facts

    def _facts(self) -> Iterator[str]:
        """Yield the facts that hold, of those that the text speaks of."""
        found: list[tuple[str, ...]]
        for key, name in self._predicates.by_key.items():
            match key:
                case "empty hand":
                    found = [] if _in_hand(self.graph, self.agent) else [()]
                case "state", state:
                    found = [(node.id,) for node in self.graph.nodes.values() if state in node.states]
                case "relation", type_:
                    found = [(it.source, it.target) for it in self.graph.relations if it.type == type_]
                case c.HasClass() | c.HasKind() | c.HasAffordance() | c.PropertyEquals():
                    found = [(x,) for x in self.graph.nodes if c.evaluate(key, self.graph, {"x": x})]
                case _:
                    continue
            yield from (f"({' '.join((name, *map(self._object, ends)))})" for ends in sorted(found))

    def _object(self, node: str) -> str:
        return self._objects.of(node, node)

    def _predicate(self, key: object, text: str, arity: int) -> str:
        name = self._predicates.of(key, text)
        self._arities[name] = arity
        return name

    def _state(self, state: str, x: str) -> str:
        return f"({self._predicate(('state', state), f'is_{state}', 1)} {x})"

    def _empty_hand(self) -> str:
        return f"({self._predicate('empty hand', 'hand_is_empty', 0)})"

    def _relation(self, type_: str, x: str, y: str) -> str:
        return f"({self._predicate(('relation', type_), type_, 2)} {x} {y})"

    # --- actions

    def _action(self, name: str, operator: Operator) -> str:
        variables = {it.name: f"?{it.name}" for it in operator.parameters}
        scope = {AGENT: self._object(self.agent), **variables, **self._constants(operator.choose)}
        guards = {x: [it.condition for it in operator.requires if _is_static_of(it.condition, x)] for x in variables}
        needed = _all(self._condition(it.condition, scope, guards) for it in operator.requires)
        changed = _all((*(self._effect(it, scope) for it in operator.effects), *self._hand_effects(operator.effects)))
        parameters = " ".join(variables.values())
        return f"  (:action {name}\n    :parameters ({parameters})\n    :precondition {needed}\n    :effect {changed})"

    def _hand_effects(self, effects: Iterable[Effect]) -> Iterator[str]:
        if self.hand_is_fact and any(map(_is_taking, effects)):
            yield _not(self._empty_hand())
        elif self.hand_is_fact and any(map(_is_putting, effects)):
            yield self._empty_hand()

    def _constants(self, choices: Iterable[Choose]) -> Scope:
        found = {}
        for choice in choices:
            match choice.among:
                case (c.Same(_, c.Id(node)),) if node in self.graph.nodes:
                    found[choice.var] = self._object(node)
        return found

    def _effect(self, effect: Effect, scope: Scope) -> str:
        match effect:
            case Become(x, state, instead_of):
                others = [_not(self._state(it, _term(x, scope))) for it in (instead_of,) if it and it != state]
                return _all((self._state(state, _term(x, scope)), *others))
            case Cease(x, state):
                return _not(self._state(state, _term(x, scope)))
            case Relate(source, type_, target, mutual=False):
                return self._relation(type_, _term(source, scope), _term(target, scope))
            case Unrelate(x, types, str(other), directed=True):
                return _all(_not(self._relation(type_, _term(x, scope), _term(other, scope))) for type_ in types)
            case ForEach(var, where, effects):
                inner = {**scope, var: f"?{var}"}
                changed = _all(self._effect(it, inner) for it in effects)
                return f"(forall (?{var}) (when {self._condition(where, inner)} {changed}))"
            case When(condition, effects, ()):
                return f"(when {self._condition(condition, scope)} {_all(self._effect(it, scope) for it in effects)})"
            case _:
                raise NotLifted(effect)

    # --- conditions

    def _condition(  # noqa: PLR0911 - a row a form
        self, condition: c.Condition, scope: Scope, guards: Mapping[str, list[c.Condition]] | None = None
    ) -> str:
        match condition:
            case c.And(parts):
                return _all(self._condition(part, scope, guards) for part in parts)
            case c.Or(parts):
                return _any(self._condition(part, scope, guards) for part in parts)
            case c.Not(part) if self.hand_is_fact and asks_empty_hand(condition):
                return self._empty_hand()
            case c.Not(part):
                return _not(self._condition(part, scope, guards))
            case c.Exists(var, where):
                return f"(exists (?{var}) {self._condition(where, {**scope, var: f'?{var}'}, guards)})"
            case c.ForAll(var, where, then):
                inner = {**scope, var: f"?{var}"}
                either = (_not(self._condition(where, inner, guards)), self._condition(then, inner, guards))
                return f"(forall (?{var}) {_any(either)})"
            case c.AtLeast() | c.Exactly():
                raise NotLifted(condition)
            case _:
                return self._atom(condition, scope, guards or {})

    def _atom(  # noqa: PLR0911 - a row a form
        self, atom: c.Atom, scope: Scope, guards: Mapping[str, list[c.Condition]]
    ) -> str:
        ends = [self._object(it.id) if isinstance(it, c.Id) else _term(it, scope) for it in c.terms(atom)]
        if any(isinstance(it, c.Id) and it.id not in self.graph.nodes for it in c.terms(atom)):
            return _any(())
        match atom:
            case c.HasState():
                return self._state(atom.state, ends[0])
            case c.Related():
                return self._relation(atom.type, *ends)
            case c.HeldBy():
                return _any(self._relation(type_, ends[1], ends[0]) for type_ in HOLDING)
            case c.Same():
                return f"(= {ends[0]} {ends[1]})"
            case c.Within():
                guard = guards.get(atom.y, []) if isinstance(atom.y, str) else []
                name = self._within(atom.types, tuple(self._condition(it, {str(atom.y): "?y"}) for it in guard))
                return f"({name} {ends[0]} {ends[1]})"
            case c.HasClass() | c.HasKind() | c.HasAffordance() | c.PropertyEquals():
                return f"({self._static(atom)} {ends[0]})"

    def _static(self, atom: StaticAtom) -> str:
        match atom:
            case c.HasClass(_, word) | c.HasKind(_, word):
                text = f"is_a_{word}"
            case c.HasAffordance(_, word) | c.PropertyEquals(_, word):
                text = f"has_{word}"
        return self._predicate(replace(atom, x="x"), text, 1)

    def _within(self, types: tuple[str, ...], guard: tuple[str, ...]) -> str:
        """Return the derived predicate of a path to a node that the guard is true of."""
        name = self._predicate((_WITHIN, types, guard), "within", 2)
        first = _any(self._relation(type_, "?x", "?y") for type_ in types)
        step = _any(self._relation(type_, "?x", "?between") for type_ in types)
        further = f"(exists (?between) {_all((step, f'({name} ?between ?y)'))})"
        self._derived[f"({name} ?x ?y)"] = _all((*guard, _any((first, further))))
        return name

    # --- goals

    def _formula(self, formula: Formula) -> str:
        """Return a goal; its alternatives and negations are derived predicates."""
        match formula:
            case Literal(atom, holds):
                return self._fact(atom) if holds else self._named(("not", atom), _not(self._fact(atom)))
            case Conjunction(parts):
                return _all(map(self._formula, parts))
            case Threshold(parts, least):
                return self._at_least(least, tuple(map(self._formula, parts)))

    def _at_least(self, least: int, parts: tuple[str, ...]) -> str:
        """Encode "at least `least` of the parts": that many of the others, or one less of these and the last."""
        if least == 0:
            return _all(())
        if least > len(parts):
            return _any(())
        if least == 1:
            body = _any(parts)
        else:
            *others, last = parts
            body = _any((self._at_least(least, tuple(others)), _all((self._at_least(least - 1, tuple(others)), last))))
        return self._named((least, parts), body)

    def _named(self, key: object, body: str) -> str:
        """Return a derived predicate for a part that Fast Downward would multiply out with the others."""
        name = self._predicate(("met", key), "met", 0)
        self._derived[f"({name})"] = body
        return f"({name})"

    def _fact(self, atom: GroundAtom) -> str:
        word, *nodes = atom
        ends = [*map(self._object, nodes)]
        if word.startswith(_WITHIN):
            return f"({self._within(tuple(word.split()[1:]), ())} {' '.join(ends)})"
        return self._state(word, *ends) if len(ends) == 1 else self._relation(word, *ends)


class _GoalReader(ConditionReader):
    """Reads a goal with a fact of its own for each path between two nodes."""

    def _within(self, x: str, y: str, types: tuple[str, ...], visited: tuple[str, ...]) -> Formula:
        del visited
        return Literal((_WITHIN + " ".join(types), x, y))


_DOMAIN: Final = """\
(define (domain scene)
  (:requirements :adl :derived-predicates)
  (:constants {constants})
  (:predicates
    {predicates})
{parts})
"""
_PROBLEM: Final = """\
(define (problem goal)
  (:domain scene)
  (:init
    {init})
  (:goal {goal}))
"""


def _term(term: str, scope: Scope) -> str:
    if term not in scope:
        raise NotLifted(term)
    return scope[term]


def _holds_one_at_most(operators: Iterable[Operator], graph: SceneGraph, agent: str) -> bool:
    """Return whether what takes asks for an empty hand, and what puts asks for what it puts, in this graph."""
    if len(_in_hand(graph, agent)) > 1:
        return False
    for operator in operators:
        needed = [part for it in operator.requires for part in c.conjuncts(it.condition)]
        changes = [it for it in operator.effects if _is_taking(it) or _is_putting(it)]
        taken = [it for it in changes if isinstance(it, Relate)]
        held = {part.target for part in needed if isinstance(part, c.Related) and part.type in HOLDING}
        put = {it.other for it in changes if isinstance(it, Unrelate)}
        hidden = sum(1 for it in nested_effects(operator.effects) if _is_taking(it) or _is_putting(it)) > len(changes)
        if hidden or not put <= held or len(taken) > 1 or (taken and not (put or any(map(asks_empty_hand, needed)))):
            return False
    return True


def _in_hand(graph: SceneGraph, agent: str) -> tuple[str, ...]:
    return graph.targets(agent, *HOLDING)


def _is_taking(effect: Effect) -> bool:
    return isinstance(effect, Relate) and effect.source == AGENT and effect.type in HOLDING


def _is_putting(effect: Effect) -> bool:
    return isinstance(effect, Unrelate) and effect.x == AGENT and bool({*effect.types} & {*HOLDING})


def _is_static_of(condition: c.Condition, x: str) -> bool:
    """Return whether a condition speaks of `x` alone and of nothing that actions change."""
    match condition:
        case c.And(parts) | c.Or(parts):
            return all(_is_static_of(part, x) for part in parts)
        case c.HasClass() | c.HasKind() | c.HasAffordance() | c.PropertyEquals():
            return condition.x == x
    return False


def _all(parts: Iterable[str]) -> str:
    found = [*parts]
    return found[0] if len(found) == 1 else f"(and{''.join(f' {part}' for part in found)})"


def _any(parts: Iterable[str]) -> str:
    found = [*parts]
    return found[0] if len(found) == 1 else f"(or{''.join(f' {part}' for part in found)})"


def _not(part: str) -> str:
    return f"(not {part})"

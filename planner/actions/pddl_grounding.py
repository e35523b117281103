"""From operators to ground actions: every way in which an action may be carried out among a few nodes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.schema import HOLDING
from scenecypher.planner.actions.operator import (
    AGENT,
    Choose,
    Operator,
)
from scenecypher.planner.actions.pddl_bindings import Case, Cases, OutOfTime, Scope
from scenecypher.planner.actions.pddl_effects import Effects, Outcome
from scenecypher.planner.actions.pddl_facts import Facts, Reader
from scenecypher.planner.actions.pddl_formula import (
    FALSE,
    TRUE,
    All,
    Atom,
    Cube,
    Formula,
    Literal,
    Some,
    TooLarge,
    all_of,
    any_of,
    cubes,
    negated,
)
from scenecypher.planner.actions.pddl_variables import asked_for, variables_of
from scenecypher.planner.actions.text import Call

MOST_WAYS: Final = 256
"""Ways in which one action's precondition may hold; an action with more is left out."""
MOST_PLAIN_WAYS: Final = 64
"""The same for a thrifty grounding."""


@dataclass(frozen=True, slots=True)
class GroundAction:
    """`call` carried out where `needs` holds."""

    call: Call
    needs: Cube
    outcomes: tuple[Outcome, ...]


@dataclass
class Grounding:
    """Grounds operators on `facts`, until no more facts can come to hold."""

    facts: Facts
    operators: Mapping[str, Operator]
    scope: Scope
    _candidates: list[tuple[Operator, dict[str, str]]] = field(init=False)
    _cases: Cases = field(init=False)
    _effects: Effects = field(init=False)
    _values: dict[object, Formula] = field(init=False, default_factory=dict)
    _variables: dict[object, tuple[tuple[str, ...], frozenset[str]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._cases, self._effects = Cases(self.facts, self.scope), Effects(self.facts)
        self._candidates = list(self._possible_calls())

    def actions(self) -> list[GroundAction]:
        """Every action that may be possible at some time. Raises OutOfTime."""
        while True:
            found, news = [], False
            for operator, arguments in self._candidates:
                if time.monotonic() > self.scope.deadline:
                    raise OutOfTime
                for action in self._ground(operator, arguments):
                    news |= self._noted(action)
                    found.append(action)
            if not news:
                return [replace(it, outcomes=self._cases.kept(it.needs, it.outcomes)) for it in found]

    def _noted(self, action: GroundAction) -> bool:
        news = False
        for outcome in action.outcomes:
            for atom in outcome.gained:
                news |= self.facts.gain(atom)
            for atom in outcome.lost - outcome.gained:
                news |= self.facts.lose(atom)
        return news

    def _possible_calls(self) -> Iterator[tuple[Operator, dict[str, str]]]:
        """Operators with arguments that can do what they are to be used for, as far as that never changes."""
        reader = Reader(self.facts)
        ids = sorted({*self.facts.graph.nodes} - ({self.scope.agent} if self.scope.thrifty else set()))
        for operator in self.operators.values():
            names = [parameter.name for parameter in operator.parameters]
            chosen_vars = frozenset(choice.var for choice in operator.choose)
            fixed = [part.condition for part in operator.requires if _is_static(part.condition, chosen_vars)]
            for chosen in product(ids, repeat=len(names)):
                arguments = {AGENT: self.scope.agent, **dict(zip(names, chosen, strict=True))}
                if all(reader.read(condition, arguments) != FALSE for condition in fixed):
                    yield operator, arguments

    def _ground(self, operator: Operator, arguments: Mapping[str, str]) -> Iterator[GroundAction]:
        call = Call(operator.name, tuple(arguments[parameter.name] for parameter in operator.parameters))
        self._values.clear()
        for case in self._cases.of(operator, arguments):
            try:
                outcomes = tuple(self._effects.outcomes(operator.effects, case.bindings, case.reader))
                sensible = outcomes and self._sensible(outcomes)
                needs = all_of(self._needs(operator, case)) if sensible else FALSE
                ways = cubes(_plain(needs), MOST_PLAIN_WAYS) if self.scope.thrifty else cubes(needs, MOST_WAYS)
            except TooLarge:
                continue
            yield from (GroundAction(call, way, outcomes) for way in ways)

    def _needs(self, operator: Operator, case: Case) -> Iterator[Formula]:
        yield case.guard
        for requirement in operator.requires:
            formula = self._read(requirement.condition, operator, case)
            yield formula
            if formula == FALSE:
                return

    def _read(self, condition: c.Condition, operator: Operator, case: Case) -> Formula:
        """The value of a condition, whatever is chosen of what it speaks of."""
        match condition:
            case c.And():
                return all_of(self._read(part, operator, case) for part in condition.parts)
            case c.Or():
                return any_of(self._read(part, operator, case) for part in condition.parts)
            case c.Not():
                return negated(self._read(condition.part, operator, case))
            case _:
                return self._read_part(condition, operator, case)

    def _read_part(self, condition: c.Condition, operator: Operator, case: Case) -> Formula:
        mentioned, open_ = self._asked(condition, operator)
        known = tuple((name, case.bindings.get(name), name in case.unbound) for name in mentioned)
        key = (condition, id(case.reader), known)
        if key not in self._values:
            choices = [choice for choice in operator.choose if choice.var in open_]
            self._values[key] = self._read_cases(condition, choices, replace(case, guard=TRUE))
        return self._values[key]

    def _asked(self, condition: c.Condition, operator: Operator) -> tuple[tuple[str, ...], frozenset[str]]:
        """The variables that a condition speaks of, over what is chosen for it, and those of them to be chosen."""
        key = (condition, operator.name)
        if key not in self._variables:
            open_ = asked_for(variables_of(condition), operator.choose)
            chosen = (part for choice in operator.choose if choice.var in open_ for part in choice.among)
            mentioned = variables_of(condition).union(*map(variables_of, chosen))
            self._variables[key] = tuple(sorted(mentioned)), open_
        return self._variables[key]

    def _read_cases(self, condition: c.Condition, choices: Iterable[Choose], case: Case) -> Formula:
        """Of the cases exactly one holds: so either one that meets the condition, or none that does not."""
        cases = [case]
        for choice in choices:
            if choice.var not in case.bindings and choice.var not in case.unbound:
                cases = [fuller for each in cases for fuller in self._cases.chosen(choice, each, whole=True)]
        values = [(each.guard, each.reader.read(condition, each.bindings)) for each in cases]
        met = [all_of(pair) for pair in values if pair[1] != FALSE]
        unmet = [any_of((negated(guard), value)) for guard, value in values if value != TRUE]
        return any_of(met) if len(met) < len(unmet) else all_of(unmet)

    def _sensible(self, outcomes: tuple[Outcome, ...]) -> bool:
        """Whether things are put only where it may be of use."""
        if not self.scope.thrifty:
            return True
        return all(
            atom in self.facts.now or atom in self.scope.wanted or not self._is_needless(atom)
            for outcome in outcomes
            for atom in outcome.gained
        )

    def _is_needless(self, atom: Atom) -> bool:
        movable = self.scope.movable
        if atom[0] in HOLDING and movable is not None:
            return atom[2] not in movable
        return self._puts(atom) and atom[2] not in self.scope.spares

    def _puts(self, atom: Atom) -> bool:
        """Whether it says of a thing, not of the agent, that it is in or on another, not in a room."""
        if len(atom) != 3 or atom[0] not in self.facts.containment or atom[1] == self.scope.agent:
            return False
        return self.facts.graph.nodes[atom[2]].kind != "Place"


def _plain(formula: Formula) -> Formula:
    """A stronger formula: of several ways those that are one literal, where there is such a one."""
    match formula:
        case Some() if formula.least == 1 and any(isinstance(part, Literal) for part in formula.parts):
            kept = tuple(part for part in formula.parts if isinstance(part, Literal))
            return kept[0] if len(kept) == 1 else Some(kept)
        case All():
            return all_of(map(_plain, formula.parts))
        case _:
            return formula


def _is_static(condition: c.Condition, chosen: frozenset[str]) -> bool:
    """Whether no action can change its value, and it speaks of nothing that has to be chosen first."""
    match condition:
        case c.And() | c.Or():
            return all(_is_static(part, chosen) for part in condition.parts)
        case c.Not():
            return _is_static(condition.part, chosen)
        case c.HasAffordance() | c.HasClass() | c.HasKind() | c.PropertyEquals() | c.Same():
            return not chosen & {*c.terms(condition)}
        case _:
            return False

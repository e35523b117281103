"""Grounding: all ground actions of operators over a few nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.schema import HOLDING
from scenecypher.planner.actions.ground_calls import static_calls
from scenecypher.planner.actions.operator import Choose, Operator
from scenecypher.planner.actions.pddl_bindings import ChoiceBinder, GroundingScope, GuardedBinding, OutOfTime
from scenecypher.planner.actions.pddl_effects import ConditionalEffect, EffectGrounder
from scenecypher.planner.actions.pddl_facts import PossibleFacts
from scenecypher.planner.actions.pddl_formula import (
    FALSE,
    TRUE,
    Conjunction,
    Cube,
    Formula,
    FormulaTooLarge,
    GroundAtom,
    Literal,
    Threshold,
    all_of,
    any_of,
    cubes,
    negated,
)
from scenecypher.planner.actions.pddl_variables import required_choices, variables_of
from scenecypher.planner.actions.text import ActionCall

MAX_CUBES: Final = 256
"""Maximum number of cubes of one action's precondition; an action with more is dropped."""
MAX_PRUNED_CUBES: Final = 64
"""The same limit for a pruned grounding."""


@dataclass(frozen=True, slots=True)
class GroundAction:
    """`call`, applicable if `precondition` holds."""

    call: ActionCall
    precondition: Cube
    effects: tuple[ConditionalEffect, ...]


@dataclass
class Grounding:
    """Grounds operators on `facts` until no further facts become possible."""

    facts: PossibleFacts
    operators: Mapping[str, Operator]
    scope: GroundingScope
    _candidates: list[tuple[Operator, dict[str, str]]] = field(init=False)
    _binder: ChoiceBinder = field(init=False)
    _grounder: EffectGrounder = field(init=False)
    _values: dict[object, Formula] = field(init=False, default_factory=dict)
    _variables: dict[object, tuple[tuple[str, ...], frozenset[str]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._binder, self._grounder = ChoiceBinder(self.facts, self.scope), EffectGrounder(self.facts)
        self._candidates = list(self._possible_calls())

    def actions(self) -> list[GroundAction]:
        """Return every action that may become applicable. Raises OutOfTime."""
        while True:
            found, changed = [], False
            for operator, arguments in self._candidates:
                if self.scope.is_over():
                    raise OutOfTime
                for action in self._ground(operator, arguments):
                    changed |= self._record_facts(action)
                    found.append(action)
            if not changed:
                return [
                    replace(it, effects=self._binder.with_absence_facts(it.precondition, it.effects)) for it in found
                ]

    def _record_facts(self, action: GroundAction) -> bool:
        changed = False
        for effect in action.effects:
            for atom in effect.gained:
                changed |= self.facts.gain(atom)
            for atom in effect.lost - effect.gained:
                changed |= self.facts.lose(atom)
        return changed

    def _possible_calls(self) -> Iterator[tuple[Operator, dict[str, str]]]:
        """Yield operators with arguments that satisfy the requirements that never change."""
        ids = {*self.facts.graph.nodes} - ({self.scope.agent} if self.scope.pruned else set())
        for operator, arguments in static_calls(self.operators, self.facts.graph, among=ids, agent=self.scope.agent):
            if self.scope.is_over():
                raise OutOfTime
            if arguments is not None:
                yield operator, arguments

    def _ground(self, operator: Operator, arguments: Mapping[str, str]) -> Iterator[GroundAction]:
        call = ActionCall(operator.name, tuple(arguments[parameter.name] for parameter in operator.parameters))
        self._values.clear()
        for binding in self._binder.of(operator, arguments):
            try:
                effects = tuple(self._grounder.conditional_effects(operator.effects, binding.bindings, binding.reader))
                useful = effects and self._is_useful(effects)
                precondition = all_of(self._precondition(operator, binding)) if useful else FALSE
                alternatives = (
                    cubes(_strengthened(precondition), MAX_PRUNED_CUBES)
                    if self.scope.pruned
                    else cubes(precondition, MAX_CUBES)
                )
            except FormulaTooLarge:
                continue
            yield from (GroundAction(call, alternative, effects) for alternative in alternatives)

    def _precondition(self, operator: Operator, binding: GuardedBinding) -> Iterator[Formula]:
        yield binding.guard
        for requirement in operator.requires:
            formula = self._read(requirement.condition, operator, binding)
            yield formula
            if formula == FALSE:
                return

    def _read(self, condition: c.Condition, operator: Operator, binding: GuardedBinding) -> Formula:
        """Return the formula of a condition over all choices that it depends on."""
        match condition:
            case c.And():
                return all_of(self._read(part, operator, binding) for part in condition.parts)
            case c.Or():
                return any_of(self._read(part, operator, binding) for part in condition.parts)
            case c.Not():
                return negated(self._read(condition.part, operator, binding))
            case _:
                return self._read_part(condition, operator, binding)

    def _read_part(self, condition: c.Condition, operator: Operator, binding: GuardedBinding) -> Formula:
        mentioned, open_ = self._split_variables(condition, operator)
        known = tuple((name, binding.bindings.get(name), name in binding.unbound) for name in mentioned)
        key = (condition, id(binding.reader), known)
        if key not in self._values:
            choices = [choice for choice in operator.choose if choice.var in open_]
            self._values[key] = self._read_over_choices(condition, choices, replace(binding, guard=TRUE))
        return self._values[key]

    def _split_variables(self, condition: c.Condition, operator: Operator) -> tuple[tuple[str, ...], frozenset[str]]:
        """Return the variables that a condition and its choices mention, and the chosen ones among them."""
        key = (condition, operator.name)
        if key not in self._variables:
            open_ = required_choices(variables_of(condition), operator.choose)
            chosen = (part for choice in operator.choose if choice.var in open_ for part in choice.among)
            mentioned = variables_of(condition).union(*map(variables_of, chosen))
            self._variables[key] = tuple(sorted(mentioned)), open_
        return self._variables[key]

    def _read_over_choices(self, condition: c.Condition, choices: Iterable[Choose], binding: GuardedBinding) -> Formula:
        """Combine exclusive bindings: one that meets the condition holds, or none that violates it."""
        candidates = [binding]
        for choice in choices:
            if choice.var not in binding.bindings and choice.var not in binding.unbound:
                candidates = [
                    extended for each in candidates for extended in self._binder.chosen(choice, each, whole=True)
                ]
        values = [(each.guard, each.reader.read(condition, each.bindings)) for each in candidates]
        met = [all_of(pair) for pair in values if pair[1] != FALSE]
        unmet = [any_of((negated(guard), value)) for guard, value in values if value != TRUE]
        return any_of(met) if len(met) < len(unmet) else all_of(unmet)

    def _is_useful(self, effects: tuple[ConditionalEffect, ...]) -> bool:
        """Return whether objects are put only where a plan may need them."""
        if not self.scope.pruned:
            return True
        return all(
            atom in self.facts.now or atom in self.scope.wanted or not self._is_needless(atom)
            for effect in effects
            for atom in effect.gained
        )

    def _is_needless(self, atom: GroundAtom) -> bool:
        movable = self.scope.movable
        if atom[0] in HOLDING and movable is not None:
            return atom[2] not in movable
        return self._is_placement(atom) and atom[2] not in self.scope.spare_surfaces

    def _is_placement(self, atom: GroundAtom) -> bool:
        """Return whether the fact puts an object, not the agent, in or on another, not in a room."""
        if len(atom) != 3 or atom[0] not in self.facts.containment or atom[1] == self.scope.agent:
            return False
        return self.facts.graph.nodes[atom[2]].kind != "Place"


def _strengthened(formula: Formula) -> Formula:
    """Return a stronger formula: of each disjunction only the single literals, if there are any."""
    match formula:
        case Threshold() if formula.least == 1 and any(isinstance(part, Literal) for part in formula.parts):
            kept = tuple(part for part in formula.parts if isinstance(part, Literal))
            return kept[0] if len(kept) == 1 else Threshold(kept)
        case Conjunction():
            return all_of(map(_strengthened, formula.parts))
        case _:
            return formula

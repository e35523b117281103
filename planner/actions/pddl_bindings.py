"""Bindings of an operator's choices, each with its condition and the assumed places of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from scenecypher.db.condition import Condition
from scenecypher.db.schema import HOLDING
from scenecypher.planner.actions.operator import AGENT, Choose, Operator
from scenecypher.planner.actions.pddl_effects import ConditionalEffect
from scenecypher.planner.actions.pddl_facts import ConditionReader, PossibleFacts
from scenecypher.planner.actions.pddl_formula import (
    FALSE,
    TRUE,
    Cube,
    Formula,
    GroundAtom,
    Literal,
    all_of,
    literals,
    negated,
)
from scenecypher.planner.actions.pddl_variables import effect_variables, required_choices, variables_of

ABSENT: Final = "no_"
"""Prefix of a relation type, for the fact that the agent has no such relation."""
MAX_CHAINS: Final = 40
"""Cap on containment chains of one node in pruned grounding."""

Places: TypeAlias = Mapping[str, tuple[str, str] | None]


class OutOfTime(Exception):
    """Grounding exceeded its time limit."""


@dataclass(frozen=True, slots=True)
class GroundingScope:
    """The bounds of a grounding: the agent, the goal's facts, and other places that things may be put on or in.

    A `pruned` grounding drops what plans rarely need: objects are put only where the goal wants them or on
    `spare_surfaces`, only `movable` objects are taken (None: any), and of a disjunctive precondition only single
    literals are kept if there are any. Each of its plans is also a plan of the full grounding. `is_over` checks if the
    time is.
    """

    agent: str
    wanted: frozenset[GroundAtom]
    spare_surfaces: frozenset[str]
    pruned: bool = True
    movable: frozenset[str] | None = None
    is_over: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class GuardedBinding:
    """One binding of an operator's choices, with its condition and the assumed places of nodes."""

    bindings: Mapping[str, str]
    guard: Formula
    reader: ConditionReader
    unbound: frozenset[str] = frozenset()


@dataclass(slots=True)
class ChoiceBinder:
    """Finds the bindings of operators over the possible facts."""

    facts: PossibleFacts
    scope: GroundingScope
    _exclusive_types: set[str] = field(init=False, default_factory=set)

    def of(self, operator: Operator, arguments: Mapping[str, str]) -> list[GuardedBinding]:
        """Return a binding for each way to bind the effects' variables; those of requirements only stay open."""
        found = [
            GuardedBinding(arguments, guard, ConditionReader(self.facts, places))
            for places, guard in self._placements(operator, arguments)
        ]
        wanted = required_choices(effect_variables(operator.effects), operator.choose)
        for choice in operator.choose:
            if choice.var in wanted:
                found = [extended for binding in found for extended in self._bindings_of(choice, binding)]
        return found

    def _bindings_of(self, choice: Choose, binding: GuardedBinding) -> Iterator[GuardedBinding]:
        current = self._current_choice(choice, binding) if self.scope.pruned else None
        yield from self.chosen(choice, binding) if current is None else (current,)

    def _placements(self, operator: Operator, arguments: Mapping[str, str]) -> Iterator[tuple[Places, Formula]]:
        """Yield the possible places of the arguments and of everything they are in or on, with their condition.

        A place that a requirement on the arguments so far excludes, such as to be held, is left out at once.
        """
        if not self.facts.parent_types:
            yield {}, TRUE
            return
        placements: list[tuple[dict[str, tuple[str, str] | None], Formula]] = [({}, TRUE)]
        placed = {AGENT}
        for parameter in operator.parameters:
            placed.add(parameter.name)
            ready = [it.condition for it in operator.requires if variables_of(it.condition) <= placed]
            placements = [
                it
                for places, guard in placements
                for it in self._placements_of(arguments[parameter.name], places, guard)
                if self._may_hold(ready, arguments, it[0])
            ]
        if self.scope.pruned and len(placements) > MAX_CHAINS:
            placements = sorted(placements, key=lambda it: not self.facts.holds_now(it[1]))[:MAX_CHAINS]
        yield from placements

    def _may_hold(self, conditions: Iterable[Condition], arguments: Mapping[str, str], places: Places) -> bool:
        reader = ConditionReader(self.facts, places)
        return all(reader.read(condition, arguments) != FALSE for condition in conditions)

    def _placements_of(
        self, node: str, places: dict[str, tuple[str, str] | None], guard: Formula
    ) -> Iterator[tuple[dict[str, tuple[str, str] | None], Formula]]:
        """Yield `places` extended by each containment chain that `node` may be in."""
        if node in places or self.facts.graph.nodes[node].kind == "Place" or node == self.scope.agent:
            yield places, guard
            return
        if self.scope.is_over():
            raise OutOfTime
        options = self.facts.parents(node)
        for type_, parent in options:
            atom = (type_, parent, node) if type_ in HOLDING else (type_, node, parent)
            here = all_of((guard, self.facts.literal(atom)))
            if parent not in _below(node, places) and here != FALSE:
                yield from self._placements_of(parent, {**places, node: (type_, parent)}, here)
        if not options:
            yield {**places, node: None}, guard

    def chosen(self, choice: Choose, binding: GuardedBinding, *, whole: bool = False) -> Iterator[GuardedBinding]:
        """Yield a binding for each node that may be the choice, and one for the case that there is none."""
        blocked: Formula = TRUE
        last = len(choice.among) - 1
        for number, alternative in enumerate(choice.among):
            found = list(binding.reader.witnesses(choice.var, alternative, binding.bindings))
            exclusive = self.scope.pruned and self._is_agents_relation(formula for _, formula in found)
            earlier = blocked
            for node, formula in found:
                guard = all_of((binding.guard, earlier if exclusive else blocked, formula))
                if guard != FALSE:
                    yield replace(binding, bindings={**binding.bindings, choice.var: node}, guard=guard)
                blocked = all_of((blocked, negated(formula))) if not exclusive else blocked
                if blocked == FALSE:
                    return
            if exclusive and found:
                blocked = all_of((blocked, self._absence_fact(next(literals(found[0][1])).atom)))
            likely = any(self.facts.holds_now(formula) for _, formula in found)
            if self.scope.pruned and likely and number < last and not whole:
                return
        guard = all_of((binding.guard, blocked))
        if guard != FALSE:
            yield replace(binding, guard=guard, unbound=binding.unbound | {choice.var})

    def _current_choice(self, choice: Choose, binding: GuardedBinding) -> GuardedBinding | None:
        """Return the binding to the currently chosen node, on condition that it remains the choice.

        None for the agent's own relations, which change all the time, and if nothing is chosen now.
        """
        blocked: Formula = TRUE
        for alternative in choice.among:
            found = list(binding.reader.witnesses(choice.var, alternative, binding.bindings))
            if found and self._is_agents_relation(formula for _, formula in found):
                return None
            for node, formula in found:
                if self.facts.holds_now(formula):
                    guard = all_of((binding.guard, blocked, formula))
                    return replace(binding, bindings={**binding.bindings, choice.var: node}, guard=guard)
                blocked = all_of((blocked, negated(formula)))
        return None

    def _is_agents_relation(self, formulas: Iterable[Formula]) -> bool:
        """Return whether all are targets of one relation type of the agent, which pruning assumes to be exclusive."""
        atoms = [formula.atom if isinstance(formula, Literal) and formula.holds else () for formula in formulas]
        return all(len(atom) == 3 and atom[:2] == (atoms[0][0], self.scope.agent) for atom in atoms)

    def _absence_fact(self, example: GroundAtom) -> Formula:
        """Return an explicit fact for "the agent has no relation of this type": engines handle it better."""
        type_, agent, _ = example
        atom = (ABSENT + type_, agent)
        if type_ not in self._exclusive_types:
            self._exclusive_types.add(type_)
            if not any(other[0] == type_ and other[1] == agent for other in self.facts.now):
                self.facts.now.add(atom)
            self.facts.gained.add(atom)
            self.facts.lost.add(atom)
        return Literal(atom)

    def with_absence_facts(
        self, precondition: Cube, effects: tuple[ConditionalEffect, ...]
    ) -> tuple[ConditionalEffect, ...]:
        """Return an action's effects extended by its effects on the facts of `_absence_fact`."""
        more: list[ConditionalEffect] = []
        for effect in effects:
            for type_, source, _ in sorted(atom for atom in effect.gained if self._is_exclusive(atom)):
                more.append(ConditionalEffect(effect.when, frozenset(), frozenset({(ABSENT + type_, source)})))
            for atom in sorted(atom for atom in effect.lost if self._is_exclusive(atom)):
                taken = any(other[:2] == atom[:2] for other in effect.gained)
                when = effect.when if Literal(atom) in precondition else effect.when | {Literal(atom)}
                if not taken and Literal(atom, holds=False) not in precondition:
                    more.append(ConditionalEffect(when, frozenset({(ABSENT + atom[0], atom[1])}), frozenset()))
        return (*effects, *more)

    def _is_exclusive(self, atom: GroundAtom) -> bool:
        return len(atom) == 3 and atom[0] in self._exclusive_types and atom[1] == self.scope.agent


def _below(node: str, places: Places) -> set[str]:
    """Return the nodes that can't contain `node`: itself and everything in or on it."""
    below = {node}
    while True:
        more = {child for child, place in places.items() if place is not None and place[1] in below} - below
        if not more:
            return below
        below |= more

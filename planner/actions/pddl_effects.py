"""Ground conditional effects of an action: facts added and removed, each with its condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from scenecypher.planner.actions.operator import (
    Assign,
    Become,
    Cease,
    Effect,
    ForEach,
    Forget,
    Relate,
    Unrelate,
    When,
)
from scenecypher.planner.actions.pddl_facts import ConditionReader, PossibleFacts
from scenecypher.planner.actions.pddl_formula import FALSE, TRUE, Cube, Formula, GroundAtom, all_of, cubes, negated

MAX_EFFECT_CUBES: Final = 64
"""Maximum number of cubes of one effect's condition."""


@dataclass(frozen=True, slots=True)
class ConditionalEffect:
    """The facts added and removed if `when` holds."""

    when: Cube
    gained: frozenset[GroundAtom]
    lost: frozenset[GroundAtom]


@dataclass(frozen=True, slots=True)
class EffectGrounder:
    """Grounds effects over the possible facts."""

    facts: PossibleFacts

    def conditional_effects(
        self, effects: tuple[Effect, ...], bindings: Mapping[str, str], reader: ConditionReader
    ) -> Iterator[ConditionalEffect]:
        """Yield the ground effects; a fact both removed and added is added. Raises FormulaTooLarge."""
        always_gained: set[GroundAtom] = set()
        always_lost: set[GroundAtom] = set()
        sometimes: list[ConditionalEffect] = []
        for when, gained, lost in self._changes(effects, bindings, TRUE, reader):
            if when == TRUE:
                always_gained |= gained
                always_lost |= lost
            elif gained or lost:
                when_cubes = cubes(when, MAX_EFFECT_CUBES)
                sometimes += [ConditionalEffect(cube, frozenset(gained), frozenset(lost)) for cube in when_cubes]
        if always_gained or always_lost:
            yield ConditionalEffect(frozenset(), frozenset(always_gained), frozenset(always_lost - always_gained))
        for effect in sometimes:
            rest = ConditionalEffect(
                effect.when, effect.gained - always_gained, effect.lost - always_gained - always_lost
            )
            if rest.gained or rest.lost:
                yield rest

    def _changes(
        self, effects: tuple[Effect, ...], bindings: Mapping[str, str], when: Formula, reader: ConditionReader
    ) -> Iterator[tuple[Formula, set[GroundAtom], set[GroundAtom]]]:
        """Yield the condition, the facts added and the facts removed of each effect."""
        for effect in effects:
            match effect:
                case ForEach():
                    for node, formula in reader.witnesses(effect.var, effect.where, bindings):
                        inner = {**bindings, effect.var: node}
                        yield from self._changes(effect.effects, inner, all_of((when, formula)), reader)
                case When():
                    holds = reader.read(effect.condition, bindings)
                    for formula, part in ((holds, effect.effects), (negated(holds), effect.otherwise)):
                        if (both := all_of((when, formula))) != FALSE:
                            yield from self._changes(part, bindings, both, reader)
                case _:
                    yield when, *self._change(effect, bindings)

    def _change(
        self, effect: Become | Cease | Assign | Forget | Relate | Unrelate, bindings: Mapping[str, str]
    ) -> tuple[set[GroundAtom], set[GroundAtom]]:
        match effect:
            case Become() | Cease():
                return _in_state(effect, bindings.get(effect.x))
            case Relate():
                return _related(effect, bindings), set()
            case Unrelate():
                return set(), self._unrelated(effect, bindings)
            case Assign() | Forget():
                return set(), set()  # no operator requires a property that one changes
            case _:
                assert_never(effect)

    def _unrelated(self, effect: Unrelate, bindings: Mapping[str, str]) -> set[GroundAtom]:
        x = bindings.get(effect.x)
        if x is None or (effect.other is not None and effect.other not in bindings):
            return set()
        other = bindings[effect.other] if effect.other is not None else None
        found = {(type_, x, y) for type_ in effect.types for y in self.facts.possible_targets(type_, x)}
        if not effect.directed:
            found |= {(type_, y, x) for type_ in effect.types for y in self.facts.possible_sources(type_, x)}
        return {atom for atom in found if other is None or other in atom[1:]}


def _in_state(effect: Become | Cease, x: str | None) -> tuple[set[GroundAtom], set[GroundAtom]]:
    if x is None:
        return set(), set()
    if isinstance(effect, Cease):
        return set(), {(effect.state, x)}
    return {(effect.state, x)}, {(effect.instead_of, x)} if effect.instead_of is not None else set()


def _related(effect: Relate, bindings: Mapping[str, str]) -> set[GroundAtom]:
    source, target = bindings.get(effect.source), bindings.get(effect.target)
    if source is None or target is None:
        return set()
    return {(effect.type, source, target)} | ({(effect.type, target, source)} if effect.mutual else set())

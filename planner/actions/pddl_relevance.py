"""Selection of ground actions: all that are relevant to a goal, or the nearest of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from scenecypher.planner.actions.pddl_effects import ConditionalEffect
from scenecypher.planner.actions.pddl_formula import Cube, Formula, GroundAtom, Literal, literals
from scenecypher.planner.actions.pddl_grounding import GroundAction
from scenecypher.planner.actions.text import ActionCall

UNREACHABLE: Final = float("inf")

Achiever: TypeAlias = tuple[ActionCall, Cube, Cube]
"""One way to achieve a literal: the call, its precondition, and the condition of the effect."""


def goal_relevant(actions: Iterable[GroundAction], goal: Formula) -> list[GroundAction]:
    """Return the actions relevant to `goal` (backward reachability), without irrelevant effects."""
    pool = list(dict.fromkeys(actions))
    achieving = _achieving_actions(pool)
    wanted = set(literals(goal))
    kept: dict[GroundAction, None] = {}
    queue = list(wanted)
    while queue:
        for action in achieving.get(queue.pop(), ()):
            fresh = _requirements(action, wanted) - wanted
            kept[action] = None
            wanted |= fresh
            queue += fresh
    return _restrict_effects([action for action in pool if action in kept], {literal.atom for literal in wanted})


def nearest(actions: Iterable[GroundAction], goal: Formula, now: set[GroundAtom], *, calls: int) -> list[GroundAction]:
    """Return the relevant actions that are among the `calls` cheapest achievers of some needed literal.

    Costs ignore that facts are removed (the additive heuristic). All variants of a call are kept. A literal that holds
    now counts as needed only if a kept action violates it.
    """
    pool = goal_relevant(actions, goal)
    cost, achievers = _costs(pool, now), _achievers(pool)
    variants: dict[ActionCall, list[GroundAction]] = {}
    for action in pool:
        variants.setdefault(action.call, []).append(action)
    wanted, done, violated = set(literals(goal)), set[Literal](), set[Literal]()
    kept: set[ActionCall] = set()
    while queue := {each for each in wanted - done if (each.atom in now) is not each.holds or each in violated}:
        done |= queue
        chosen = [achiever for each in queue for achiever in _cheapest(achievers.get(each, ()), cost, calls)]
        for action in (action for call in {call for call, _ in chosen} - kept for action in variants[call]):
            added = {literal for effect in action.effects for literal in _added_literals(effect)}
            violated |= {Literal(literal.atom, not literal.holds) for literal in added}
        kept |= {call for call, _ in chosen}
        wanted = wanted.union(*(action.precondition for call in kept for action in variants[call]))
        wanted = wanted.union(*(when for _, when in chosen))
    return goal_relevant([action for action in pool if action.call in kept], goal)


def _achievers(actions: Iterable[GroundAction]) -> dict[Literal, list[Achiever]]:
    """Return the achievers of each literal."""
    found: dict[Literal, list[Achiever]] = {}
    for action in actions:
        for effect in action.effects:
            for literal in _added_literals(effect):
                found.setdefault(literal, []).append((action.call, action.precondition, effect.when))
    return found


def _cheapest(
    achievers: Iterable[Achiever], cost: Mapping[Literal, float], calls: int
) -> list[tuple[ActionCall, Cube]]:
    """Return the `calls` cheapest calls with the effect condition of their cheapest achiever."""
    cheapest_of: dict[ActionCall, tuple[float, Cube]] = {}
    for call, precondition, when in achievers:
        total = sum(cost.get(literal, UNREACHABLE) for literal in precondition | when)
        if call not in cheapest_of or total < cheapest_of[call][0]:
            cheapest_of[call] = total, when
    cheapest = sorted(cheapest_of, key=lambda call: (cheapest_of[call][0], call.name, call.arguments))[:calls]
    return [(call, cheapest_of[call][1]) for call in cheapest]


def _costs(actions: Sequence[GroundAction], now: set[GroundAtom]) -> dict[Literal, float]:
    """Return the number of actions needed to achieve each literal if nothing is ever removed."""
    atoms = {literal.atom for action in actions for literal in action.precondition}
    atoms |= {literal.atom for action in actions for effect in action.effects for literal in effect.when}
    cost = {Literal(atom, atom in now): 0.0 for atom in atoms}
    changed = True
    while changed:
        changed = False
        for action in actions:
            base = 1 + sum(cost.get(literal, UNREACHABLE) for literal in action.precondition)
            for effect in action.effects if base < UNREACHABLE else ():
                total = base + sum(cost.get(literal, UNREACHABLE) for literal in effect.when)
                for literal in _added_literals(effect):
                    if total < cost.get(literal, UNREACHABLE):
                        cost[literal] = total
                        changed = True
    return cost


def _achieving_actions(actions: Iterable[GroundAction]) -> dict[Literal, list[GroundAction]]:
    found: dict[Literal, list[GroundAction]] = {}
    for action in actions:
        for literal in {literal for effect in action.effects for literal in _added_literals(effect)}:
            found.setdefault(literal, []).append(action)
    return found


def _requirements(action: GroundAction, wanted: set[Literal]) -> set[Literal]:
    """Return the literals that an action needs to achieve some of `wanted`."""
    conditions = [effect.when for effect in action.effects if _added_literals(effect) & wanted]
    return set(action.precondition).union(*conditions)


def _added_literals(effect: ConditionalEffect) -> set[Literal]:
    return {Literal(atom) for atom in effect.gained} | {Literal(atom, holds=False) for atom in effect.lost}


def _restrict_effects(actions: Iterable[GroundAction], atoms: set[GroundAtom]) -> list[GroundAction]:
    """Return the actions without their effects on other facts."""
    found = (replace(action, effects=_effects_on(action.effects, atoms)) for action in actions)
    return list(dict.fromkeys(action for action in found if action.effects))


def _effects_on(effects: Iterable[ConditionalEffect], atoms: set[GroundAtom]) -> tuple[ConditionalEffect, ...]:
    kept = (ConditionalEffect(each.when, each.gained & atoms, each.lost & atoms) for each in effects)
    return tuple(each for each in kept if each.gained or each.lost)

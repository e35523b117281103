"""Which ground actions a plan may need: those that help towards the goal, or only the nearest of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from scenecypher.planner.actions.pddl_effects import Outcome
from scenecypher.planner.actions.pddl_formula import Atom, Cube, Formula, Literal, literals
from scenecypher.planner.actions.pddl_grounding import GroundAction
from scenecypher.planner.actions.text import Call

FAR: Final = float("inf")

Way: TypeAlias = tuple[Call, Cube, Cube]
"""A call, what it needs, and when its effect takes place."""


def useful(actions: Iterable[GroundAction], goal: Formula) -> list[GroundAction]:
    """The actions that may help to bring about `goal`, without what of them changes nothing that matters."""
    pool = list(dict.fromkeys(actions))
    bringing = _bringing(pool)
    wanted = set(literals(goal))
    kept: dict[GroundAction, None] = {}
    waiting = list(wanted)
    while waiting:
        for action in bringing.get(waiting.pop(), ()):
            fresh = _asked(action, wanted) - wanted
            kept[action] = None
            wanted |= fresh
            waiting += fresh
    return _trimmed([action for action in pool if action in kept], {literal.atom for literal in wanted})


def nearest(actions: Iterable[GroundAction], goal: Formula, now: set[Atom], *, calls: int) -> list[GroundAction]:
    """Of the useful actions those that, for some fact that is needed, are among the nearest `calls` ways to it.

    How near is told by plans in which nothing is ever lost (the additive heuristic). All variants of a call stay. What
    holds now is needed only where one of the actions that are kept ends it.
    """
    pool = useful(actions, goal)
    cost, ways = _costs(pool, now), _ways(pool)
    variants: dict[Call, list[GroundAction]] = {}
    for action in pool:
        variants.setdefault(action.call, []).append(action)
    wanted, done, broken = set(literals(goal)), set[Literal](), set[Literal]()
    kept: set[Call] = set()
    while waiting := {each for each in wanted - done if (each.atom in now) is not each.holds or each in broken}:
        done |= waiting
        chosen = [way for each in waiting for way in _cheapest(ways.get(each, ()), cost, calls)]
        for action in (action for call in {call for call, _ in chosen} - kept for action in variants[call]):
            brought = {literal for outcome in action.outcomes for literal in _brings(outcome)}
            broken |= {Literal(literal.atom, not literal.holds) for literal in brought}
        kept |= {call for call, _ in chosen}
        wanted = wanted.union(*(action.needs for call in kept for action in variants[call]))
        wanted = wanted.union(*(when for _, when in chosen))
    return useful([action for action in pool if action.call in kept], goal)


def _ways(actions: Iterable[GroundAction]) -> dict[Literal, list[Way]]:
    """The ways to bring each literal about: a call, what its action needs, and when the effect takes place."""
    found: dict[Literal, list[Way]] = {}
    for action in actions:
        for outcome in action.outcomes:
            for literal in _brings(outcome):
                found.setdefault(literal, []).append((action.call, action.needs, outcome.when))
    return found


def _cheapest(ways: Iterable[Way], cost: Mapping[Literal, float], calls: int) -> list[tuple[Call, Cube]]:
    """The cheapest way of each of the `calls` cheapest calls, with when the effect takes place."""
    prices: dict[Call, tuple[float, Cube]] = {}
    for call, needs, when in ways:
        price = sum(cost.get(literal, FAR) for literal in needs | when)
        if call not in prices or price < prices[call][0]:
            prices[call] = price, when
    cheapest = sorted(prices, key=lambda call: (prices[call][0], call.name, call.arguments))[:calls]
    return [(call, prices[call][1]) for call in cheapest]


def _costs(actions: Sequence[GroundAction], now: set[Atom]) -> dict[Literal, float]:
    """How many actions it takes to bring each literal about, where nothing that held is ever lost."""
    atoms = {literal.atom for action in actions for literal in action.needs}
    atoms |= {literal.atom for action in actions for outcome in action.outcomes for literal in outcome.when}
    cost = {Literal(atom, atom in now): 0.0 for atom in atoms}
    news = True
    while news:
        news = False
        for action in actions:
            base = 1 + sum(cost.get(literal, FAR) for literal in action.needs)
            for outcome in action.outcomes if base < FAR else ():
                price = base + sum(cost.get(literal, FAR) for literal in outcome.when)
                for literal in _brings(outcome):
                    if price < cost.get(literal, FAR):
                        cost[literal] = price
                        news = True
    return cost


def _bringing(actions: Iterable[GroundAction]) -> dict[Literal, list[GroundAction]]:
    found: dict[Literal, list[GroundAction]] = {}
    for action in actions:
        for literal in {literal for outcome in action.outcomes for literal in _brings(outcome)}:
            found.setdefault(literal, []).append(action)
    return found


def _asked(action: GroundAction, wanted: set[Literal]) -> set[Literal]:
    """What an action needs for what it brings about of `wanted`."""
    conditions = [outcome.when for outcome in action.outcomes if _brings(outcome) & wanted]
    return set(action.needs).union(*conditions)


def _brings(outcome: Outcome) -> set[Literal]:
    return {Literal(atom) for atom in outcome.gained} | {Literal(atom, holds=False) for atom in outcome.lost}


def _trimmed(actions: Iterable[GroundAction], atoms: set[Atom]) -> list[GroundAction]:
    """The actions without what they do to other facts."""
    found = (replace(action, outcomes=_only(action.outcomes, atoms)) for action in actions)
    return list(dict.fromkeys(action for action in found if action.outcomes))


def _only(outcomes: Iterable[Outcome], atoms: set[Atom]) -> tuple[Outcome, ...]:
    kept = (Outcome(each.when, each.gained & atoms, each.lost & atoms) for each in outcomes)
    return tuple(each for each in kept if each.gained or each.lost)

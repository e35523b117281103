"""Order of a plan by rooms: what can be done in a room is done before the agent leaves it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final

from scenecypher.db.condition import Condition, evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.prompts.layout import SceneLayout
from scenecypher.planner.symbolic.required_actions import PlanningState
from scenecypher.planner.vocabularies.registry import vocabulary_named

MAX_ORDERED: Final = 60
"""Maximum length of a plan that is ordered, at quadratic cost."""


@dataclass(frozen=True, slots=True)
class _Walked:
    """A plan's actions that are possible in their order, the rooms of the agent from the start on, and the end."""

    plan: tuple[ActionCall, ...]
    rooms: tuple[str | None, ...]
    end: SceneGraph

    @property
    def changes(self) -> int:
        """Return how often the agent changes rooms."""
        return sum(one != other for one, other in pairwise(self.rooms))


def order_by_rooms(
    plan: Sequence[ActionCall], goal: Condition, state: PlanningState, vocabulary: str
) -> tuple[ActionCall, ...]:
    """Return a plan for `goal` with fewer changes of rooms, if moving blocks of it gives one, else the plan itself.

    What is moved is what is done in one room, all of it or from one going to a thing to the next.
    """
    approach = vocabulary_named(vocabulary).words.approach
    if approach is None or len(plan) > MAX_ORDERED:
        return tuple(plan)
    best, improved = _walk(plan, state, vocabulary), True
    while improved:
        improved = False
        for changed in _rearranged(best, approach.go):
            other = _walk(changed, state, vocabulary)
            if other.changes < best.changes and evaluate(goal, other.end, {}):
                best, improved = other, True
                break
    return best.plan


def _walk(plan: Sequence[ActionCall], state: PlanningState, vocabulary: str) -> _Walked:
    """Carry out a plan in memory, without the actions that are not possible."""
    done: list[ActionCall] = []
    rooms = [SceneLayout(state.graph, vocabulary).here]
    for call in plan:
        try:
            state = state.after(call)
        except Infeasible:
            continue
        done.append(call)
        rooms.append(SceneLayout(state.graph, vocabulary).here)
    return _Walked(tuple(done), tuple(rooms), state.graph)


def _rearranged(walked: _Walked, going: Collection[str]) -> Iterator[tuple[ActionCall, ...]]:
    """Yield the plans in which a block stands next to a later one in the same room."""
    plan, rooms = walked.plan, walked.rooms[1:]
    blocks = [*dict.fromkeys((*_blocks(plan, rooms, going), *_blocks(plan, rooms, ())))]
    for one, other in product(blocks, blocks):
        if one.stop < other.start and rooms[one.start] == rooms[other.start]:
            between = range(one.stop, other.start)
            for order in ((*one, *other, *between), (*between, *one, *other)):
                yield (*plan[: one.start], *(plan[number] for number in order), *plan[other.stop :])


def _blocks(plan: Sequence[ActionCall], rooms: Sequence[str | None], going: Collection[str]) -> Iterator[range]:
    """Yield the stretches of actions in one room; actions of `going` begin new ones."""
    starts = (it for it, call in enumerate(plan) if it == 0 or rooms[it] != rooms[it - 1] or call.name in going)
    yield from (range(*ends) for ends in pairwise((*starts, len(plan))))

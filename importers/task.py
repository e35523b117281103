"""Task: a goal in a scene, and the ways to check that it is reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from scenecypher.db.condition import ALWAYS, Condition
from scenecypher.errors import InputError, did_you_mean

T = TypeVar("T")
ActionGoal: TypeAlias = tuple[str, ...]
"""Alternatives: one of these actions must be among the executed steps."""
GoalKind: TypeAlias = Literal["graph", "actions", "both", "question"]


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """An action of a recorded program, in the source's word (lower case), with node ids."""

    action: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.action}({', '.join(self.arguments)})"


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a data set.

    `scene` names the scene that it starts in; `goal` must hold of the graph at the end, and `action_goals` must be met
    by the executed steps in their order. `budget` is the most actions of an episode. `category` groups tasks as the
    source does; `formula` is the goal in the source's form; `program` is a recorded solution. The goal of a question is
    empty, and `answer` is the one right answer.
    """

    id: str
    instruction: str
    scene: str
    goal: Condition
    action_goals: tuple[ActionGoal, ...]
    budget: int
    source: str
    category: str = ""
    formula: str = ""
    program: tuple[ProgramStep, ...] = ()
    answer: str = ""

    @property
    def has_graph_goal(self) -> bool:
        """Return True if the goal is a condition on the graph."""
        return self.goal != ALWAYS

    @property
    def goal_kind(self) -> GoalKind:
        """Return the kind of check: the graph at the end, executed actions, both, or an answer."""
        if self.answer:
            return "question"
        if self.action_goals:
            return "both" if self.has_graph_goal else "actions"
        return "graph"


def chosen(only: str | None, known: Mapping[str, T], what: str, *, where: str, like: str) -> Mapping[str, T]:
    """Return all that is known, by id, or the one of the id `only`. Raises InputError with the nearest ids."""
    if only is not None and only not in known:
        hint = did_you_mean(only[:60], tuple(known)) or f"; {like}"
        raise InputError(f"no {what} {only[:60]!r} among the {len(known):,} {where}{hint}")
    return known if only is None else {only: known[only]}


def meets_action_goals(steps: tuple[ProgramStep, ...], goals: tuple[ActionGoal, ...]) -> bool:
    """Return True if the steps contain, in order, one alternative of each goal."""
    remaining = iter(steps)
    return all(any(step.action in alternatives for step in remaining) for alternatives in goals)

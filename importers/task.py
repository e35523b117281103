"""Task: what shall be brought about in a scene, and how one tells that it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from scenecypher.db.condition import ALWAYS, Condition

ActionGoal: TypeAlias = tuple[str, ...]
"""Alternatives: one of these actions must be among the executed steps."""
GoalKind: TypeAlias = Literal["graph", "actions", "both", "question"]


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """An action of a recorded program, in the source's word (lower case), with ids of nodes."""

    action: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.action}({', '.join(self.arguments)})"


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a data set.

    `scene` names the scene that it starts in; `goal` must hold of the graph at the end, and `action_goals` must be met
    by the executed steps in their order. `budget` is the most actions that an episode may take. `category` groups
    tasks as the source does; `formula` is the goal as the source writes it; `program` is a recorded solution. The goal
    of a question is empty, and `answer` is the one right answer.
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
        """Whether the goal says anything about the graph."""
        return self.goal != ALWAYS

    @property
    def goal_kind(self) -> GoalKind:
        """By what one tells that it is done: the graph at the end, executed actions, both, or an answer."""
        if self.answer:
            return "question"
        if self.action_goals:
            return "both" if self.has_graph_goal else "actions"
        return "graph"


def meets_action_goals(steps: tuple[ProgramStep, ...], goals: tuple[ActionGoal, ...]) -> bool:
    """Whether the steps contain, one after the other, one alternative of each goal."""
    remaining = iter(steps)
    return all(any(step.action in alternatives for step in remaining) for alternatives in goals)

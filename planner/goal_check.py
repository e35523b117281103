"""Whether a task is done in a scene: its goal by one query, its action goals by the scene's history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.condition_check import ConditionCheck, check_goal
from scenecypher.db.store.history import Event, versions_in_effect
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused
from scenecypher.importers.task import ActionGoal, Step, Task, meets_action_goals
from scenecypher.planner.actions.simulator import INSERTED
from scenecypher.planner.actions.text import parse


@dataclass(frozen=True, slots=True)
class GoalCheck:
    """What was found: the verdict on the graph, and the actions that are missing; `met` is both together."""

    goal: ConditionCheck
    steps: tuple[Step, ...]
    missing_actions: tuple[ActionGoal, ...]

    @property
    def met(self) -> bool:
        """Whether the task is done."""
        return self.goal.holds and not self.missing_actions


def check_task(store: SceneStore, scene: SceneInfo, task: Task) -> GoalCheck:
    """Check `task` in `scene`. Action goals are checked on the actions that still hold, in their order."""
    verdict = check_goal(store, scene, task.goal)
    if not task.action_goals:
        return GoalCheck(verdict, (), ())
    steps = executed(store.history(scene))
    return GoalCheck(verdict, steps, missing(steps, task.action_goals))


def executed(log: Sequence[Event]) -> tuple[Step, ...]:
    """The actions in a history that still hold, in the words of the data sets, which write ours without underscores."""
    held = versions_in_effect(log)
    return steps_of(event.action for event in log if event.kind == "act" and event.version in held)


def steps_of(actions: Iterable[str]) -> tuple[Step, ...]:
    """Actions in the words of the data sets; what is no action is left out."""
    return tuple(step for action in actions for step in _steps(action))


def missing(steps: tuple[Step, ...], goals: tuple[ActionGoal, ...]) -> tuple[ActionGoal, ...]:
    """The goals from the first one on that the steps do not meet in order."""
    met = max(number for number in range(len(goals) + 1) if meets_action_goals(steps, goals[:number]))
    return goals[met:]


def _steps(action: str) -> tuple[Step, ...]:
    """What else is committed, such as an import, is no step."""
    try:
        call = parse(action.partition(INSERTED)[0])
    except ActionRefused:
        return ()
    return (Step(call.name.replace("_", ""), call.arguments),)

"""Check of a goal in a scene: what shall hold by one query, action goals by the scene's history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from scenecypher.db.condition import Condition
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.condition_check import ConditionCheck, check_goal
from scenecypher.db.store.history import Event, versions_in_effect
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused
from scenecypher.importers.task import ActionGoal, ProgramStep, Task, meets_action_goals
from scenecypher.planner.actions.simulator import INSERTED_MARK
from scenecypher.planner.actions.text import parse_action


@dataclass(frozen=True, slots=True)
class GoalCheck:
    """Result of a check: the verdict on the graph, and the missing actions; `met` combines both."""

    goal: ConditionCheck
    steps: tuple[ProgramStep, ...]
    missing_actions: tuple[ActionGoal, ...]

    @property
    def met(self) -> bool:
        """True if the task is done."""
        return self.goal.holds and not self.missing_actions

    @property
    def unmet(self) -> tuple[str, ...]:
        """What does not hold and what was not done, a sentence each."""
        missing = (" or ".join(alternatives) for alternatives in self.missing_actions)
        undone = (f"{'then' if number else 'nobody did'} {words}" for number, words in enumerate(missing))
        return (*self.goal.missing, *undone)


def check_task(store: SceneStore, scene: SceneInfo, task: Task) -> GoalCheck:
    """Check `task` in `scene`, by its whole history."""
    return judge(store, scene, task.goal, task.action_goals)


def judge(
    store: SceneStore, scene: SceneInfo, goal: Condition, action_goals: Sequence[ActionGoal] = (), *, after: int = 0
) -> GoalCheck:
    """Check in the scene itself what shall hold, and what shall have been done since the version `after`.

    Action goals are matched in order with the actions that are not undone. Raises SceneReplaced, ServiceError.
    """
    verdict = check_goal(store, scene, goal)
    if not action_goals:
        return GoalCheck(verdict, (), ())
    steps = executed_steps(store.history(scene, after=after))
    return GoalCheck(verdict, steps, missing_goals(steps, tuple(action_goals)))


def executed_steps(log: Sequence[Event]) -> tuple[ProgramStep, ...]:
    """Return the actions of a history that are not undone, in the data sets' words (without underscores)."""
    held = versions_in_effect(log)
    return steps_of(event.action for event in log if event.kind == "act" and event.version in held)


def steps_of(actions: Iterable[str]) -> tuple[ProgramStep, ...]:
    """Return actions in the data sets' words; skip everything that is no action."""
    found: list[ProgramStep] = []
    for action in actions:
        with suppress(ActionRefused):  # another event, such as an import
            call = parse_action(action.partition(INSERTED_MARK)[0])
            found.append(ProgramStep(call.name.replace("_", ""), call.arguments))
    return tuple(found)


def missing_goals(steps: tuple[ProgramStep, ...], goals: tuple[ActionGoal, ...]) -> tuple[ActionGoal, ...]:
    """Return the action goals from the first one on that the steps do not meet in order."""
    met = max(number for number in range(len(goals) + 1) if meets_action_goals(steps, goals[:number]))
    return goals[met:]

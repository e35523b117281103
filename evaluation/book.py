"""The tasks of an experiment with their scenes and what they are marked by, each read and worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import TypeAlias

from scenecypher.db.condition import Condition, HasState, Id, Related, conjuncts, explain
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.evaluation.episode import Episode, Wording
from scenecypher.evaluation.marking import Standard, standard
from scenecypher.importers.datasets import dataset
from scenecypher.importers.reference_plans import reference_plans
from scenecypher.importers.task import Task
from scenecypher.planner.perturbation import Perturbation, perturb
from scenecypher.planner.reference import final_graph

Scenes: TypeAlias = Callable[[Task], ImportedScene]
"""The scene of a task."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A task as an episode has it: its scene before anything is moved, what is moved, and what it is marked by."""

    task: Task
    scene: ImportedScene
    initial: SceneGraph
    by: Standard
    moved: Perturbation | None = None


class Book:
    """Assignments by episode, from `tasks`; safe to share between threads.

    A task's goal graph is the end of its reference plan: of `plans`, or of those that come with the data sets.
    """

    def __init__(
        self, tasks: Iterable[Task], *, scenes: Scenes, plans: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        self._tasks = {task.id: task for task in tasks}
        self._read, self._plans = scenes, plans
        self._lock = Lock()
        self._scenes: dict[str, ImportedScene] = {}
        self._made: dict[tuple[str, int, int], Assignment] = {}

    def of(self, episode: Episode) -> Assignment:
        """What an episode is about. Raises InputError where things can't be moved as it says."""
        key = episode.task, episode.moved, episode.seed if episode.moved else 0
        with self._lock:
            if key not in self._made:
                self._made[key] = self._assignment(*key)
            made = self._made[key]
        return replace(made, task=replace(made.task, instruction=_worded(made, episode.wording)))

    def _assignment(self, task_id: str, objects: int, seed: int) -> Assignment:
        task = self._tasks[task_id]
        scene = self._scene(task)
        moved = None
        if objects:
            moved = perturb(scene.graph, vocabulary=scene.vocabulary, seed=seed, objects=objects)
        initial = apply(scene.graph, moved.delta) if moved else scene.graph
        by = standard(task.goal, initial, self._end(task, scene), vocabulary=scene.vocabulary)
        return Assignment(task, scene, initial, by, moved)

    def _scene(self, task: Task) -> ImportedScene:
        if task.scene not in self._scenes:
            self._scenes[task.scene] = self._read(task)
        return self._scenes[task.scene]

    def _end(self, task: Task, scene: ImportedScene) -> SceneGraph | None:
        if self._plans is None:
            self._plans = reference_plans()
        actions = self._plans.get(task.id)
        return None if actions is None else final_graph(actions, scene.graph, scene.vocabulary)


def of_dataset(task: Task) -> ImportedScene:
    """The scene of a data set's task."""
    name, _, within = task.id.partition("/")
    return next(dataset(name).scenes(within))


def _worded(made: Assignment, wording: Wording) -> str:
    match wording:
        case "source":
            return made.task.instruction
        case "goal":
            return in_words(made.task.goal, made.initial)
        case "states":
            return made.task.formula


def in_words(goal: Condition, graph: SceneGraph) -> str:
    """A goal's parts, each as a sentence."""
    return "; ".join(explain(part, graph, {}) for part in conjuncts(goal))


def is_plain(goal: Condition) -> bool:
    """Whether a goal says of single nodes where and how they are, so that its words tell all of it."""
    parts = tuple(conjuncts(goal))
    return bool(parts) and all(map(_is_fact, parts))


def _is_fact(part: Condition) -> bool:
    match part:
        case Related(Id(), _, Id()) | HasState(Id(), _):
            return True
        case _:
            return False


def with_plans(tasks: Iterable[Task]) -> Iterator[Task]:
    """The tasks for which a goal graph is known."""
    known = reference_plans()
    return (task for task in tasks if task.id in known)

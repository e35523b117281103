"""Cache of an experiment's tasks with their scenes, perturbations and marking schemes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from types import MappingProxyType
from typing import TypeAlias

from scenecypher.db.condition import Condition, HasState, Id, Related, conjuncts, explain
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.evaluation.episode import EpisodePlan, Wording
from scenecypher.evaluation.marking import MarkingScheme, marking_scheme
from scenecypher.importers.datasets import dataset, reference_plans
from scenecypher.importers.task import Task
from scenecypher.planner.symbolic.reference import final_graph
from scenecypher.planner.worlds.perturbation import Perturbation, perturb

LoadScene: TypeAlias = Callable[[Task], ImportedScene]
"""Function that returns the scene of a task."""


def load_dataset_scene(task: Task) -> ImportedScene:
    """Return the scene of a data set's task."""
    name, _, within = task.id.partition("/")
    return next(dataset(name).scenes(within))


@dataclass(frozen=True, slots=True)
class Assignment:
    """Task of an episode: its scene, the graph at the start, the things moved, the marking scheme, and examples."""

    task: Task
    scene: ImportedScene
    initial: SceneGraph
    scheme: MarkingScheme
    moved: Perturbation | None = None
    examples: Mapping[str, str] = field(default_factory=dict)


class AssignmentCache:
    """Assignments by episode, computed once each from `tasks` and their `scenes`; safe to share between threads.

    A task's goal graph is that of `ends`, by its id, or the end of its reference plan: from `plans`, or else from the
    plans that come with the data sets. `moved` are the things that were moved before a task begins, by its id, besides
    those that an episode moves. `examples` are worked ones for the prompts of a scene's tasks, by its name.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        *,
        scenes: LoadScene = load_dataset_scene,
        plans: Mapping[str, tuple[str, ...]] | None = None,
        moved: Mapping[str, Perturbation] = MappingProxyType({}),
        examples: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        ends: Mapping[str, SceneGraph] = MappingProxyType({}),
    ) -> None:
        self._tasks, self._moved, self._examples = {task.id: task for task in tasks}, moved, examples
        self._load, self._plans, self._ends = scenes, plans, ends
        self._lock = Lock()
        self._scenes: dict[str, ImportedScene] = {}
        self._assignments: dict[tuple[str, int, int], Assignment] = {}

    def of(self, episode: EpisodePlan) -> Assignment:
        """Return an episode's assignment. Raises InputError if the things it names can't be moved."""
        key = episode.task, episode.moved, episode.seed if episode.moved else 0
        with self._lock:
            if key not in self._assignments:
                self._assignments[key] = self._assignment(*key)
            assignment = self._assignments[key]
        return replace(assignment, task=replace(assignment.task, instruction=_instruction(assignment, episode.wording)))

    def aim(self, episode: EpisodePlan) -> str:
        """Return what an episode's task asks for: its answer, its goal in the source's notation, or its words."""
        task = self._tasks[episode.task]
        return task.answer or task.formula or task.instruction

    def _assignment(self, task_id: str, objects: int, seed: int) -> Assignment:
        task = self._tasks[task_id]
        scene = self._scene(task)
        moved = self._moved.get(task_id)
        if objects:
            moved = perturb(scene.graph, vocabulary=scene.vocabulary, seed=seed, objects=objects)
        initial = apply(scene.graph, moved.delta) if moved else scene.graph
        scheme = marking_scheme(task.goal, initial, self._goal_graph(task, scene), vocabulary=scene.vocabulary)
        return Assignment(task, scene, initial, scheme, moved, self._examples.get(task.scene, {}))

    def _scene(self, task: Task) -> ImportedScene:
        if task.scene not in self._scenes:
            self._scenes[task.scene] = self._load(task)
        return self._scenes[task.scene]

    def _goal_graph(self, task: Task, scene: ImportedScene) -> SceneGraph | None:
        if task.id in self._ends:
            return self._ends[task.id]
        if self._plans is None:
            self._plans = reference_plans()
        actions = self._plans.get(task.id)
        return None if actions is None else final_graph(actions, scene.graph, scene.vocabulary)


def _instruction(assignment: Assignment, wording: Wording) -> str:
    match wording:
        case "source":
            return assignment.task.instruction
        case "goal":
            return goal_in_words(assignment.task.goal, assignment.initial)
        case "states":
            return assignment.task.formula


def goal_in_words(goal: Condition, graph: SceneGraph) -> str:
    """Return a goal as text, one clause for each of its parts."""
    return "; ".join(explain(part, graph, {}) for part in conjuncts(goal))


def is_ground_goal(goal: Condition) -> bool:
    """Check that a goal consists only of states and relations of named nodes, so that its words express all of it."""
    parts = tuple(conjuncts(goal))
    return bool(parts) and all(map(_is_fact, parts))


def _is_fact(part: Condition) -> bool:
    match part:
        case Related(Id(), _, Id()) | HasState(Id(), _):
            return True
        case _:
            return False

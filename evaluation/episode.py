"""Samples in which a method plays: an episode's plan and trace, and its task with its scene and marking scheme."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from scenecypher.db.condition import Condition, HasState, Id, Related, conjuncts, explain
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.evaluation.marking import MarkingScheme, Marks, marking_scheme
from scenecypher.evaluation.result import Document
from scenecypher.evaluation.stated_tasks import Player
from scenecypher.importers.datasets import dataset, reference_plans
from scenecypher.importers.task import Task
from scenecypher.planner.sessions.method import AskingBack
from scenecypher.planner.sessions.recipe import Recipe, SchemaScope
from scenecypher.planner.symbolic.reference import final_graph
from scenecypher.planner.worlds.perturbation import Perturbation, perturb

Wording: TypeAlias = Literal["source", "goal", "states"]
"""The data set's instruction, the goal in words that a program can parse, or the goal in its source's notation."""
Perception: TypeAlias = Literal["truth", "noise", "pictures", "person"]
"""Source of observations: the simulator (ground truth), the simulator with seeded mistakes, pictures of a folder, or
a person's."""
Marking: TypeAlias = Literal["goal", "minigrid", "answer", "person", "gold"]
"""Criterion of success: the goal on the graph, MiniGrid's own steps, an answer, a person's judgement, or a program."""

SPARE_STEPS: Final = 30
"""Decisions granted beyond three for each action that a task grants (look, question, action); ours."""


class EpisodePlan(BaseModel):
    """Definition of one sample, stored in its metadata.

    `group` is shared by all tables that count the sample, and `row` is the key of its row there. `row`, `method` and
    `task` are empty in the plan that a table's episodes share. `moved` is the number of things moved by `seed` before
    the episode begins and after the belief is made. Without `goal_graph` there is no APP. `belief`, `schema_scope`,
    `ids_only` and `known_places` are as in `SessionSetting`; `steps` is None if the task decides. With `sizes`, the
    tokens of the scene's text are measured. `pictures` is a folder of the tasks' pictures; `vision_model` reads
    pictures (empty: the model that plans). A scripted `player` states goals in place of a model, and a scripted
    `person` is asked what is meant as `asking` says.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")  # logs of earlier versions have other settings

    group: str = ""
    row: str = ""
    method: str = ""
    ablations: tuple[str, ...] = ()
    task: str = ""
    wording: Wording = "source"
    moved: int = 0
    seed: int = 0
    eyes: Perception = "truth"
    pictures: str = ""
    vision_model: str = ""
    belief: bool | None = None
    marking: Marking = "goal"
    steps: int | None = None
    schema_scope: SchemaScope | None = None
    ids_only: bool = False
    known_places: bool = False
    goal_graph: bool = True
    sizes: bool = False
    player: Player = ""
    person: Player = ""
    asking: AskingBack = "never"

    @property
    def id(self) -> str:
        """Sample id: unique in a run, and the name of its session on a cassette."""
        return f"{self.group}/{self.row}/{self.task}"


class Trace(Document):
    """Trace of an episode, stored in its sample's metadata.

    `executed` are the executed actions, inserted ones included. `infeasible` counts the actions that could not be
    executed, except proposals after which the method was asked again. `rounds` are the tokens (prompt and completion)
    of each reply, `iterations` those of each decision: of all agents, and of the one that decides alone (empty in older
    logs). `fault` is the sub-task whose mistake explains a wrong answer. `sources` and `models` are where the replies
    came from. `graph_tokens` and `cot_tokens` are estimates at four characters a token. `rooms_changed` counts the
    times that the agent entered another room; None if the world was not the
    simulator's, or the log is older than this figure. `questions` counts those to a person.
    """

    outcome: str
    reason: str
    answer: str
    executed: tuple[str, ...]
    infeasible: int
    mistakes: dict[str, int]
    steps: int
    prompt_tokens: int
    completion_tokens: int
    rounds: tuple[int, ...]
    iterations: tuple[tuple[int, int], ...] = ()
    sources: tuple[str, ...]
    models: tuple[str, ...] = ()
    seconds: float
    nodes: int
    moves: tuple[str, ...] = ()
    graph_tokens: int | None = None
    cot_tokens: int | None = None
    rooms_changed: int | None = None
    questions: int = 0
    fault: str = ""
    marks: Marks


def uses_belief(episode: EpisodePlan, recipe: Recipe) -> bool | None:
    """Return the value for `Setting.belief`; a method that plans on the real world has no belief."""
    return False if recipe.goal else episode.belief


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

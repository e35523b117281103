"""Tasks as the Embodied Agent Interface scores them: single goals, relevant objects and the human program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from pydantic import BaseModel, ConfigDict, RootModel

from scenecypher.db.condition import Condition, HasState, Id, Related
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import DocumentError
from scenecypher.importers.json_file import read_json
from scenecypher.importers.task import ActionGoal, ProgramStep
from scenecypher.importers.virtualhome import GOALS, REPAIR, chosen_tasks, package_folder, packaged_pairs, program_files
from scenecypher.importers.virtualhome_format import RELATIONS, STATES, source_id
from scenecypher.importers.virtualhome_tasks import parse_formula, parse_program, relevant_objects

CACHE_SIZE: Final = 64
"""Tasks whose graphs stay in memory, about 3 MB each; blocks of samples have fewer tasks."""


@dataclass(frozen=True, slots=True)
class TaskGoals:
    """Goals of a task: states and relations of the final graph, and actions in any order.

    An action goal is a choice of actions, in the source's order and words.
    """

    states: tuple[Condition, ...]
    relations: tuple[Condition, ...]
    actions: tuple[ActionGoal, ...]

    @property
    def graph(self) -> tuple[Condition, ...]:
        """States, then relations."""
        return self.states + self.relations


@dataclass(frozen=True, slots=True)
class TaskStart:
    """Start of a task: the scene, the relevant objects by class and number, and the human program."""

    scene: ImportedScene
    objects: Mapping[str, Mapping[int, str]]
    program: tuple[ProgramStep, ...]

    @property
    def graph(self) -> SceneGraph:
        """Graph before the first step."""
        return self.scene.graph


class _Fact(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: int | None = None
    class_name: str | None = None
    state: str | None = None
    from_id: int | None = None
    relation_type: str | None = None
    to_id: int | None = None


class GoalEntry(BaseModel):
    """Goals of a task as the source has them: choices of actions, and facts."""

    actions: list[str]
    goal: list[_Fact]


class TaskEntry(BaseModel):
    """A task as the source has it; without a goal, `tl_goal` is None."""

    vh_goal: GoalEntry
    tl_goal: str | None


class _TaskFile(RootModel[dict[str, dict[str, dict[str, TaskEntry]]]]):
    """Tasks by scene, category and task id."""


def all_task_ids() -> tuple[str, ...]:
    """Return the ids of all 342 tasks in the file's order; four have no goal. Raises InputError, DocumentError."""
    return tuple(task_entries())


def has_goal(task_id: str) -> bool:
    """Check that a task has a goal."""
    return task_entries()[task_id].tl_goal is not None


def goal_formula(task_id: str) -> str:
    """Return a task's formula in the source's notation; empty for a task without a goal, or one that is not known."""
    entry = task_entries().get(task_id)
    return (entry.tl_goal if entry else None) or ""


def count_relation_goals(task_id: str) -> int:
    """Count a task's relation goals; with two or more, the original excludes it from action sequencing."""
    return len({_key(fact) for fact in task_entries()[task_id].vh_goal.goal if fact.relation_type is not None})


@lru_cache(CACHE_SIZE)
def task_start(task_id: str) -> TaskStart:
    """Return the start of a task. Raises InputError, DocumentError."""
    pair = next(packaged_pairs(task_id))
    nodes = pair.initial.graph.nodes
    objects: dict[str, dict[int, str]] = {}
    for node_id in (one for one in relevant_objects(pair) if one in nodes):
        objects.setdefault(nodes[node_id].class_, {})[source_id(node_id)] = node_id
    text = program_files(task_id)[task_id].read_text(encoding="utf-8")
    return TaskStart(pair.initial, objects, parse_program(text)[1])


def task_goals(task_id: str, graph: SceneGraph) -> TaskGoals:
    """Return a task's goals, each once; `graph` is its initial graph. Raises InputError."""
    wanted = chosen_tasks(task_id, task_entries())[task_id].vh_goal
    ids = {source_id(node_id): node_id for node_id in graph.nodes}
    facts = list({_key(fact): fact for fact in wanted.goal}.values())
    return TaskGoals(
        states=tuple(_state(fact, ids) for fact in facts if fact.state is not None),
        relations=tuple(_relation(fact, ids) for fact in facts if fact.relation_type is not None),
        actions=tuple(dict.fromkeys(tuple(choice.lower().split("|")) for choice in wanted.actions)),
    )


def final_goal(task_id: str) -> tuple[tuple[ActionGoal, ...], Condition]:
    """Return the actions in order, and the condition that must hold at some later time. Raises DocumentError."""
    formula = task_entries()[task_id].tl_goal
    try:
        return parse_formula(formula or "")
    except ValueError as error:
        raise DocumentError(str(package_folder() / GOALS), task_id, f"{error}; {REPAIR}") from error


def _state(fact: _Fact, ids: Mapping[int, str]) -> Condition:
    return HasState(_id(fact.id, ids), STATES[str(fact.state)])


def _relation(fact: _Fact, ids: Mapping[int, str]) -> Condition:
    return Related(_id(fact.from_id, ids), RELATIONS[str(fact.relation_type)], _id(fact.to_id, ids))


def _id(number: int | None, ids: Mapping[int, str]) -> Id:
    """Return the id of a source node; for a missing node, an id that makes no condition true."""
    return Id(ids.get(-1 if number is None else number, f"missing_{number}"))


def _key(fact: _Fact) -> tuple[object, ...]:
    return (fact.id, fact.state, fact.from_id, fact.relation_type, fact.to_id)


@cache
def task_entries() -> Mapping[str, TaskEntry]:
    """Return what the source says of each task, by id. Raises InputError, DocumentError."""
    path = package_folder() / GOALS
    scenes = validated(_TaskFile, read_json(path), str(path)).root
    by_category = [tasks for categories in scenes.values() for tasks in categories.values()]
    return {task_id: task for tasks in by_category for task_id, task in tasks.items()}

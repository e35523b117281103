"""Tasks as the Embodied Agent Interface scores them: goals, objects, human program, and graphs in the first state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from pydantic import BaseModel, RootModel

from scenecypher.db.condition import Condition, HasState, Id, Related, evaluate
from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import DocumentError
from scenecypher.evaluation.result import Document
from scenecypher.importers.json_file import read_json
from scenecypher.importers.task import ActionGoal, ProgramStep
from scenecypher.importers.virtualhome import (
    GOALS,
    REPAIR,
    chosen_tasks,
    package_folder,
    packaged_pairs,
    parse_formula,
    parse_program,
    program_files,
    relevant_objects,
)
from scenecypher.importers.virtualhome_format import RELATIONS, STATES, source_id

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

    def count_met(self, graph: SceneGraph) -> dict[str, list[int]]:
        """Return of states and of relations how many hold in a graph, and how many are wanted."""
        kinds = {"states": self.states, "relations": self.relations}
        return {name: [sum(evaluate(it, graph, {}) for it in of), len(of)] for name, of in kinds.items()}


@dataclass(frozen=True, slots=True)
class TaskStart:
    """Start of a task: the graph, the relevant objects by class and number, and the human program."""

    graph: SceneGraph
    objects: Mapping[str, Mapping[int, str]]
    program: tuple[ProgramStep, ...]


class _Fact(Document):
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


def goal_formula(task_id: str) -> str:
    """Return a task's formula in the source's notation; empty for a task without a goal, or one that is not known."""
    entry = task_entries().get(task_id)
    return (entry.tl_goal if entry else None) or ""


@lru_cache(CACHE_SIZE)
def task_start(task_id: str) -> TaskStart:
    """Return the start of a task. Raises InputError, DocumentError."""
    pair = next(packaged_pairs(task_id))
    graph = pair.initial.graph
    objects: dict[str, dict[int, str]] = {}
    for node_id in (one for one in relevant_objects(pair) if one in graph):
        objects.setdefault(graph.nodes[node_id].class_, {})[source_id(node_id)] = node_id
    text = program_files(task_id)[task_id].read_text(encoding="utf-8")
    return TaskStart(graph, objects, parse_program(text)[1])


def task_goals(task_id: str, graph: SceneGraph) -> TaskGoals:
    """Return a task's goals, each once; `graph` is its initial graph. Raises InputError."""
    wanted = chosen_tasks(task_id, task_entries())[task_id].vh_goal
    ids = {source_id(node_id): node_id for node_id in graph.nodes}
    facts = dict.fromkeys(wanted.goal)
    return TaskGoals(
        states=tuple(HasState(_id(it.id, ids), STATES[it.state]) for it in facts if it.state is not None),
        relations=tuple(
            Related(_id(it.from_id, ids), RELATIONS[it.relation_type], _id(it.to_id, ids))
            for it in facts
            if it.relation_type is not None
        ),
        actions=tuple(dict.fromkeys(tuple(choice.lower().split("|")) for choice in wanted.actions)),
    )


def final_goal(task_id: str) -> tuple[tuple[ActionGoal, ...], Condition]:
    """Return the actions in order, and the condition that must hold at some later time. Raises DocumentError."""
    formula = task_entries()[task_id].tl_goal
    try:
        return parse_formula(formula or "")
    except ValueError as error:
        raise DocumentError(str(package_folder() / GOALS), task_id, f"{error}; {REPAIR}") from error


def _id(number: int | None, ids: Mapping[int, str]) -> Id:
    """Return the id of a source node; for a missing node, an id that makes no condition true."""
    return Id(ids.get(-1 if number is None else number, f"missing_{number}"))


@cache
def task_entries() -> Mapping[str, TaskEntry]:
    """Return what the source says of each task, by id. Raises InputError, DocumentError."""
    path = package_folder() / GOALS
    scenes = validated(_TaskFile, read_json(path), str(path)).root
    by_category = [tasks for categories in scenes.values() for tasks in categories.values()]
    return {task_id: task for tasks in by_category for task_id, task in tasks.items()}

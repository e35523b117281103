"""Tasks as the Embodied Agent Interface scores them: single goals, relevant objects and the human program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from scenecypher.db.condition import Condition, HasState, Id, Related
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import document_error, problems_of
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.errors import DocumentError
from scenecypher.importers.eai import GOALS, graph_files, package_folder, program_files, source_of, unknown_task
from scenecypher.importers.json_file import read_json
from scenecypher.importers.task import ActionGoal, ProgramStep
from scenecypher.importers.virtualhome import NAME_PREFIX, from_document
from scenecypher.importers.virtualhome_check import checked_graph
from scenecypher.importers.virtualhome_format import AFFORDANCES, RELATIONS, STATES, Graph, GraphNode
from scenecypher.importers.virtualhome_graph import source_id
from scenecypher.importers.virtualhome_tasks import parse_formula, parse_program

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


class _GoalEntry(BaseModel):
    actions: list[str]
    goal: list[_Fact]


class _TaskEntry(BaseModel):
    vh_goal: _GoalEntry
    tl_goal: str | None


class _TaskFile(RootModel[dict[str, dict[str, dict[str, _TaskEntry]]]]):
    """Tasks by scene, category and task id."""


def all_task_ids() -> tuple[str, ...]:
    """Return the ids of all 342 tasks in the file's order; four have no goal. Raises InputError, DocumentError."""
    return tuple(_task_entries())


def has_goal(task_id: str) -> bool:
    """Check that a task has a goal."""
    return _task_entries()[task_id].tl_goal is not None


def goal_formula(task_id: str) -> str:
    """Return a task's formula in the source's notation; empty for a task without a goal, or one that is not known."""
    entry = _task_entries().get(task_id)
    return (entry.tl_goal if entry else None) or ""


def count_relation_goals(task_id: str) -> int:
    """Count a task's relation goals; with two or more, the original excludes it from action sequencing."""
    return len({_key(fact) for fact in _task_entries()[task_id].vh_goal.goal if fact.relation_type is not None})


@lru_cache(CACHE_SIZE)
def task_start(task_id: str) -> TaskStart:
    """Return the start of a task. Raises InputError, DocumentError."""
    path = _graph_files().get(task_id)
    if path is None:
        raise unknown_task(task_id, tuple(_graph_files()))
    document = read_json(path)
    scene = from_document(document, file=source_of(path), name=NAME_PREFIX + task_id)
    final = checked_graph(document.get("final_graph"), "$.final_graph", path)
    text = _program_files()[task_id].read_text(encoding="utf-8")
    return TaskStart(scene, _by_class(scene.graph, changed_numbers(scene.graph, final)), parse_program(text)[1])


def changed_numbers(before: SceneGraph, after: Graph) -> frozenset[int]:
    """Return the source's numbers of the nodes that differ from `before`, themselves or by a relation.

    Equals `scenecypher.importers.virtualhome_tasks.relevant_objects`, without building a scene of `after`.
    """
    numbers = {node_id: source_id(node_id) for node_id in before.nodes}
    old = {(numbers[r.source], r.type, numbers[r.target]) for r in before.relations}
    new = {(edge["from_id"], RELATIONS[edge["relation_type"]], edge["to_id"]) for edge in after.edges}
    changed = {number for source, _, target in old ^ new for number in (source, target)}
    old_records, new_records = (
        {_record(node) for node in before.nodes.values()},
        {_source_record(node) for node in after.nodes},
    )
    return frozenset(changed | {record[0] for record in old_records ^ new_records})


def task_goals(task_id: str, graph: SceneGraph) -> TaskGoals:
    """Return a task's goals, each once; `graph` is its initial graph. Raises InputError."""
    if task_id not in _task_entries():
        raise unknown_task(task_id, all_task_ids())
    wanted = _task_entries()[task_id].vh_goal
    ids = {source_id(node_id): node_id for node_id in graph.nodes}
    facts = list({_key(fact): fact for fact in wanted.goal}.values())
    return TaskGoals(
        states=tuple(_state(fact, ids) for fact in facts if fact.state is not None),
        relations=tuple(_relation(fact, ids) for fact in facts if fact.relation_type is not None),
        actions=tuple(dict.fromkeys(tuple(choice.lower().split("|")) for choice in wanted.actions)),
    )


def final_goal(task_id: str) -> tuple[tuple[ActionGoal, ...], Condition]:
    """Return the actions in order, and the condition that must hold at some later time. Raises DocumentError."""
    formula = _task_entries()[task_id].tl_goal
    try:
        return parse_formula(formula or "")
    except ValueError as error:
        raise DocumentError(str(package_folder() / GOALS), task_id, f"{error}; install eai-eval again") from error


def _by_class(graph: SceneGraph, numbers: frozenset[int]) -> Mapping[str, Mapping[int, str]]:
    found: dict[str, dict[int, str]] = {}
    for node in graph.nodes.values():
        if (number := source_id(node.id)) in numbers:
            found.setdefault(node.class_, {})[number] = node.id
    return found


_Record: TypeAlias = tuple[int, str, object, frozenset[str], frozenset[str]]


def _record(node: Node) -> _Record:
    states, affordances = frozenset(node.states), frozenset(node.affordances)
    return source_id(node.id), node.class_, node.properties.get("category"), states, affordances


def _source_record(node: GraphNode) -> _Record:
    states, affordances = (STATES[word] for word in node.states), (AFFORDANCES[word] for word in node.properties)
    return node.id, node.class_name, node.category, frozenset(states), frozenset(affordances)


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
def _graph_files() -> Mapping[str, Path]:
    return graph_files()


@cache
def _program_files() -> Mapping[str, Path]:
    return program_files()


@cache
def _task_entries() -> Mapping[str, _TaskEntry]:
    path = package_folder() / GOALS
    document = read_json(path)
    try:
        scenes = _TaskFile.model_validate(document).root
    except ValidationError as error:
        raise document_error(str(path), problems_of(error, document)) from error
    by_category = [tasks for categories in scenes.values() for tasks in categories.values()]
    return {task_id: task for tasks in by_category for task_id, task in tasks.items()}

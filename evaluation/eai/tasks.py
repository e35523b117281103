"""The tasks as the Embodied Agent Interface scores them: goals one by one, the relevant objects, the human program."""

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
from scenecypher.importers.task import ActionGoal, Step
from scenecypher.importers.virtualhome import NAME_PREFIX, from_document
from scenecypher.importers.virtualhome_check import checked_graph
from scenecypher.importers.virtualhome_format import AFFORDANCES, RELATIONS, STATES, Graph, GraphNode
from scenecypher.importers.virtualhome_graph import source_id
from scenecypher.importers.virtualhome_tasks import parse_formula, parse_program

KEPT: Final = 64
"""Tasks whose graphs stay in memory, about 3 MB each; samples come in blocks of fewer."""


@dataclass(frozen=True, slots=True)
class Goals:
    """What a task asks for: states and relations of the graph at the end, and actions, of which the order is open.

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
class Situation:
    """What a task starts from: the scene, the relevant objects by class and number, a person's program."""

    scene: ImportedScene
    objects: Mapping[str, Mapping[int, str]]
    program: tuple[Step, ...]

    @property
    def graph(self) -> SceneGraph:
        """The graph before the first step."""
        return self.scene.graph


class _Fact(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: int | None = None
    class_name: str | None = None
    state: str | None = None
    from_id: int | None = None
    relation_type: str | None = None
    to_id: int | None = None


class _Wanted(BaseModel):
    actions: list[str]
    goal: list[_Fact]


class _Task(BaseModel):
    vh_goal: _Wanted
    tl_goal: str | None


class _Tasks(RootModel[dict[str, dict[str, dict[str, _Task]]]]):
    """Scene, then category, then task id."""


def all_tasks() -> tuple[str, ...]:
    """The ids of all 342 tasks, in the file's order; four of them ask for nothing. Raises InputError, DocumentError."""
    return tuple(_wanted())


def has_goal(task_id: str) -> bool:
    """Whether a task asks for anything."""
    return _wanted()[task_id].tl_goal is not None


def relation_goals(task_id: str) -> int:
    """How many relations a task asks for: with two or more the original leaves it out of action sequencing."""
    return len({_key(fact) for fact in _wanted()[task_id].vh_goal.goal if fact.relation_type is not None})


@lru_cache(KEPT)
def situation(task_id: str) -> Situation:
    """What a task starts from. Raises InputError, DocumentError."""
    path = _graph_files().get(task_id)
    if path is None:
        raise unknown_task(task_id, tuple(_graph_files()))
    document = read_json(path)
    scene = from_document(document, file=source_of(path), name=NAME_PREFIX + task_id)
    final = checked_graph(document.get("final_graph"), "$.final_graph", path)
    text = _program_files()[task_id].read_text(encoding="utf-8")
    return Situation(scene, _by_class(scene.graph, relevant(scene.graph, final)), parse_program(text)[1])


def relevant(before: SceneGraph, after: Graph) -> frozenset[int]:
    """The source's numbers of the nodes that differ from `before`, themselves or by a relation.

    As `scenecypher.importers.virtualhome_tasks.relevant_objects` has them, without making a scene of `after`.
    """
    numbers = {node_id: source_id(node_id) for node_id in before.nodes}
    old = {(numbers[r.source], r.type, numbers[r.target]) for r in before.relations}
    new = {(edge["from_id"], RELATIONS[edge["relation_type"]], edge["to_id"]) for edge in after.edges}
    changed = {number for source, _, target in old ^ new for number in (source, target)}
    were, are = {_record(node) for node in before.nodes.values()}, {_source_record(node) for node in after.nodes}
    return frozenset(changed | {record[0] for record in were ^ are})


def goals(task_id: str, graph: SceneGraph) -> Goals:
    """What a task asks for, each goal once; `graph` is the one that it starts from. Raises InputError."""
    if task_id not in _wanted():
        raise unknown_task(task_id, all_tasks())
    wanted = _wanted()[task_id].vh_goal
    ids = {source_id(node_id): node_id for node_id in graph.nodes}
    facts = list({_key(fact): fact for fact in wanted.goal}.values())
    return Goals(
        states=tuple(_state(fact, ids) for fact in facts if fact.state is not None),
        relations=tuple(_relation(fact, ids) for fact in facts if fact.relation_type is not None),
        actions=tuple(dict.fromkeys(tuple(choice.lower().split("|")) for choice in wanted.actions)),
    )


def final_goal(task_id: str) -> tuple[tuple[ActionGoal, ...], Condition]:
    """The actions in their order, and what must hold afterwards at some time. Raises DocumentError for no such goal."""
    formula = _wanted()[task_id].tl_goal
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
    """A node of the source; what the graph lacks makes no condition true."""
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
def _wanted() -> Mapping[str, _Task]:
    path = package_folder() / GOALS
    document = read_json(path)
    try:
        scenes = _Tasks.model_validate(document).root
    except ValidationError as error:
        raise document_error(str(path), problems_of(error, document)) from error
    by_category = [tasks for categories in scenes.values() for tasks in categories.values()]
    return {task_id: task for tasks in by_category for task_id, task in tasks.items()}

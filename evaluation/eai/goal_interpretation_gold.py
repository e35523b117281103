"""What goal interpretation is scored against: a task's goals, and the objects that a predicted name stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from scenecypher.importers.eai import GOALS, graph_files, package_folder, task_order
from scenecypher.importers.json_file import read_json

NodeGoal: TypeAlias = tuple[int, str]
"""An object's number and a state."""
EdgeGoal: TypeAlias = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class GoldGoals:
    """The goals of one task; an action goal is its alternatives, in upper case. `ids` are of the relevant objects."""

    nodes: frozenset[NodeGoal]
    edges: frozenset[EdgeGoal]
    actions: tuple[frozenset[str], ...]
    ids: Mapping[str, int]


def goal_task_ids() -> tuple[str, ...]:
    """All 342 tasks with an output, in the order of their numbers: four of them have no goal at all."""
    return tuple(sorted(_goals(), key=task_order))


@cache
def gold_goals(task_id: str) -> GoldGoals:
    """The goals of one task. Raises InputError where `eai-eval` is not installed."""
    found = _goals()[task_id]
    facts = found["goal"]
    actions = sorted(set(found["actions"]))
    return GoldGoals(
        nodes=frozenset((fact["id"], fact["state"]) for fact in facts if "state" in fact),
        edges=frozenset((fact["from_id"], fact["relation_type"], fact["to_id"]) for fact in facts if "to_id" in fact),
        actions=tuple(frozenset(action.upper().split("|")) for action in actions),
        ids=relevant_ids(task_id),
    )


@cache
def relevant_ids(task_id: str) -> Mapping[str, int]:
    """By class: the object that the name stands for, of those that differ between initial and final graph.

    Where there are several, the one with the highest number: the original takes any, by the order of a set.
    """
    pair = read_json(graph_files(task_id)[task_id])
    before, after = pair["init_graph"], pair["final_graph"]
    changed = {node[0] for node in set(_nodes(before)) ^ set(_nodes(after))}
    for edge in set(_edges(before)) ^ set(_edges(after)):
        changed |= {edge[0], edge[2]}
    return {name: number for number, name, *_ in sorted(_nodes(before)) if number in changed}


@cache
def _goals() -> Mapping[str, Mapping[str, Sequence[Any]]]:
    document = read_json(package_folder() / GOALS)
    return {
        task_id: goal["vh_goal"]
        for categories in document.values()
        for tasks in categories.values()
        for task_id, goal in tasks.items()
    }


def _nodes(graph: Mapping[str, Any]) -> Iterator[tuple[int, str, str, tuple[str, ...], tuple[str, ...]]]:
    for node in graph["nodes"]:
        properties, states = tuple(sorted(node["properties"])), tuple(sorted(node["states"]))
        yield node["id"], node["class_name"], node["category"], properties, states


def _edges(graph: Mapping[str, Any]) -> Iterator[EdgeGoal]:
    for edge in graph["edges"]:
        yield edge["from_id"], edge["relation_type"], edge["to_id"]

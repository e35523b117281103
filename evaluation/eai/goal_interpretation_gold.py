"""Gold data of goal interpretation: a task's goals, and the objects that predicted names refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from scenecypher.importers.eai import GOALS, graph_files, package_folder, task_order
from scenecypher.importers.json_file import read_json

NodeGoal: TypeAlias = tuple[int, str]
"""Number of an object, and a state."""
EdgeGoal: TypeAlias = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class GoldGoals:
    """Goals of one task; an action goal is the set of its upper-case alternatives; `ids` are the relevant objects."""

    nodes: frozenset[NodeGoal]
    edges: frozenset[EdgeGoal]
    actions: tuple[frozenset[str], ...]
    ids: Mapping[str, int]


def goal_task_ids() -> tuple[str, ...]:
    """Return all 342 tasks with an output, by number; four of them have no goal."""
    return tuple(sorted(_goals(), key=task_order))


@cache
def gold_goals(task_id: str) -> GoldGoals:
    """Return the goals of one task. Raises InputError if `eai-eval` is not installed."""
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
    """Return, by class, the object that the name refers to among those that differ between initial and final graph.

    If there are several, it is the one with the highest number; the original's choice depends on the order of a set.
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

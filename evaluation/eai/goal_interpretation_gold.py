"""Gold data of goal interpretation: a task's goals, and the objects that predicted names refer to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from scenecypher.evaluation.eai.tasks import task_entries, task_start
from scenecypher.importers.virtualhome import task_order


@dataclass(frozen=True, slots=True)
class GoldGoals:
    """Goals of one task: object and state, or object, relation and object, by numbers; `ids` are the relevant objects.

    An action goal is the set of its upper-case alternatives.
    """

    nodes: frozenset[tuple[Any, ...]]
    edges: frozenset[tuple[Any, ...]]
    actions: tuple[frozenset[str], ...]
    ids: Mapping[str, int]


def goal_task_ids() -> tuple[str, ...]:
    """Return all 342 tasks with an output, by number; four of them have no goal."""
    return tuple(sorted(task_entries(), key=task_order))


@cache
def gold_goals(task_id: str) -> GoldGoals:
    """Return the goals of one task. Raises InputError, ServiceError without `eai-eval`.

    Of several relevant objects of a class, its name means the one with the highest number; the original's choice
    depends on the order of a set.
    """
    found = task_entries()[task_id].vh_goal
    return GoldGoals(
        nodes=frozenset((fact.id, fact.state) for fact in found.goal if fact.state is not None),
        edges=frozenset((it.from_id, it.relation_type, it.to_id) for it in found.goal if it.to_id is not None),
        actions=tuple(frozenset(action.upper().split("|")) for action in sorted(set(found.actions))),
        ids={name: max(numbers) for name, numbers in task_start(task_id).objects.items()},
    )

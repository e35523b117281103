"""Reference plans: for each task of the GraSIF form the shortest known plan that reaches its goal, as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Final

from scenecypher.errors import InputError

FILE: Final = files("scenecypher.importers") / "data" / "reference_plans.jsonl"
"""One line a task: its id and its actions. `python -m scenecypher.planner.symbolic.reference` finds the plans."""


def reference_plans() -> Mapping[str, tuple[str, ...]]:
    """Return the actions of each plan by task id, such as ``behavior-1k/raking_leaves``."""
    return dict(_read(FILE.read_text(encoding="utf-8").splitlines()))


def reference_plan(task_id: str) -> tuple[str, ...]:
    """Return the actions for one task. Raises InputError if no plan is known."""
    plans = reference_plans()
    if task_id not in plans:
        msg = f"no reference plan is known for {task_id[:60]!r}: `scenecypher tasks list` shows which tasks there are"
        raise InputError(msg)
    return plans[task_id]


def as_lines(plans: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield the plans as lines of the file."""
    for task_id, actions in plans.items():
        yield json.dumps({"task": task_id, "plan": actions}, ensure_ascii=False) + "\n"


def _read(lines: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for line in lines:
        row = json.loads(line)
        yield row["task"], tuple(row["plan"])

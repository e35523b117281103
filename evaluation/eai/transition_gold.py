"""Gold data of transition modelling: the domain, and each task's problem, actions and categories."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from scenecypher.errors import InputError
from scenecypher.evaluation.eai.transition_text import PddlAction
from scenecypher.importers.json_file import read_json
from scenecypher.importers.virtualhome import REPAIR, package_folder, task_order

RESOURCES: Final = Path("resources/virtualhome")


@cache
def transition_task_ids() -> tuple[str, ...]:
    """Return the 296 tasks that have a PDDL problem, by number. Raises InputError, ServiceError without `eai-eval`."""
    return tuple(sorted(_read("success_task.json"), key=task_order))


@cache
def gold_actions() -> Mapping[str, PddlAction]:
    """Return the actions of the gold domain by name."""
    return {
        name: PddlAction(name, action["action_parameters"], action["action_preconditions"], action["action_effects"])
        for name, action in _read("gold_action.json").items()
    }


def asked_actions(task_id: str) -> tuple[str, ...]:
    """Return the actions that a model must define for a task."""
    return tuple(_read("id2action.json")[task_id])


def categories_of(task_id: str) -> tuple[str, ...]:
    """Return the categories that a task counts in when it is planned."""
    return tuple(_read("id2category_2.json")[task_id])


@cache
def category_of_predicate() -> Mapping[str, str]:
    """Return the category of each predicate of the domain."""
    found: Mapping[str, str] = _read("predicates_category.json")
    return found


@cache
def problem(task_id: str) -> str:
    """Return the task's PDDL problem."""
    name = "_".join(_read("id2task.json")[task_id].split())
    return (package_folder() / RESOURCES / "problem_pddl" / name / f"{task_id}.pddl").read_text(encoding="utf-8")


@cache
def domain_head() -> str:
    """Return the domain's types and predicates, without the closing bracket."""
    return (package_folder() / RESOURCES / "virtualhome_pd.pddl").read_text(encoding="utf-8")


@cache
def _read(name: str) -> Any:
    path = package_folder() / RESOURCES / name
    if not path.is_file():
        raise InputError(f"{name} is missing in the installed data: {REPAIR}")
    return read_json(path)

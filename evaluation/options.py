"""What an experiment's options choose: which of its parts, and which of their tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar

from scenecypher.errors import InputError, did_you_mean
from scenecypher.evaluation.assignments import is_ground_goal
from scenecypher.evaluation.episode import Wording
from scenecypher.importers.task import Task

T = TypeVar("T")
Names: TypeAlias = str | Sequence[str]
"""Names with commas between them, or a list: Inspect's command line makes a list of what has commas in it."""


def take(items: Iterable[T], limit: int) -> list[T]:
    """The first so many, all where the limit is 0."""
    return list(islice(items, limit or None))


def keep_readable(tasks: Iterable[Task], wording: Wording) -> Iterable[Task]:
    """Worded by their goals, only tasks whose goals say of single nodes where and how they are."""
    return (task for task in tasks if is_ground_goal(task.goal)) if wording == "goal" else tasks


def split_names(names: Names) -> list[str]:
    """The single names."""
    words = names.split(",") if isinstance(names, str) else map(str, names)
    return [word.strip() for word in words if word.strip()]


def select_names(what: str, names: Names, known: Sequence[str]) -> tuple[str, ...]:
    """The `names`, or all. Raises InputError for one that is none of `known`, and for none at all."""
    if names == "all":
        return tuple(known)
    words = tuple(split_names(names)) or ("",)
    for name in words:
        if name not in known:
            hint = did_you_mean(name[:60], (*known, "all")) or f"; choose all or some of {', '.join(known)}"
            raise InputError(f"{name[:60]!r} is no {what}{hint}")
    return words

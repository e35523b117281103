"""What an experiment's options choose: which of its parts, and which of their tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeVar

from evaluation.book import is_plain
from evaluation.episode import Wording
from importers.task import Task
from scenecypher.errors import InputError, did_you_mean

T = TypeVar("T")


def first(items: Iterable[T], limit: int) -> list[T]:
    """The first so many, all where the limit is 0."""
    return list(islice(items, limit or None))


def readable(tasks: Iterable[Task], wording: Wording) -> Iterable[Task]:
    """Worded by their goals, only tasks whose goals say of single nodes where and how they are."""
    return (task for task in tasks if is_plain(task.goal)) if wording == "goal" else tasks


def chosen(what: str, word: str, known: Sequence[str]) -> tuple[str, ...]:
    """The names in `word`, with commas between them, or all. Raises InputError for one that is none of `known`."""
    if word == "all":
        return tuple(known)
    names = tuple(name.strip() for name in word.split(","))
    for name in names:
        if name not in known:
            hint = did_you_mean(name[:60], (*known, "all")) or f"; choose all or some of {', '.join(known)}"
            raise InputError(f"{name[:60]!r} is no {what}{hint}")
    return names

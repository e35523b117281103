"""Two offices of our own in GraSIF's form, as large as SayPlan's and that of LookPlanGraph's trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import as_file, files
from typing import Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.grasif import NAME_PREFIX, read_file
from scenecypher.importers.task import Task

SUBSETS: Final[Mapping[str, str]] = {"sayplan-office": "sayplan_office.json", "our-office": "our_office.json"}
"""The offices and their files in the package. Their tasks' ids are a category and a number."""


def scene_name(subset: str) -> str:
    """Return the name of an office's scene."""
    return NAME_PREFIX + subset


def scene(subset: str) -> ImportedScene:
    """Return the one scene of an office."""
    return _read(subset)[0]


def scenes(only: str | None, subset: str) -> Iterator[ImportedScene]:
    """Yield the one scene of an office, also for the id of a task. Raises InputError for an unknown id."""
    if only is None or any(tasks(only, subset)):
        yield scene(subset)


def tasks(only: str | None, subset: str) -> Iterator[Task]:
    """Return the tasks in the order of the file, or the one with the id `only`. Raises InputError for an unknown id."""
    found = {task.id: task for task in _read(subset)[1]}
    if only is not None and only not in found:
        hint = did_you_mean(only[:60], tuple(found)) or f"; ids look like {next(iter(found))}"
        msg = f"no task {only[:60]!r} among the {len(found)} of {subset}{hint}"
        raise InputError(msg)
    return iter(found.values() if only is None else [found[only]])


def _read(subset: str) -> tuple[ImportedScene, tuple[Task, ...]]:
    with as_file(files("scenecypher.importers") / "data" / SUBSETS[subset]) as path:
        read, found = read_file(path, name=scene_name(subset))
    source = f"scenecypher's {subset}"
    return replace(read, source=source), tuple(
        replace(task, source=source, category=task.id.rpartition("-")[0]) for task in found
    )

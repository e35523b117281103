"""Homes in VirtualHome's form: folders with a graph and tasks as desired states; two of ours, or the user's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.home_tasks import read_tasks
from scenecypher.importers.task import Task
from scenecypher.importers.virtualhome import read_graph

NAME_PREFIX: Final = "homes/"
VOCABULARY: Final = "virtualhome_ext"
"""VirtualHome's vocabulary with effects of appliances, which goals such as ``breadslice HEATED`` need."""

GRAPH: Final = "graph.json"
TASKS: Final = "tasks.json"
"""The files of a folder. The second may be missing: the home then has no tasks."""

OURS: Final = ("apartment", "cottage")
"""Our homes: 115 nodes each, and the same ten tasks."""


def scene_name(folder: Path) -> str:
    """Return the name of a folder's scene."""
    return NAME_PREFIX + folder.name


def read_home(folder: Path, *, source: str | None = None) -> tuple[ImportedScene, tuple[Task, ...]]:
    """Return a folder's scene and tasks. Raises DocumentError with all problems of the first file that has any."""
    read = read_graph(folder / GRAPH, name=scene_name(folder), source=source)
    scene = replace(read, vocabulary=VOCABULARY)
    tasks = folder / TASKS
    return scene, read_tasks(tasks, scene) if tasks.exists() else ()


def read_scene(folder: Path) -> ImportedScene:
    """Return a folder's scene alone. Raises DocumentError with all its problems."""
    return read_home(folder)[0]


def folders(path: Path) -> tuple[Path, ...]:
    """Return `path` if it is a home, else the homes in it, by name. Raises InputError if there is none."""
    found = (path,) if (path / GRAPH).is_file() else tuple(sorted(file.parent for file in path.glob(f"*/{GRAPH}")))
    if not found:
        msg = f"no home is at {path}: it, or folders in it, must hold {GRAPH}, and {TASKS} beside it; check the path"
        raise InputError(msg)
    return found


def our_home(name: str) -> tuple[ImportedScene, tuple[Task, ...]]:
    """Return the scene of one of OURS and its tasks."""
    with ExitStack() as stack:
        folder = stack.enter_context(as_file(files("scenecypher.importers") / "data" / "homes" / name))
        return read_home(folder, source=f"scenecypher's {name}")


def scenes(only: str | None = None) -> Iterator[ImportedScene]:
    """Yield our homes, or the home of the task `only`, such as ``cottage/watch_tv``. Raises InputError."""
    if only is None:
        yield from (our_home(name)[0] for name in OURS)
    for task in tasks(only) if only is not None else ():
        yield our_home(task.scene.removeprefix(NAME_PREFIX))[0]


def tasks(only: str | None = None) -> Iterator[Task]:
    """Yield our homes' tasks, or the one with the id `only`. Raises InputError for an unknown id."""
    found = {f"{name}/{task.id}": task for name in OURS for task in our_home(name)[1]}
    if only is not None and only not in found:
        hint = did_you_mean(only[:60], tuple(found)) or "; ids look like cottage/watch_tv"
        msg = f"no task {only[:60]!r} among the {len(found)} in our homes{hint}"
        raise InputError(msg)
    for id_ in found if only is None else (only,):
        yield replace(found[id_], id=id_)

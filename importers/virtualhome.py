"""VirtualHome environment graphs, from any file and from the `eai-eval` package, as scenes, and back again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from db.imported import ImportedScene
from importers.eai import graph_files, source_of
from importers.json_file import read_json, refusal
from importers.virtualhome_check import checked_graph
from importers.virtualhome_graph import declared_by, document_of, scene_graph
from scenecypher.errors import DocumentError

Part: TypeAlias = Literal["initial", "final"]
PARTS: Final[tuple[Part, ...]] = ("initial", "final")

NAME_PREFIX: Final = "virtualhome/"
FINAL_SUFFIX: Final = "@final"
_TASK_FILE: Final = re.compile(r"file(\d+_\d+)")


@dataclass(frozen=True, slots=True)
class PackagedPair:
    """A recorded program of the package: the home before and after it."""

    task_id: str
    initial: ImportedScene
    final: ImportedScene


def read_graph(
    path: Path, *, name: str | None = None, part: Part = "initial", source: str | None = None
) -> ImportedScene:
    """The scene of a file: a bare graph, a pair of initial and final graph, or a program's list of states.

    Without a name it is called after the file: ``file963_2.json`` gives ``virtualhome/963_2``, its final graph
    ``virtualhome/963_2@final``. Raises DocumentError with all problems of that graph.
    """
    return _scene(read_json(path), path, name=name or scene_name(path), part=part, source=source or str(path))


def packaged(only: str | None = None) -> Iterator[PackagedPair]:
    """The pairs of graphs in `eai-eval`, in the order of their ids, or that of the one task `only`.

    Raises InputError where the package is missing or has no such task.
    """
    for task_id, path in graph_files(only).items():
        document, name, source = read_json(path), NAME_PREFIX + task_id, source_of(path)
        initial, final = (_scene(document, path, name=name, part=part, source=source) for part in PARTS)
        yield PackagedPair(task_id, initial, final)


def packaged_scene(task_id: str, *, part: Part = "initial") -> ImportedScene:
    """One graph of `eai-eval`. Raises InputError where the package is missing or has no such task."""
    path = graph_files(task_id)[task_id]
    return read_graph(path, name=NAME_PREFIX + task_id, part=part, source=source_of(path))


def scene_name(path: Path, *, within: Path | None = None) -> str:
    """What a file's scene is called; `within` is the folder from which its name counts, else the file's own."""
    folder = path.parent.relative_to(within) if within else Path()
    task = _TASK_FILE.fullmatch(path.stem)
    return NAME_PREFIX + (folder / (task[1] if task else path.stem)).as_posix()


def part_name(name: str, part: Part) -> str:
    """What the scene `name` is called when it is the graph after the program."""
    return name if part == "initial" else name + FINAL_SUFFIX


def to_document(scene: ImportedScene) -> dict[str, Any]:
    """The environment graph that a scene came from: exact but for order, and null where a key was absent.

    Raises InvalidValue for what VirtualHome has no word for.
    """
    return document_of(scene.graph)


def _scene(document: Any, path: Path, *, name: str, part: Part, source: str) -> ImportedScene:
    root, raw = _graph_in(document, path, part)
    graph, problems = scene_graph(checked_graph(raw, root, path))
    if problems:
        raise refusal(path, [(root + place, cause) for place, cause in problems])
    return ImportedScene(
        name=part_name(name, part),
        graph=graph,
        vocabulary="virtualhome",
        declared=declared_by(graph),
        source=f"{source}, {part} graph" if root != "$" else source,
    )


def _graph_in(document: Any, path: Path, part: Part) -> tuple[str, Any]:
    """The graph, and where it stands, in each of the forms that files have."""
    match part, document:
        case "initial", {"init_graph": graph}:
            return "$.init_graph", graph
        case "final", {"final_graph": graph}:
            return "$.final_graph", graph
        case "initial", {"graph_state_list": [graph, *_]}:
            return "$.graph_state_list[0]", graph
        case "final", {"graph_state_list": [*before, graph]}:
            return f"$.graph_state_list[{len(before)}]", graph
        case "initial", {"nodes": _} | {"edges": _}:
            return "$", document
    wanted = "'nodes' and 'edges', or 'init_graph'" if part == "initial" else "'final_graph'"
    raise DocumentError(str(path), "$", f"no VirtualHome graph here: it needs {wanted}, or a 'graph_state_list'")

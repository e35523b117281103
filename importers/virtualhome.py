"""VirtualHome environment graphs, from any file and from the `eai-eval` package: import and export."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import DocumentError
from scenecypher.importers.assembly import declared_by
from scenecypher.importers.eai import graph_files, source_of
from scenecypher.importers.json_file import JsonLine, read_json
from scenecypher.importers.virtualhome_format import document_of, graph_from_source

GraphPart: TypeAlias = Literal["initial", "final"]
PARTS: Final[tuple[GraphPart, ...]] = ("initial", "final")

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
    path: Path,
    *,
    name: str | None = None,
    part: GraphPart = "initial",
    source: str | None = None,
    line: JsonLine | None = None,
) -> ImportedScene:
    """Return the scene of a file or of a line of it: a bare graph, a pair (initial, final), or a list of states.

    The default name comes from the file: ``file963_2.json`` gives ``virtualhome/963_2``, its final graph
    ``virtualhome/963_2@final``. Raises DocumentError with all problems of that graph.
    """
    file = str(path) if line is None else f"{path}:{line.number}"
    return _scene(read_json(path, line=line), file, part, name=name or scene_name(path), source=source or file)


def from_document(document: object, *, file: str, name: str) -> ImportedScene:
    """Return the scene of an environment graph, or of a pair's initial one. Raises DocumentError with all problems."""
    return _scene(document, file, "initial", name=name, source=file)


def packaged_pairs(only: str | None = None) -> Iterator[PackagedPair]:
    """Yield the pairs of graphs in `eai-eval` in the order of their ids, or the one of the task `only`.

    Raises InputError if the package is missing or has no such task.
    """
    for task_id, path in graph_files(only).items():
        document, name, source = read_json(path), NAME_PREFIX + task_id, source_of(path)
        yield PackagedPair(task_id, *(_scene(document, str(path), part, name=name, source=source) for part in PARTS))


def packaged_scene(task_id: str, *, part: GraphPart = "initial") -> ImportedScene:
    """Return one graph of `eai-eval`. Raises InputError if the package is missing or has no such task."""
    path = graph_files(task_id)[task_id]
    return read_graph(path, name=NAME_PREFIX + task_id, part=part, source=source_of(path))


def scene_name(path: Path, *, within: Path | None = None) -> str:
    """Return the name of a file's scene; `within` is the folder that its name is relative to, by default its own."""
    folder = path.parent.relative_to(within) if within else Path()
    task = _TASK_FILE.fullmatch(path.stem)
    return NAME_PREFIX + (folder / (task[1] if task else path.stem)).as_posix()


def part_name(name: str, part: GraphPart) -> str:
    """Return the name of the scene `name`, with a suffix for the graph after the program."""
    return name if part == "initial" else name + FINAL_SUFFIX


def to_document(scene: ImportedScene) -> dict[str, Any]:
    """Return the environment graph that a scene came from: exact but for order and absent keys, which are null.

    Raises InvalidValue for content that VirtualHome has no word for.
    """
    return document_of(scene.graph)


def _scene(document: Any, file: str, part: GraphPart, *, name: str, source: str) -> ImportedScene:
    root, raw = _graph_in(document, file, part)
    graph = graph_from_source(raw, root, file)
    whole = source if root == "$" else f"{source}, {part} graph"
    return ImportedScene(part_name(name, part), graph, "virtualhome", declared=declared_by(graph), source=whole)


def _graph_in(document: Any, file: str, part: GraphPart) -> tuple[str, Any]:
    """Return the graph and its JSON path, for each of the forms of files."""
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
    raise DocumentError(file, "$", f"no VirtualHome graph here: it needs {wanted}, or a 'graph_state_list'")

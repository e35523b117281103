"""VirtualHome environment graphs, from any file and from the `eai-eval` package, as scenes, and back again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import document_error
from scenecypher.errors import DocumentError
from scenecypher.importers.eai import graph_files, source_of
from scenecypher.importers.json_file import read_json
from scenecypher.importers.virtualhome_check import checked_graph
from scenecypher.importers.virtualhome_format import Graph
from scenecypher.importers.virtualhome_graph import declared_by, document_of, scene_graph

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
    form = _form(read_json(path), path, part)
    return _scene(form, path, name=name or scene_name(path), source=source or str(path))


def from_document(document: object, *, file: str, name: str) -> ImportedScene:
    """The scene of an environment graph, or of the initial one of a pair. Raises DocumentError with all problems."""
    return _scene(_form(document, Path(file), "initial"), Path(file), name=name, source=file)


def packaged(only: str | None = None) -> Iterator[PackagedPair]:
    """The pairs of graphs in `eai-eval`, in the order of their ids, or that of the one task `only`.

    Raises InputError where the package is missing or has no such task.
    """
    for task_id, path in graph_files(only).items():
        document, name, source = read_json(path), NAME_PREFIX + task_id, source_of(path)
        initial, final = (_scene(_form(document, path, part), path, name=name, source=source) for part in PARTS)
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


@dataclass(frozen=True, slots=True)
class _Form:
    """A graph that has VirtualHome's form, with its part and place in the file; the file's own text is gone by now."""

    graph: Graph
    part: Part
    root: str


def _form(document: Any, path: Path, part: Part) -> _Form:
    root, raw = _graph_in(document, path, part)
    return _Form(checked_graph(raw, root, path), part, root)


def _scene(form: _Form, path: Path, *, name: str, source: str) -> ImportedScene:
    graph, problems = scene_graph(form.graph)
    if problems:
        raise document_error(str(path), [(form.root + place, cause) for place, cause in problems])
    return ImportedScene(
        name=part_name(name, form.part),
        graph=graph,
        vocabulary="virtualhome",
        declared=declared_by(graph),
        source=source if form.root == "$" else f"{source}, {form.part} graph",
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

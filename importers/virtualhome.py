"""VirtualHome environment graphs, of any file and of `eai-eval`, installed or fetched: import and export."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, TypeAlias, TypeVar
from zipfile import ZipFile

from platformdirs import user_cache_path

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import DocumentError
from scenecypher.importers.assembly import declared_by
from scenecypher.importers.json_file import JsonLine, read_json
from scenecypher.importers.published_file import PublishedFile
from scenecypher.importers.task import chosen
from scenecypher.importers.virtualhome_format import document_of, graph_from_source
from scenecypher.waiting import waiting_for

T = TypeVar("T")
PACKAGE: Final = "virtualhome_eval"
"""The package of `eai-eval` that has the data."""
WHEEL: Final = PublishedFile(
    "eai-eval==1.0.5",
    "eai_eval-1.0.5-py3-none-any.whl",
    "fe09f2a84cfb2451e111d02a2fa57e18797e747b73de23cb036d0d4e6502099f",
    "VirtualHome's recorded homes (27 MB, and 400 MB unpacked)",
    "connect to the network and repeat the command, or give a PATH",
)
REPAIR: Final = "install eai-eval 1.0.5 again, or uninstall it, so that its data is fetched"
DATASET: Final = Path("dataset/programs_processed_precond_nograb_morepreconds")
GOALS: Final = Path("resources/virtualhome/task_state_LTL_formula_accurate.json")
_TASK_ID: Final = re.compile(r"\d+_\d+")
GraphPart: TypeAlias = Literal["initial", "final"]
PARTS: Final[tuple[GraphPart, ...]] = ("initial", "final")
NAME_PREFIX: Final = "virtualhome/"
FINAL_SUFFIX: Final = "@final"
_TASK_FILE: Final = re.compile(r"file(\d+_\d+)")


def package_folder() -> Path:
    """Return the folder of `virtualhome_eval`, fetched on first use. Raises InputError, ServiceError without it."""
    spec = find_spec(PACKAGE)
    for folder in map(Path, spec.submodule_search_locations or () if spec else ()):
        if (folder / DATASET).is_dir():
            return folder
    return _fetched(user_cache_path("scenecypher") / "eai-eval-1.0.5")


def _fetched(kept: Path) -> Path:
    """Return the data in the folder `kept`: an unpacked wheel is moved there whole, and the wheel itself let go."""
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with waiting_for(WHEEL.holds), TemporaryDirectory(dir=kept.parent) as draft:
            # pip tells what it downloads, and the command line what is waited for.
            with ZipFile(WHEEL.fetch(Path(draft), tell=lambda _: None)) as archive:
                data = (name for name in archive.namelist() if name.startswith(PACKAGE) and not name.endswith(".py"))
                archive.extractall(Path(draft) / "data", data)
            if not kept.is_dir():  # else another process was faster
                (Path(draft) / "data").replace(kept)
    return kept / PACKAGE


def package_name() -> str:
    """Return name and version of the package, for a scene's `source`."""
    try:
        return f"eai-eval {version('eai-eval')}"
    except PackageNotFoundError:
        return WHEEL.requirement.replace("==", " ")


def graph_files(only: str | None = None) -> Mapping[str, Path]:
    """Return the files of graph pairs by task id, ordered by id. Raises InputError for an unknown `only`."""
    return _by_task(DATASET / "init_and_final_graphs", ".json", only)


def program_files(only: str | None = None) -> Mapping[str, Path]:
    """Return the recorded human programs by task id, ordered by id. Raises InputError for an unknown `only`."""
    return _by_task(DATASET / "executable_programs", ".txt", only)


def source_of(path: Path) -> str:
    """Return the `source` of a scene: package, version and file name, without the folder on this machine."""
    return f"{package_name()}, {path.name}"


def task_order(task_id: str) -> tuple[int, ...]:
    """Return the sort key of a task id: its numbers."""
    return tuple(int(number) for number in task_id.split("_"))


def chosen_tasks(only: str | None, known: Mapping[str, T]) -> Mapping[str, T]:
    """Return what is known of all tasks, or of `only`. Raises InputError."""
    return chosen(only, known, "VirtualHome task", where=f"of {package_name()}", like="ids look like 963_2")


def _by_task(folder: Path, suffix: str, only: str | None) -> Mapping[str, Path]:
    found = {path.stem.removeprefix("file"): path for path in (package_folder() / folder).rglob(f"file*{suffix}")}
    ids = sorted(filter(_TASK_ID.fullmatch, found), key=task_order)
    return chosen_tasks(only, {task_id: found[task_id] for task_id in ids})


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

"""VirtualHome's graphs, of any file and of `eai-eval`, installed or fetched, and its 338 tasks: import and export."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, TypeAlias, TypeVar
from zipfile import ZipFile

from platformdirs import user_cache_path
from pydantic import BaseModel, RootModel

from scenecypher.db.condition import And, Condition, HasState, Id, Related
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.graph.value import shown
from scenecypher.errors import DocumentError
from scenecypher.importers import virtualhome_format as source_form
from scenecypher.importers.assembly import declared_by
from scenecypher.importers.json_file import JsonLine, read_json
from scenecypher.importers.published_file import PublishedFile
from scenecypher.importers.task import ActionGoal, ProgramStep, Task, chosen
from scenecypher.importers.word_tables import by_word
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
PREDICATES: Final = by_word(source_form.WORDS["predicates"])
"""The goal formulas' words for relations; a predicate with one argument is a state, named as in the graphs."""

MIN_BUDGET: Final = 20
"""The least budget of an episode, in actions; twice a program's length if that is more."""

_ATOM: Final = re.compile(r"([A-Z_]+)\(([^()]*)\)")
_OBJECT: Final = re.compile(r"([^\s.,]+)\.(\d+)")
_AND: Final = re.compile(r"[()\s]|\band\b")
_OR: Final = re.compile(r"[()\s]|\bor\b|\bexists x\d+\.")


class _Goal(BaseModel):
    tl_goal: str | None


class _Goals(RootModel[dict[str, dict[str, dict[str, _Goal]]]]):
    """Task ids in categories in scenes."""


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
    scene = _scene(document, file, "initial", name=name, source=file)
    states = document.get("graph_state_list", ()) if isinstance(document, dict) else ()
    if len(states) < 2 and not (isinstance(document, dict) and "final_graph" in document):
        return scene
    note = f"the initial graph is read; `scenecypher import virtualhome {file} --final` brings the last too"
    return replace(scene, notes=(*scene.notes, note))


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
    return source_form.document_of(scene.graph)


def _scene(document: Any, file: str, part: GraphPart, *, name: str, source: str) -> ImportedScene:
    root, raw = _graph_in(document, file, part)
    graph = source_form.graph_from_source(raw, root, file)
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


# --- the tasks of the Embodied Agent Interface: instruction, goal and recorded program


def scenes(only: str | None = None) -> Iterator[ImportedScene]:
    """Return the initial graphs of `eai-eval` in the order of their tasks' ids, or the one of `only`."""
    return (packaged_scene(task_id) for task_id in graph_files(only))


def final_graph(task_id: str) -> SceneGraph:
    """Return the graph after a task's recorded program. Raises InputError."""
    return packaged_scene(task_id, part="final").graph


def tasks(only: str | None = None) -> Iterator[Task]:
    """Yield the tasks in the order of their ids, or the one with the id `only`; their scenes are the initial graphs.

    The package lists four more ids, which have no goal. Raises InputError if it is missing or has no such task,
    DocumentError if its content is not as expected.
    """
    goals = _goals(package_folder() / GOALS)
    programs = program_files()
    for task_id in sorted(chosen_tasks(only, goals), key=task_order):
        if task_id not in programs:
            raise DocumentError(str(package_folder()), f"task {task_id}", "has a goal but no program; install it again")
        category, formula = goals[task_id]
        yield _task(task_id, category, formula=formula, program=programs[task_id])


def relevant_objects(pair: PackagedPair) -> tuple[str, ...]:
    """Return the ids, by ascending number, of the nodes whose values or relations differ between the graphs."""
    before, after = pair.initial.graph, pair.final.graph
    changed = {node_id_ for node_id_ in before.nodes if before.nodes[node_id_] != after.nodes.get(node_id_)}
    changed |= after.nodes.keys() - before.nodes.keys()
    for relation in before.relations ^ after.relations:
        changed |= {relation.source, relation.target}
    return tuple(sorted(changed, key=source_form.source_id))


def parse_formula(text: str) -> tuple[tuple[ActionGoal, ...], Condition]:
    """Return the action goals in their order and the graph goal of a formula ``(… then … then (… and …))``.

    Raises ValueError for any other form.
    """
    actions: list[ActionGoal] = []
    conditions: list[Condition] = []
    for part in text.split(" then "):
        atoms = _ATOM.findall(part)
        ground = all(_OBJECT.search(arguments) for _, arguments in atoms)
        left = (_AND if ground else _OR).sub("", _ATOM.sub("", part))
        if left or not atoms or (conditions and not ground):
            msg = f"{shown(part)} is neither a choice of actions nor a conjunction of facts that ends the formula"
            raise ValueError(msg)
        if ground:
            conditions += [_fact(predicate, arguments) for predicate, arguments in atoms]
        else:
            actions.append(tuple(predicate.lower() for predicate, _ in atoms))
    return tuple(actions), And(tuple(dict.fromkeys(conditions)))


def parse_program(text: str) -> tuple[str, tuple[ProgramStep, ...]]:
    """Return description and steps of a recorded program. Raises ValueError for a line of another form."""
    _, description, *lines = text.splitlines()
    return description.strip(), tuple(source_form.parse_step(line) for line in lines if line.strip())


def _goals(path: Path) -> Mapping[str, tuple[str, str]]:
    """Return category and formula of each task that has a goal."""
    document = read_json(path)
    scenes = validated(_Goals, document, str(path)).root
    return {
        task_id: (category, goal.tl_goal)
        for categories in scenes.values()
        for category, goals in categories.items()
        for task_id, goal in goals.items()
        if goal.tl_goal is not None
    }


def _task(task_id: str, category: str, *, formula: str, program: Path) -> Task:
    try:
        description, steps = parse_program(program.read_text(encoding="utf-8"))
        action_goals, goal = parse_formula(formula)
    except ValueError as error:
        raise DocumentError(str(program), f"task {task_id}", str(error)) from error
    return Task(
        id=task_id,
        instruction=description or category,
        scene=NAME_PREFIX + task_id,
        goal=goal,
        action_goals=action_goals,
        budget=max(MIN_BUDGET, 2 * len(steps)),
        source=f"{package_name()}, {category}",
        category=category,
        formula=formula,
        program=steps,
    )


def _fact(predicate: str, arguments: str) -> Condition:
    match [Id(source_form.node_id(name, int(number))) for name, number in _OBJECT.findall(arguments)]:
        case [x] if predicate in source_form.STATES:
            return HasState(x, source_form.STATES[predicate])
        case [x, y] if predicate in PREDICATES:
            return Related(x, PREDICATES[predicate], y)
    raise ValueError(f"{shown(f'{predicate}({arguments})')} is no state or relation of VirtualHome")

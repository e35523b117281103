"""`scenecypher tasks`: list, show and check the tasks of the data sets or of a file, and write them as PDDL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenecypher.cli.context import open_database, open_store, print_json, say, show, warn
from scenecypher.cli.options import AsJson, Timeouts, argument, option, with_options
from scenecypher.cli.table import Column, print_table
from scenecypher.errors import InputError, SceneNotFound, ServiceError, did_you_mean
from scenecypher.files import write_files

if TYPE_CHECKING:
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.db.graph.scene import SceneGraph
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.importers.task import GoalKind, Task

tasks_app = typer.Typer(
    name="tasks", help="The tasks of the data sets, and whether they are done.", no_args_is_help=True
)
TaskId = Annotated[str, argument("TASK", "A task's id, as `tasks list` shows it: eai/963_2.")]
File = Annotated[
    Path | None, option("--file", "FILE", "Take the tasks of this GraSIF file or folder, by the ids in it.")
]
LONGEST_LINE = 90
HERE = Path()


@dataclass(frozen=True, slots=True)
class TaskSource:
    """A task, a function that reads its initial scene, and the command that imports that scene."""

    task: Task
    graph: Callable[[], SceneGraph]
    command: str


@tasks_app.command("list")
def list_tasks(
    *,
    dataset: Annotated[str | None, option("--dataset", "NAME", "Only this data set.")] = None,
    file: File = None,
    category: Annotated[str | None, option("--category", "Only this category of the source's.")] = None,
    goal: Annotated[str | None, option("--goal", "Only goals of: graph, actions, both, question.")] = None,
    about: Annotated[str, option("--about", "TEXT", "Only where id or instruction has TEXT.")] = "",
    as_json: AsJson = False,
) -> None:
    """List tasks: id, kind of goal, scene and instruction; and count them."""
    kinds: tuple[GoalKind, ...] = ("graph", "actions", "both", "question")
    if goal is not None and goal not in kinds:
        raise InputError(f"no goals are of kind {goal[:60]!r}{did_you_mean(goal[:60], kinds)}; give {', '.join(kinds)}")
    found, missing = ([task for _, task in _tasks_of(file)], {}) if file else _of_datasets(dataset)
    tasks = [
        task
        for task in found
        if category in {None, task.category}
        and goal in {None, task.goal_kind}
        and about.casefold() in f"{task.id} {task.instruction}".casefold()
    ]
    if as_json:
        print_json({"tasks": list(map(_row, tasks)), "counts": _counts(tasks), "missing": missing})
        return
    rows = [(task.id, task.goal_kind, task.scene, _line(task.instruction)) for task in tasks]
    print_table(list(map(Column, ("task", "goal", "scene", "instruction"))), rows)
    for name, counts in _counts(tasks).items():
        parts = ", ".join(f"{number:,} {what}" for what, number in counts.items())
        say(f"{name}: {parts}", style="dim")
    for name, why in missing.items():
        warn(f"{name} is left out: {why}", style="yellow")


@tasks_app.command("show")
def show_task(task_id: TaskId, *, file: File = None, as_json: AsJson = False) -> None:
    """Show a task: instruction, scene, the goal in words and as its source writes it, budget, recorded program."""
    found = find_task(task_id, file)
    document = _document(found)
    if not as_json:
        say(found.task.id, style="bold", end="  ")
    lines = [" ".join(found.task.instruction.split())]
    told = ("scene", "import", "source", "category", "answer", "formula", "budget")
    lines += [f"  {title}: {document[title]}" for title in told if document[title]]
    for title in ("goal", "program"):
        lines += ["\n    ".join([f"  {title}:", *document[title]])] if document[title] else []
    show(document, *lines, as_json=as_json)


@tasks_app.command()
def check(
    task_id: TaskId,
    scene: Annotated[str | None, argument("[SCENE]", "Where; else the task's own scene.")] = None,
    *,
    file: File = None,
    as_json: AsJson = False,
) -> None:
    """Check whether a task is done in a scene of the database, by one query; exit code 1 if it is not."""
    from scenecypher.planner.sessions.goal_check import check_task

    found = find_task(task_id, file)
    if found.task.goal_kind == "question":
        raise InputError(f"{task_id} is a question, which no graph answers; `scenecypher tasks show` has its answer")
    with open_store() as store:
        info = scene_of(store, scene, found)
        done = check_task(store, info, found.task)
    told = {"met": done.met, "missing": [*done.goal.missing], "missing_actions": [*map(list, done.missing_actions)]}
    document = {"task": task_id, "scene": info.name, "version": done.goal.version, **told}
    if not as_json:
        verdict, style = ("done", "bold green") if done.met else ("not done", "bold red")
        say(f"{task_id}: {verdict}", style=style, end=" ")
    missing = (f"  missing: {sentence}" for sentence in done.unmet)
    show(document, f"in {info.name}, version {done.goal.version}", *missing, as_json=as_json)
    if found.task.action_goals and not as_json:
        held = f"the {len(done.steps):,} actions in the scene's history that still hold"
        say(f"  its action goals were checked on {held}", style="dim")
    if not done.met:
        raise typer.Exit(1)


def _tasks_of(file: Path) -> Iterator[tuple[ImportedScene, Task]]:
    """Yield the tasks of a GraSIF file, or of a folder of them, each with its scene. Raises InputError."""
    if file.is_dir():
        from scenecypher.importers.grasif_folder import read_pairs

        yield from ((pair.scene, pair.task) for pair in read_pairs(file))
        return
    from scenecypher.importers.grasif import read_file

    scene, tasks = read_file(file)
    yield from ((scene, task) for task in tasks)


def _of_datasets(name: str | None) -> tuple[list[Task], dict[str, str]]:
    """Return all tasks of the data set `name`; without one, of all, and why those that can't be read are missing."""
    from scenecypher.importers import datasets

    if name is not None:
        return list(datasets.dataset(name).tasks()), {}
    tasks: list[Task] = []
    missing: dict[str, str] = {}
    for row in datasets.DATASETS.values():
        try:
            tasks += row.tasks()
        except (InputError, ServiceError) as error:
            missing[row.name] = str(error)
    return tasks, missing


def find_task(task_id: str, file: Path | None) -> TaskSource:
    """Return the task with this id, from `file` if given. Raises InputError."""
    if file is None:
        from scenecypher.importers import datasets

        dataset, task = datasets.task(task_id)
        within = task_id.partition("/")[2]
        return TaskSource(task, lambda: next(dataset.scenes(within)).graph, dataset.command(task_id))
    known = {task.id: (scene, task) for scene, task in _tasks_of(file)}
    if task_id not in known:
        hint = did_you_mean(task_id[:60], tuple(known)) or f"; it has {', '.join(known) or 'none'}"
        raise InputError(f"{file} has no task {task_id[:60]!r}{hint}")
    scene, task = known[task_id]
    return TaskSource(task, lambda: scene.graph, f"scenecypher import grasif {file}")


def scene_of(store: SceneStore, name: str | None, found: TaskSource) -> SceneInfo:
    """Return the scene to check. Raises SceneNotFound; InputError with the import command of the task's own scene."""
    try:
        return store.find(name or found.task.scene)
    except SceneNotFound as error:
        if name is not None:
            raise
        msg = f"{found.task.id} is set in {found.task.scene}, which is not in the database: run `{found.command}`"
        raise InputError(msg) from error


def _row(task: Task) -> dict[str, Any]:
    told = {name: getattr(task, name) for name in ("scene", "instruction", "category")}
    return {"id": task.id, "goal": task.goal_kind, **told}


def _counts(tasks: Sequence[Task]) -> dict[str, dict[str, int]]:
    """Return the number of tasks by data set and kind of goal; ids in a file need not name a data set."""
    counts: dict[str, Counter[str]] = {}
    for task in tasks:
        name, slash, _ = task.id.partition("/")
        counts.setdefault(name if slash else "in all", Counter())[task.goal_kind] += 1
    return {name: {"tasks": counted.total(), **dict(sorted(counted.items()))} for name, counted in counts.items()}


def _document(found: TaskSource) -> dict[str, Any]:
    from scenecypher.db.condition import condition_document, conjuncts, explain

    task, graph = found.task, found.graph()
    goal = [f"first do: {' or '.join(alternatives)}" for alternatives in task.action_goals]
    goal += [explain(part, graph, {}) for part in conjuncts(task.goal)] if task.has_graph_goal else []
    return {
        **_row(task),
        "kind": task.goal_kind,
        "goal": goal,
        "condition": condition_document(task.goal) if task.has_graph_goal else None,
        "action_goals": [*map(list, task.action_goals)],
        **{name: getattr(task, name) for name in ("formula", "budget")},
        "program": [*map(str, task.program)],
        **{name: getattr(task, name) for name in ("answer", "source")},
        "import": found.command,
    }


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


@tasks_app.command()
@with_options
def pddl(
    task_id: TaskId,
    scene: Annotated[str | None, argument("[SCENE]", "Where; else the task's own scene.")] = None,
    *,
    into: Annotated[Path, option("--into", "FOLDER", "Where domain.pddl and problem.pddl are written.")] = HERE,
    timeouts: Annotated[Timeouts, {"engine_timeout_s"}],
    file: File = None,
) -> None:
    """Write a task as PDDL as `plan --method symbolic` first asks the engine: on the part that its goal is about."""
    from scenecypher.planner.symbolic.plan import PlanRequest, export_pddl

    found = find_task(task_id, file)
    if not found.task.has_graph_goal:
        raise InputError(f"{task_id} has no goal on the graph: choose one of `scenecypher tasks list --goal graph`")
    with open_database(timeouts) as db:
        info = scene_of(db.store, scene, found)
        question = PlanRequest(found.task.goal, info.vocabulary, db.settings.engine_timeout_s)
        domain, problem = export_pddl(question, db.store.now(info).graph)
    files: dict[Path, str | bytes] = {into / "domain.pddl": domain, into / "problem.pddl": problem}
    write_files(files, makes_folder=True)
    say(f"{' and '.join(map(str, files))} written")
    if found.task.action_goals:
        warn("the task's action goals are not part of the PDDL problem", style="yellow")

"""Homes in VirtualHome's form: a graph, and tasks as desired states such as `plum INSIDE garbagecan` (SG², Table 8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from pydantic import Field

from scenecypher.db.condition import And, Condition, Exists, HasClass, HasState, Id, Related, Term
from scenecypher.db.graph.field_types import Form
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, document_error, validated
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.graph.value import InvalidValue, shown
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.assembly import made
from scenecypher.importers.json_file import read_json
from scenecypher.importers.task import ProgramStep, Task, chosen
from scenecypher.importers.virtualhome import read_graph
from scenecypher.importers.virtualhome_format import RELATIONS, parse_step
from scenecypher.importers.virtualhome_format import STATES as SOURCE_STATES

STATES: Final[Mapping[str, str]] = {**SOURCE_STATES, "HEATED": "heated", "WASHED": "washed"}
"""VirtualHome's states, and two that appliances give to their content; no home begins with these two."""

BUDGET: Final = 30
EXAMPLE: Final = "example"
TESTED: Final = "tested"
"""The two categories of tasks: shown to a model with a program, or tested."""
NAME_PREFIX: Final = "homes/"
VOCABULARY: Final = "virtualhome_ext"
"""VirtualHome's vocabulary with effects of appliances, which goals such as ``breadslice HEATED`` need."""
GRAPH: Final = "graph.json"
TASKS: Final = "tasks.json"
"""The files of a folder. The second may be missing: the home then has no tasks."""
OURS: Final = ("apartment", "cottage")
"""Our homes: 115 nodes each, and the same ten tasks."""


class HomeTaskForm(Form):
    """One task: its instruction, its goal and, for an example, a program that reaches it."""

    id: str = Field(min_length=1)
    instruction: str = Field(min_length=1)
    goal: list[str] = Field(min_length=1)
    example: bool = False
    program: list[str] = Field(default_factory=list)
    budget: int = Field(BUDGET, ge=1)


class TasksForm(Form):
    """The file: the home's title, and its tasks."""

    title: str
    tasks: list[HomeTaskForm]


def read_tasks(path: Path, scene: ImportedScene) -> tuple[Task, ...]:
    """Return the tasks of a file, set in `scene`. Raises DocumentError with all its problems, each at its JSON path."""
    document = read_json(path)
    form = validated(TasksForm, document, str(path))
    if problems := [*_problems(form.tasks, scene.graph)]:
        raise document_error(str(path), problems)
    return tuple(_task(task, scene) for task in form.tasks)


def goal_from_facts(facts: Sequence[str], graph: SceneGraph) -> Condition:
    """Return the conjunction of `facts`; a class with several nodes means one and the same node in all facts.

    Raises InvalidValue for a fact that does not fit this graph.
    """
    terms: dict[str, Term] = {}
    goal: Condition = And(tuple(_fact(fact, graph, terms) for fact in facts))
    for class_, term in reversed(terms.items()):
        if isinstance(term, str):
            goal = Exists(term, And((HasClass(term, class_), goal)))
    return goal


def _fact(fact: str, graph: SceneGraph, terms: dict[str, Term]) -> Condition:
    match fact.split():
        case [x, state] if state in STATES:
            return HasState(_term(x, graph, terms), STATES[state])
        case [x, relation, y] if relation in RELATIONS:
            return Related(_term(x, graph, terms), RELATIONS[relation], _term(y, graph, terms))
        case [_, word] | [_, word, _]:
            known = (*STATES, *RELATIONS)
            hint = did_you_mean(word[:60], known) or f"; choose one of {', '.join(dict.fromkeys(known))}"
            raise InvalidValue(f"{shown(word)} is no state or relation here{hint}")
    raise InvalidValue(f"{shown(fact)} is no fact; write one like 'tv ON' or 'plum INSIDE garbagecan'")


def _term(word: str, graph: SceneGraph, terms: dict[str, Term]) -> Term:
    """Return the node of this id, the only node of this class, or a variable for one of several."""
    if word in graph:
        return Id(word)
    found = graph.by_class.get(word, ())
    if not found:
        hint = did_you_mean(word[:60], (*graph.nodes, *graph.by_class)) or "; give a node's id, or a class of this home"
        raise InvalidValue(f"no node and no class is called {shown(word)}{hint}")
    return terms.setdefault(word, Id(found[0]) if len(found) == 1 else re.sub(r"\W", "_", f"a_{word}"))


def _step(text: str, graph: SceneGraph) -> ProgramStep:
    try:
        step = parse_step(text)
    except ValueError as error:
        raise InvalidValue(f"{error}; write one like it") from error
    for node in step.arguments:
        if node not in graph:
            hint = did_you_mean(node[:60], tuple(graph.nodes)) or "; take class and number from the graph"
            raise InvalidValue(f"no node has the id {shown(node)}{hint}")
    return step


def _problems(tasks: Sequence[HomeTaskForm], graph: SceneGraph) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for number, task in enumerate(tasks):
        place = f"$.tasks[{number}]"
        if first.setdefault(task.id, place) != place:
            yield f"{place}.id", f"{shown(task.id)} is the id of {first[task.id][2:]} already; give each its own"
        read: list[tuple[str, Callable[[], object]]] = [
            *((f"{place}.goal[{i}]", partial(_fact, fact, graph, {})) for i, fact in enumerate(task.goal)),
            *((f"{place}.program[{i}]", partial(_step, step, graph)) for i, step in enumerate(task.program)),
        ]
        problems: list[Problem] = []
        list(made(read, problems))
        yield from problems
        if task.example and not task.program:
            yield place, "an example needs a program that shows how it is done; add it, or leave out 'example'"


def _task(task: HomeTaskForm, scene: ImportedScene) -> Task:
    return Task(
        id=task.id,
        instruction=task.instruction,
        scene=scene.name,
        goal=goal_from_facts(task.goal, scene.graph),
        action_goals=(),
        budget=task.budget,
        source=scene.source,
        category=EXAMPLE if task.example else TESTED,
        formula=", ".join(task.goal),
        program=tuple(_step(step, scene.graph) for step in task.program),
    )


def read_home(folder: Path, *, source: str | None = None) -> tuple[ImportedScene, tuple[Task, ...]]:
    """Return a folder's scene and tasks. Raises DocumentError with all problems of the first file that has any."""
    read = read_graph(folder / GRAPH, name=NAME_PREFIX + folder.name, source=source)
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


def small_home() -> ImportedScene:
    """Return the small home that comes with the package: four rooms, with positions, sizes and prefab names.

    Items that the public home has too (`freezer_289`, `microwave_297`, `cup_2004`, `character_65`, …) have the same
    names, so that examples about them work in both; their places, and all else, are made up.
    """
    with as_file(files("scenecypher.importers") / "data" / "small_home.json") as path:
        return read_graph(path, name="small_home", source="scenecypher's small home")


@cache
def our_home(name: str) -> tuple[ImportedScene, tuple[Task, ...]]:
    """Return the scene of one of OURS and its tasks."""
    with as_file(files("scenecypher.importers") / "data" / "homes" / name) as folder:
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
    ids = chosen(only, found, "task", where="in our homes", like="ids look like cottage/watch_tv")
    return (replace(task, id=id_) for id_, task in ids.items())

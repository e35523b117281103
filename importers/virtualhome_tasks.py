"""The 338 tasks of the Embodied Agent Interface in VirtualHome: instruction, goal and recorded program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel, RootModel

from scenecypher.db.condition import And, Condition, HasState, Id, Related
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.graph.value import shown
from scenecypher.errors import DocumentError
from scenecypher.importers import virtualhome
from scenecypher.importers.json_file import read_json
from scenecypher.importers.task import ActionGoal, ProgramStep, Task
from scenecypher.importers.virtualhome_format import STATES, node_id, parse_step, source_id

PREDICATES: Final[Mapping[str, str]] = {
    "ONTOP": "ON",
    "INSIDE": "INSIDE",
    "NEXT_TO": "CLOSE",
    "FACING": "FACING",
    "HOLDS_LH": "HOLDS_LH",
    "HOLDS_RH": "HOLDS_RH",
}
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


def scenes(only: str | None = None) -> Iterator[ImportedScene]:
    """Return the initial graphs of `eai-eval` in the order of their tasks' ids, or the one of `only`."""
    return (virtualhome.packaged_scene(task_id) for task_id in virtualhome.graph_files(only))


def final_graph(task_id: str) -> SceneGraph:
    """Return the graph after a task's recorded program. Raises InputError."""
    return virtualhome.packaged_scene(task_id, part="final").graph


def tasks(only: str | None = None) -> Iterator[Task]:
    """Yield the tasks in the order of their ids, or the one with the id `only`; their scenes are the initial graphs.

    The package lists four more ids, which have no goal. Raises InputError if it is missing or has no such task,
    DocumentError if its content is not as expected.
    """
    goals = _goals(virtualhome.package_folder() / virtualhome.GOALS)
    programs = virtualhome.program_files()
    for task_id in sorted(virtualhome.chosen_tasks(only, goals), key=virtualhome.task_order):
        if task_id not in programs:
            raise DocumentError(
                str(virtualhome.package_folder()), f"task {task_id}", "has a goal but no program; install it again"
            )
        category, formula = goals[task_id]
        yield _task(task_id, category, formula=formula, program=programs[task_id])


def relevant_objects(pair: virtualhome.PackagedPair) -> tuple[str, ...]:
    """Return the ids, by ascending number, of the nodes whose values or relations differ between the graphs."""
    before, after = pair.initial.graph, pair.final.graph
    changed = {node_id_ for node_id_ in before.nodes if before.nodes[node_id_] != after.nodes.get(node_id_)}
    changed |= after.nodes.keys() - before.nodes.keys()
    for relation in before.relations ^ after.relations:
        changed |= {relation.source, relation.target}
    return tuple(sorted(changed, key=source_id))


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
    return description.strip(), tuple(_step(line) for line in lines if line.strip())


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
        scene=virtualhome.NAME_PREFIX + task_id,
        goal=goal,
        action_goals=action_goals,
        budget=max(MIN_BUDGET, 2 * len(steps)),
        source=f"{virtualhome.package_name()}, {category}",
        category=category,
        formula=formula,
        program=steps,
    )


def _fact(predicate: str, arguments: str) -> Condition:
    match [Id(node_id(name, int(number))) for name, number in _OBJECT.findall(arguments)]:
        case [x] if predicate in STATES:
            return HasState(x, STATES[predicate])
        case [x, y] if predicate in PREDICATES:
            return Related(x, PREDICATES[predicate], y)
    raise ValueError(f"{shown(f'{predicate}({arguments})')} is no state or relation of VirtualHome")


def _step(line: str) -> ProgramStep:
    if (step := parse_step(line)) is None:
        raise ValueError(f"{shown(line)} is no step such as [GRAB] <soap> (1.1001)")
    return step

"""Reference plans: `python -m scenecypher.planner.symbolic.reference` computes them again, in about an hour.

An existing plan is kept unless the new one is shorter. `--only DATASET` restricts it to one data set, `--workers N`
plans for N tasks at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import InputError
from scenecypher.files import write_file
from scenecypher.importers.datasets import DATASETS, FILE, as_lines, dataset, reference_plan, reference_plans
from scenecypher.importers.task import Task
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.symbolic.plan import PlanRequest, PlanResult, find_plan
from scenecypher.planner.symbolic.states import PlanningState
from scenecypher.planner.vocabularies.vocabulary import operators_of

PLANNED: Final = tuple(name for name, row in DATASETS.items() if row.has_reference_plans)
"""The data sets whose tasks have reference plans."""

FIRST_TIMEOUT_S: Final = 60.0
"""Time limit of the first plan."""
SECOND_TIMEOUT_S: Final = 12.0
"""Time limit of the second plan."""
SECOND_SEARCH: Final = "astar(ff())"
"""Search of the second plan: A* with the inadmissible heuristic FF; its plan is usually, not always, shortest."""
SHORT_PLAN_ACTIONS: Final = 2
"""A first plan of at most this many actions is accepted without a second search."""


def goal_graph(task: Task, scene: ImportedScene) -> SceneGraph:
    """Return the scene after the task's reference plan: the goal graph of LookPlanGraph's APP.

    Raises InputError if no plan is known, or if it does not reach the goal in this scene.
    """
    end = final_graph(reference_plan(task.id), scene.graph, scene.vocabulary)
    if not evaluate(task.goal, end, {}):
        msg = f"the reference plan of {task.id} does not reach its goal in {scene.name}: import the task's own scene"
        raise InputError(msg)
    return end


def final_graph(actions: Iterable[str], graph: SceneGraph, vocabulary: str) -> SceneGraph:
    """Return the graph after the actions of its first agent. Raises Infeasible at the first infeasible action."""
    state = PlanningState(graph, min(graph.by_kind["Agent"]), operators_of(vocabulary))
    return state.after(*map(parse_action, actions)).graph


def reference_plan_of(task_id: str) -> tuple[str, tuple[str, ...]]:
    """Return the task id and the shortest plan that the engine finds; an empty plan if there is none."""
    name, _, within = task_id.partition("/")
    task, scene = next(dataset(name).tasks(within)), next(dataset(name).scenes(within))
    plans = [each.plan for each in _plan_attempts(task, scene) if each.plan is not None]
    best: tuple[ActionCall, ...] = min(plans, key=len, default=())
    return task_id, tuple(map(str, best))


def _plan_attempts(task: Task, scene: ImportedScene) -> Iterator[PlanResult]:
    question = PlanRequest(task.goal, scene.vocabulary, timeout_s=FIRST_TIMEOUT_S)
    first = find_plan(question, scene.graph)
    yield first
    if first.plan is None or len(first.plan) <= SHORT_PLAN_ACTIONS:
        return
    yield find_plan(replace(question, search=SECOND_SEARCH, timeout_s=SECOND_TIMEOUT_S), scene.graph)


def _shorter_plans(
    old: Mapping[str, tuple[str, ...]], new: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return the shorter plan of each task, in the order of the data sets."""
    best: dict[str, tuple[str, ...]] = {}
    for task in (task for name in PLANNED for task in DATASETS[name].tasks()):
        plans = [plans[task.id] for plans in (old, new) if plans.get(task.id)]
        if plans:
            best[task.id] = min(plans, key=len)
    return best


def main() -> None:
    """Compute the plans and write the file."""
    parser = argparse.ArgumentParser(
        prog="python -m scenecypher.planner.symbolic.reference", description="Find the reference plans."
    )
    parser.add_argument("--only", choices=PLANNED, action="append", help="one data set; else all")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="tasks at once")
    arguments = parser.parse_args()
    ids = [task.id for name in arguments.only or PLANNED for task in DATASETS[name].tasks()]
    with ProcessPoolExecutor(arguments.workers) as pool:
        plans: dict[str, tuple[str, ...]] = {}
        for task_id, actions in pool.map(reference_plan_of, ids):
            plans[task_id] = actions
            sys.stderr.write(f"{task_id}: {len(actions) or 'no plan'}\n")
    path = Path(str(FILE))
    old = reference_plans() if path.exists() else {}
    write_file(path, "".join(as_lines(_shorter_plans(old, plans))))


if __name__ == "__main__":
    main()

"""`python -m benchmarks.plans DATASET ...`: every task of a data set planned for in memory, and what fails, and why."""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from statistics import mean, median

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.importers.datasets import DATASETS, dataset
from scenecypher.importers.task import Task
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.pddl_deeds import Situation
from scenecypher.planner.actions.pddl_part import part_of
from scenecypher.planner.actions.pddl_planner import Planned, Question, plan
from scenecypher.planner.actions.vocabularies import operators_of
from scenecypher.planner.goal_check import missing_goals, steps_of


@dataclass(frozen=True, slots=True)
class Tried:
    """A task: how many actions its plan has and what of the task it misses (`why`), or why there is none (None).

    `seconds` passed on the clock, `processor_s` of processor time, the engine's included.
    """

    task: str
    actions: int | None
    why: str
    nodes: int
    seconds: float
    processor_s: float


def main() -> None:
    """Plan and print: a line a data set, and its failures with their causes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plans", description=__doc__)
    parser.add_argument("names", nargs="+", metavar="DATASET", choices=DATASETS, help="data sets with goals on graphs")
    parser.add_argument("--only", metavar="ID", help="one task, as it is called within its data set")
    parser.add_argument("--seconds", type=float, default=30.0, metavar="S", help="a task's time limit (30)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="tasks at once (1)")
    parser.add_argument("--json", action="store_true", help="also a JSON line a task")
    arguments = parser.parse_args()
    for name in arguments.names:
        ids = [arguments.only] if arguments.only else list(_ids(name))
        with ProcessPoolExecutor(arguments.workers, initializer=_warm) as pool:
            rows = list(pool.map(partial(tried, name, seconds=arguments.seconds), ids))
        if arguments.json:
            sys.stdout.writelines(json.dumps(asdict(row)) + "\n" for row in rows)
        sys.stdout.writelines(f"{line}\n" for line in report(name, rows))


def tried(name: str, within: str, *, seconds: float) -> Tried:
    """Plan for one task, and carry the plan out in its whole scene."""
    task, scene = next(dataset(name).tasks(within)), next(dataset(name).scenes(within))
    question = Question(task.goal, scene.vocabulary, timeout_s=seconds, deeds=task.action_goals)
    began, spent = time.monotonic(), _processor_s()
    found = plan(question, partial(_part, scene.graph, task))
    why = found.why if found.plan is None else _missed(task, scene, found)
    count = None if found.plan is None or why.startswith("in the whole scene") else len(found.plan)
    return Tried(task.id, count, why, found.nodes, time.monotonic() - began, _processor_s() - spent)


def report(name: str, rows: Iterable[Tried]) -> Iterator[str]:
    """What is printed of a data set."""
    rows = list(rows)
    solved = [row for row in rows if row.actions is not None]
    yield (
        f"{name}: {len(solved)} of {len(rows)} solved; "
        f"median {median(row.seconds for row in rows):.2f} s on the clock, "
        f"{median(row.processor_s for row in rows):.2f} s of processor time; "
        f"mean {mean(row.actions or 0 for row in solved) if solved else 0:.2f} actions"
    )
    lacking = [row for row in solved if row.why]
    if lacking:
        yield f"  {len(lacking)} of the solved reach the goal without the actions that the task asks for besides"
    yield from (f"  {row.task}: {row.why}" for row in rows if row.actions is None)


def _ids(name: str) -> Iterator[str]:
    """The tasks whose goal says anything about the graph."""
    return (task.id.removeprefix(f"{name}/") for task in DATASETS[name].tasks() if task.has_graph_goal)


def _missed(task: Task, scene: ImportedScene, found: Planned) -> str:
    """What the plan, carried out in the whole scene, misses of the task."""
    situation = Situation(scene.graph, min(scene.graph.by_kind["Agent"]), operators_of(scene.vocabulary))
    try:
        end = situation.after(*(found.plan or ())).graph
    except Infeasible as refusal:
        return f"in the whole scene an action is refused: {refusal}"
    if not evaluate(task.goal, end, {}):
        return "in the whole scene the plan does not reach the goal"
    undone = missing_goals(steps_of(map(str, found.plan or ())), task.action_goals)
    return f"not done: {undone}" if undone else ""


def _part(graph: SceneGraph, task: Task, wide: bool) -> SceneGraph:  # noqa: FBT001 - what a See takes
    return part_of(graph, task.goal, wide=wide)


def _processor_s() -> float:
    """Of this process and of those that it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _warm() -> None:
    """Importing the planning library is no part of a plan."""
    import unified_planning.io
    import up_fast_downward  # noqa: F401

    del unified_planning


if __name__ == "__main__":
    main()

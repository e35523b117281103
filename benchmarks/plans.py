"""`python -m benchmarks.plans DATASET ...`: plan all tasks of a data set in memory, and print failures with reasons."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator, Sequence
from statistics import mean, median
from typing import NamedTuple

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.importers.datasets import Dataset, dataset
from scenecypher.importers.task import Task
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.sessions.goal_check import missing_goals, steps_of
from scenecypher.planner.symbolic.plan import PLAN_TIMEOUT_S, PlanRequest, PlanResult, find_plan
from scenecypher.planner.symbolic.states import PlanningState
from scenecypher.planner.vocabularies.vocabulary import operators_of


class PlanAttempt(NamedTuple):
    """Attempt at a task: the number of actions of its plan and what the plan misses (`why`), or None and the reason.

    `seconds` is wall time, `processor_s` processor time, both including the engine's.
    """

    task: str
    actions: int | None
    why: str
    seconds: float
    processor_s: float


def main() -> None:
    """Plan and print a line for each data set, and its failures with their causes."""
    for of in map(dataset, sys.argv[1:] or sys.exit(__doc__)):
        rows = [attempt_task(of, task) for task in of.tasks() if task.has_graph_goal]
        sys.stdout.writelines(f"{line}\n" for line in summary_lines(of.name, rows))


def attempt_task(of: Dataset, task: Task) -> PlanAttempt:
    """Plan one task, and execute the plan in its whole scene."""
    scene = next(iter(of.scenes(task.id.removeprefix(f"{of.name}/"))))
    question = PlanRequest(task.goal, scene.vocabulary, PLAN_TIMEOUT_S, required_actions=task.action_goals)
    began, spent = time.monotonic(), _processor_s()
    found = find_plan(question, scene.graph)
    why = found.why if found.plan is None else _missing_parts(task, scene, found)
    count = None if found.plan is None or why.startswith("in the whole scene") else len(found.plan)
    return PlanAttempt(task.id, count, why, time.monotonic() - began, _processor_s() - spent)


def summary_lines(name: str, rows: Sequence[PlanAttempt]) -> Iterator[str]:
    """Yield the printed lines of a data set."""
    solved = [row for row in rows if row.actions is not None]
    yield (
        f"{name}: {len(solved)} of {len(rows)} solved; "
        f"median {median(row.seconds for row in rows):.2f} s on the clock, "
        f"{median(row.processor_s for row in rows):.2f} s of processor time; "
        f"mean {mean(row.actions or 0 for row in solved) if solved else 0:.2f} actions"
    )
    if lacking := [row for row in solved if row.why]:
        yield f"  {len(lacking)} of the solved reach the goal without the actions that the task asks for besides"
    yield from (f"  {row.task}: {row.why}" for row in rows if row.actions is None)


def _missing_parts(task: Task, scene: ImportedScene, found: PlanResult) -> str:
    """Return what the plan, executed in the whole scene, misses of the task."""
    state = PlanningState(scene.graph, min(scene.graph.by_kind["Agent"]), operators_of(scene.vocabulary))
    try:
        end = state.after(*(found.plan or ())).graph
    except Infeasible as refusal:
        return f"in the whole scene an action is refused: {refusal}"
    if not evaluate(task.goal, end, {}):
        return "in the whole scene the plan does not reach the goal"
    undone = missing_goals(steps_of(map(str, found.plan or ())), task.action_goals)
    return f"not done: {undone}" if undone else ""


def _processor_s() -> float:
    """Return the processor time of this process and its children, in seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    main()

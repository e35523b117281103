"""Tokens of prompts: ``python -m tests.oracle.tokens URI PASSWORD PLANS.json`` prints the table.

Plans of the engine are played by `stepwise` and by SayPlan. They are kept in the file, so that another state of the
code, into which this module is copied, plays the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any, Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.datasets import DATASETS
from scenecypher.importers.task import Task
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.prompts.layout import SceneLayout
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan
from tests.oracle.play import grasif_tasks, play

COUNTS: Final = {"eai": 6, "homes": 8, "robothow": 6, "sayplan-office": 6, "trv1": 8}
WORDED: Final = ("robothow", "sayplan-office")
"""Data sets whose instructions are the goals in words."""


def main(uri: str, password: str, file: str) -> None:
    """Print the table, using a running server."""
    path, database = Path(file), Database(Address(uri, "neo4j", password))
    if not path.exists():
        path.write_text(json.dumps({task.id: planned(task, scene) for task, scene in chosen()}))
    plans, store = json.loads(path.read_text()), SceneStore(database)
    for name in COUNTS:
        found = [(task, scene_of(task)) for task in DATASETS[name].tasks() if task.id in plans]
        for method, script in (("stepwise", stepwise), ("sayplan", sayplan)):
            played = []
            for task, scene in found:
                instruction, plan = plans[task.id]
                lines = script(plan, scene)
                worded = replace(task, instruction=instruction, budget=len(plan))
                played.append(play(store, worded, scene, method=method, oracle=lambda *_, it=lines: next(it)))
            tokens = mean(one.finished.usage.total_tokens for one in played)
            met = sum(one.met for one in played)
            sys.stdout.write(f"| {name} | {method} | {met} of {len(played)} | {tokens:,.0f} |\n")
    database.close()


def chosen() -> Iterator[tuple[Task, ImportedScene]]:
    """Yield the tasks that are planned for, spread evenly over each data set."""
    yield from grasif_tasks({name: COUNTS[name] for name in WORDED})
    for name in (it for it in COUNTS if it not in WORDED):
        every = [it for it in DATASETS[name].tasks() if it.goal is not None and not it.action_goals]
        for index in range(COUNTS[name]):
            task = every[index * len(every) // COUNTS[name]]
            yield task, scene_of(task)


def scene_of(task: Task) -> ImportedScene:
    """Return the scene of a task."""
    name, _, scene = task.id.partition("/")
    return next(DATASETS[name].scenes(scene))


def planned(task: Task, scene: ImportedScene) -> tuple[str, list[str]]:
    """Return the instruction of a task, and the engine's plan."""
    plan = find_plan(PlanRequest(task.goal, scene.vocabulary), scene.graph).plan
    assert plan is not None, task.id
    return task.instruction, [str(call) for call in plan]


def stepwise(plan: Sequence[str], _: ImportedScene) -> Iterator[str]:
    """Yield the replies that take a plan action by action."""
    fields = {"reason": "next", "question": None, "action": None}
    yield from (json.dumps(fields | {"decision": "act", "action": action}) for action in plan)
    yield json.dumps(fields | {"decision": "done"})


def sayplan(plan: Sequence[str], scene: ImportedScene) -> Iterator[str]:
    """Yield the replies that expand each room that a plan is about, and then state it whole."""
    fields: dict[str, Any] = {"chain_of_thought": [], "reasoning": "next", "command": None, "plan": None}
    layout, nodes = SceneLayout(scene.graph, scene.vocabulary), scene.graph.nodes
    named = (id_ for action in plan for id_ in parse_action(action).arguments if id_ in nodes)
    for room in dict.fromkeys(id_ if nodes[id_].kind == "Place" else layout.room_of(id_) for id_ in named):
        if room:
            command = {"command_name": "expand_node", "node_name": room}
            yield json.dumps(fields | {"mode": "exploring", "command": command})
    yield json.dumps(fields | {"mode": "planning", "plan": [*plan]})


if __name__ == "__main__":
    main(*sys.argv[1:])

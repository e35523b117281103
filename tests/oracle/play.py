"""Whole episodes with an oracle model: ``python -m tests.oracle.play URI PASSWORD`` prints the table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import mean
from typing import Final

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.condition_check import check_goal
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.evaluation.episode import goal_in_words, is_ground_goal
from scenecypher.importers.datasets import DATASETS
from scenecypher.importers.task import Task
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.events import Acted, Corrected, Finished, Refused
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from tests.db.store.test_store import fresh
from tests.oracle.lookplangraph import reply

PromptReply = Callable[[str, str], str]
GRASIF: Final = {"robothow": 34, "behavior-1k": 30, "sayplan-office": 25, "our-office": 11}
"""Number of tasks of each data set: 100 with goals about places and states of single nodes."""
BABYAI: Final = {"trv1": 50, "trv2": 50}


class Oracle:
    """A program as a model; its tokens are estimated at four characters each."""

    def __init__(self, answering: PromptReply) -> None:
        self._answering = answering

    def reply(self, request: Request) -> Reply:
        system, user = (request.messages[0].text, request.messages[-1].text)
        text = self._answering(system, user)
        prompt = sum(len(message.text) for message in request.messages)
        return Reply(text, Usage(prompt // 4, len(text) // 4), "oracle", source="scripted")


@dataclass(frozen=True)
class Played:
    """One episode: its success, the executed actions, the refusals and the last event."""

    task: str
    met: bool
    actions: tuple[str, ...]
    refusals: int
    finished: Finished


def grasif_tasks(counts: Mapping[str, int] = GRASIF) -> list[tuple[Task, ImportedScene]]:
    """Return `counts` tasks of each data set, with instructions in the goal's own words, and their scenes."""
    return [pair for name, count in counts.items() for pair in _worded(name, count)]


def babyai_tasks(counts: Mapping[str, int] = BABYAI) -> list[tuple[Task, ImportedScene]]:
    """Return `counts` tasks of each level with their own instructions, and their scenes."""
    return [
        (task, next(DATASETS[name].scenes(task.id.partition("/")[2])))
        for name, count in counts.items()
        for task in islice(DATASETS[name].tasks(), count)
    ]


def play(
    store: SceneStore,
    task: Task,
    scene: ImportedScene,
    *,
    method: str,
    oracle: PromptReply,
    ablations: tuple[str, ...] = (),
) -> Played:
    """Play one episode in a new scene."""
    name = fresh("oracle")
    store.put(replace(scene, name=name))
    setting = SessionSetting(
        store,
        Gate(store.database),
        store.find(name),
        task.instruction,
        method,
        model=Oracle(oracle),
        ablations=ablations,
        budget=Budget(task.budget * 3 + 80),
    )
    events = [*prepare_session(setting, recipe_named(method)).run()]
    end = events[-1]
    assert isinstance(end, Finished)
    met = check_goal(store, setting.scene, task.goal).holds
    store.delete(name)
    actions = tuple(event.action for event in events if isinstance(event, Acted | Corrected))
    return Played(task.id, met, actions, sum(isinstance(event, Refused) for event in events), end)


def table(store: SceneStore, groups: Mapping[str, Sequence[tuple[Task, ImportedScene]]]) -> Iterator[str]:
    """Yield the lines of the table, a row for each data set."""
    yield "| method | data set | solved | decisions a task | actions a task | refused | tokens a decision |"
    yield "|---|---|---|---|---|---|---|"
    for name, tasks in groups.items():
        played = [play(store, task, scene, method="lookplangraph", oracle=reply) for task, scene in tasks]
        steps = [one.finished.steps for one in played]
        tokens = sum(one.finished.usage.total_tokens for one in played)
        figures = (
            f"{sum(one.met for one in played)} of {len(played)}",
            f"{mean(steps):.1f}",
            f"{mean(one.finished.actions for one in played):.1f}",
            str(sum(one.refusals for one in played)),
            f"{tokens / sum(steps):,.0f}",
        )
        yield f"| `lookplangraph` | {name} | {' | '.join(figures)} |"


def groups() -> dict[str, list[tuple[Task, ImportedScene]]]:
    """Return the tasks by data set."""
    found: dict[str, list[tuple[Task, ImportedScene]]] = {}
    for task, scene in (*grasif_tasks(), *babyai_tasks()):
        found.setdefault(task.id.partition("/")[0], []).append((task, scene))
    return found


def main(uri: str, password: str) -> None:
    """Print the table, using a running server."""
    database = Database(Address(uri, "neo4j", password))
    for line in table(SceneStore(database), groups()):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    database.close()


def _worded(name: str, count: int) -> Iterator[tuple[Task, ImportedScene]]:
    data = DATASETS[name]
    plain = [task for task in data.tasks() if is_ground_goal(task.goal)]
    for index in range(count):
        task = plain[index * len(plain) // count]
        scene = next(data.scenes(task.id.partition("/")[2]))
        yield replace(task, instruction=goal_in_words(task.goal, scene.graph)), scene


if __name__ == "__main__":
    main(*sys.argv[1:])

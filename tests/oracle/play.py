"""Plays whole episodes with an oracle model and counts: ``python -m tests.oracle.play`` prints the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from chat.model import Reply, Request, Usage
from db.condition import Condition, HasState, Id, Related, conjuncts, explain
from db.gate import Gate
from db.imported import ImportedScene
from db.store import SceneStore
from db.verdict import judge
from importers.datasets import DATASETS
from importers.task import Task
from planner.budget import Budget
from planner.events import Finished, Refused
from planner.methods import recipe_named
from planner.staging import Setting, staged
from tests.db.test_store import fresh

Answering = Callable[[str, str], str]
GRASIF: Final = {"robothow": 34, "behavior-1k": 30, "sayplan-office": 25, "our-office": 11}
"""How many tasks of each data set: 100 whose goals say of single nodes where and how they are."""
BABYAI: Final = {"trv1": 50, "trv2": 50}


class Oracle:
    """A model that is a program; its tokens are estimated at four characters each."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering

    def reply(self, request: Request) -> Reply:
        system, user = (request.messages[0].text, request.messages[-1].text)
        text = self._answering(system, user)
        prompt = sum(len(message.text) for message in request.messages)
        return Reply(text, Usage(prompt // 4, len(text) // 4), "oracle", source="scripted")


@dataclass(frozen=True)
class Played:
    """One episode: whether the goal holds in the end, and what it took."""

    task: str
    met: bool
    refusals: int
    finished: Finished


def grasif_tasks() -> list[tuple[Task, ImportedScene]]:
    """The tasks, with instructions in the goal's own words, and their scenes."""
    return [pair for name, count in GRASIF.items() for pair in _worded(name, count)]


def babyai_tasks() -> list[tuple[Task, ImportedScene]]:
    """The tasks with their own instructions, and their scenes."""
    return [
        (task, next(DATASETS[name].scenes(task.id.partition("/")[2])))
        for name, count in BABYAI.items()
        for task in [*DATASETS[name].tasks()][:count]
    ]


def play(
    store: SceneStore,
    task: Task,
    scene: ImportedScene,
    *,
    method: str,
    oracle: Answering,
    ablations: tuple[str, ...] = (),
) -> Played:
    """One episode in a scene of its own."""
    name = fresh("oracle")
    store.put(replace(scene, name=name))
    setting = Setting(
        store,
        Gate(store.database),
        store.find(name),
        task.instruction,
        method,
        model=Oracle(oracle),
        ablations=ablations,
        budget=Budget(task.budget * 3 + 80),
    )
    events = [*staged(setting, recipe_named(method)).run()]
    end = events[-1]
    assert isinstance(end, Finished)
    met = judge(store, setting.scene, task.goal).holds
    store.delete(name)
    return Played(task.id, met, sum(isinstance(event, Refused) for event in events), end)


def _worded(name: str, count: int) -> Iterator[tuple[Task, ImportedScene]]:
    data = DATASETS[name]
    plain = [task for task in data.tasks() if _is_plain(task.goal)]
    for index in range(count):
        task = plain[index * len(plain) // count]
        scene = next(data.scenes(task.id.partition("/")[2]))
        words = "; ".join(explain(part, scene.graph, {}) for part in conjuncts(task.goal))
        yield replace(task, instruction=words), scene


def _is_plain(goal: Condition) -> bool:
    return bool(parts := conjuncts(goal)) and all(map(_is_fact, parts))


def _is_fact(part: Condition) -> bool:
    match part:
        case Related(Id(), _, Id()) | HasState(Id(), _):
            return True
        case _:
            return False

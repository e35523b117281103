"""Episodes of SG2 and its ReAct with oracles: ``python -m tests.oracle.conversing URI PASSWORD`` prints the table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Final

from scenecypher.chat.model import Message, Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.condition_check import check_goal
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.datasets import DATASETS
from scenecypher.importers.task import Task
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.events import Asked, Called, Finished, Refused
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from tests.db.store.test_store import fresh
from tests.oracle import react_sg2, sg2
from tests.oracle.play import grasif_tasks

ConversationReply = Callable[[Sequence[Message]], str]
ORACLES: Final[Mapping[str, ConversationReply]] = {
    "sg2": sg2.reply,
    "sg2-limit": sg2.reply,
    "react-sg2": react_sg2.reply,
}
LEVELS: Final = {"trv1": 50, "trv2": 50, "numqa": 100, "grasif": 100}


class ConversationOracle:
    """An oracle over the whole conversation; its tokens are estimated at four characters each."""

    def __init__(self, answering: ConversationReply) -> None:
        self._answering = answering
        self.largest = 0

    def reply(self, request: Request) -> Reply:
        text = self._answering(request.messages)
        prompt = sum(len(message.text) for message in request.messages) // 4
        self.largest = max(self.largest, prompt)
        return Reply(text, Usage(prompt, len(text) // 4), "oracle", source="scripted")


@dataclass(frozen=True)
class Played:
    """One episode: its success, its queries and refusals, and the largest prompt in tokens."""

    task: str
    met: bool
    queries: int
    refusals: int
    largest: int
    finished: Finished


def tasks(level: str, count: int) -> Iterator[tuple[Task, ImportedScene]]:
    """Yield the first tasks of a level, or tasks spread evenly over GraSIF's data sets, with their scenes."""
    if level == "grasif":
        yield from sample_of(grasif_tasks(), count)
        return
    data = DATASETS[level]
    for index, task in enumerate(data.tasks()):
        if index == count:
            return
        yield task, next(data.scenes(task.id.partition("/")[2]))


def sample_of(pairs: list[tuple[Task, ImportedScene]], count: int) -> Iterator[tuple[Task, ImportedScene]]:
    """Return `count` of the pairs, spread evenly."""
    return (pairs[index * len(pairs) // count] for index in range(count))


def play(store: SceneStore, task: Task, scene: ImportedScene, method: str) -> Played:
    """Play one episode in a new scene."""
    name, model = fresh("oracle"), ConversationOracle(ORACLES[method])
    store.put(replace(scene, name=name))
    setting = SessionSetting(
        store, Gate(store.database), store.find(name), task.instruction, method, model=model, budget=Budget(200)
    )
    events = [*prepare_session(setting, recipe_named(method)).run()]
    end = events[-1]
    assert isinstance(end, Finished)
    right = end.answer == task.answer if task.answer else check_goal(store, setting.scene, task.goal).holds
    store.delete(name)
    asked = sum(isinstance(event, Asked | Called) for event in events)
    refused = sum(isinstance(event, Refused) for event in events)
    return Played(task.id, right and end.outcome == "done", asked, refused, model.largest, end)


def table(store: SceneStore, methods: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the table, a row for each method and level."""
    yield "| method | level | solved | queries and calls a task | refused | tokens a task | largest prompt |"
    yield "|---|---|---|---|---|---|---|"
    for method in methods:
        for level, count in LEVELS.items():
            played = [play(store, task, scene, method) for task, scene in tasks(level, count)]
            figures = (
                f"{sum(one.met for one in played)} of {len(played)}",
                f"{mean(one.queries for one in played):.1f}",
                str(sum(one.refusals for one in played)),
                f"{mean(one.finished.usage.total_tokens for one in played):,.0f}",
                f"{max(one.largest for one in played):,}",
            )
            yield f"| `{method}` | {level} | {' | '.join(figures)} |"


def main(uri: str, password: str, *methods: str) -> None:
    """Print the table, using a running server."""
    database = Database(Address(uri, "neo4j", password))
    for line in table(SceneStore(database), methods or ("sg2", "react-sg2")):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""One robot of a fleet, in a process of its own: it visits its homes in turn, and acts and asks in each."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from time import perf_counter
from typing import Final, TypeAlias

from scenecypher.chat.scripted import Scripted, ScriptedReply
from scenecypher.db.connect import connect
from scenecypher.db.gate import Gate
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.retriever.retriever import Retriever
from scenecypher.settings import Settings

TURNS: Final = 12
"""Actions and questions of one visit, as many as a short task takes."""
READY: Final = "ready"

Errand: TypeAlias = tuple[str, str, str]
"""A scene's name and two things in it that open and close."""


@dataclass(slots=True)
class Times:
    """The seconds of each action and each question, and of the first ones of a visit apart."""

    acts: list[float] = field(default_factory=list)
    asks: list[float] = field(default_factory=list)
    first_acts: list[float] = field(default_factory=list)
    first_asks: list[float] = field(default_factory=list)


class Robot:
    """A store and a retriever, kept from home to home as a server process keeps them."""

    def __init__(self, database: Database) -> None:
        self._store, self._gate = SceneStore(database), Gate(database)
        self._enumerator = Enumerator(self._store.replicas)

    def visit(self, errand: Errand, times: Times) -> None:
        """Walk between two things of a home, open and close them, and ask for one of them after each action."""
        name, *things = errand
        info = self._store.find(name)
        simulator = Simulator(self._store, info, actor="robot", fix=True)
        asking = self._question(things[0])
        actions = cycle(f"{action}({thing})" for thing in things for action in ("walk", "open", "close"))
        for turn, action in zip(range(TURNS), actions, strict=False):
            with _timed(times.acts if turn else times.first_acts):
                list(simulator.act(action))
            with _timed(times.asks if turn else times.first_asks):
                asking(simulator.scene)

    def _question(self, thing: str) -> Callable[[SceneInfo], object]:
        """Return a question without the time of a model, whose reply is written already."""
        query = f"MATCH (n:Asset {{name: '{thing}'}}) OPTIONAL MATCH (n)-[:INSIDE]->(p:Place) RETURN n.states, p.name"
        retriever = Retriever(Scripted([ScriptedReply((), query)]), self._gate, self._enumerator)
        return lambda scene: retriever.ask(f"Is {thing} open, and which room is it in?", scene)


def work(robot: Robot, errands: Iterator[Errand], seconds: float) -> Times:
    """Visit homes until the time is over; return the times."""
    times, end = Times(), perf_counter() + seconds
    while perf_counter() < end:
        robot.visit(next(errands), times)
    return times


@contextmanager
def _timed(taken: list[float]) -> Iterator[None]:
    began = perf_counter()
    yield
    taken.append(perf_counter() - began)


def main() -> None:
    """`python -m benchmarks.robot WARM_UP SECONDS`: read errands as JSON, say that it is ready, and print the times.

    Starts with the next line of standard input; times of the warm-up do not count.
    """
    warm_up, seconds = map(float, sys.argv[1:])
    homes: Sequence[Errand] = json.loads(sys.stdin.readline())
    with connect(Settings(), tell=lambda _: None) as database:
        robot, errands = Robot(database), cycle(homes)
        print(READY, flush=True)
        sys.stdin.readline()
        work(robot, errands, warm_up)
        began = perf_counter()
        times = work(robot, errands, seconds)
        spent = perf_counter() - began
    found = {name: getattr(times, name) for name in Times.__slots__}
    print(json.dumps({"seconds": spent, **found}))


if __name__ == "__main__":
    main()

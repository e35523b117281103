"""Breakdown of an action's time into its one statement, in a scene that is kept in memory, and Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from time import perf_counter
from typing import Any, Final, LiteralString

from neo4j import Record

from benchmarks.acting import WARM_UP, action_loop, with_agent_close
from benchmarks.commits import temporary_scene
from benchmarks.comparison import Measurement
from benchmarks.home import make_home
from scenecypher.db.store.connection import NOTHING, Address, Database
from scenecypher.db.store.scene_store import SceneStore

ROUNDS: Final = 200
PARTS: Final = ("the statement", "Python")


class _TimedDatabase(Database):
    """Database that records the time of each statement that is a transaction of its own, in ms."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self.taken: list[float] = []

    def execute(self, text: LiteralString, parameters: Mapping[str, Any] = NOTHING, **options: Any) -> Record | None:
        began = perf_counter()
        record = super().execute(text, parameters, **options)
        self.taken.append((perf_counter() - began) * 1e3)
        return record


def spent(database: Database) -> Iterator[Measurement]:
    """Compare the parts of an action with the whole: medians of each part, so that the shares need not add up to 1."""
    with (
        _TimedDatabase(database.address) as watched,
        temporary_scene(SceneStore(watched), with_agent_close(make_home())) as info,
    ):
        act = action_loop(SceneStore(watched), info)
        rounds: list[tuple[float, ...]] = []
        for _ in range(WARM_UP + ROUNDS):
            watched.taken.clear()
            began = perf_counter()
            act()
            whole = (perf_counter() - began) * 1e3
            rounds.append((whole, *watched.taken, whole - sum(watched.taken)))
    whole, *parts = (median(column) for column in zip(*rounds[WARM_UP:], strict=True))
    for part, took in zip(PARTS, parts, strict=True):
        yield Measurement(f"of an action: {part} (all of it)", took, whole, 1.0)

"""What an action's time is spent on: its two statements, and what is left for Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from time import perf_counter
from typing import Any, Final, LiteralString

from neo4j import Record

from benchmarks.acting import SETTLED, acting, reachable
from benchmarks.frame import Row
from benchmarks.home import home
from benchmarks.writing import scene
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore

ROUNDS: Final = 200
PARTS: Final = ("reading under the lock", "writing", "Python")


class _Watched(Database):
    """Remembers how long each statement took that was a transaction of its own, in ms."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self.taken: list[float] = []

    def run_autocommit(self, text: LiteralString, parameters: Mapping[str, Any], *, timeout_s: float) -> Record | None:
        began = perf_counter()
        record = super().run_autocommit(text, parameters, timeout_s=timeout_s)
        self.taken.append((perf_counter() - began) * 1e3)
        return record


def spent(database: Database) -> Iterator[Row]:
    """The parts of an action beside all of it: each part's median, so that the shares need not add up to 1."""
    with _Watched(database.address) as watched, scene(SceneStore(watched), reachable(home())) as info:
        act = acting(SceneStore(watched), info)
        rounds: list[tuple[float, ...]] = []
        for _ in range(SETTLED + ROUNDS):
            watched.taken.clear()
            began = perf_counter()
            act()
            whole = (perf_counter() - began) * 1e3
            rounds.append((whole, *watched.taken, whole - sum(watched.taken)))
    whole, *parts = (median(column) for column in zip(*rounds[SETTLED:], strict=True))
    for part, took in zip(PARTS, parts, strict=True):
        yield Row(f"of an action: {part} (all of it)", took, whole, 1.0)

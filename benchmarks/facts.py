"""Building the past of a scene: all of its events when it is first asked, and the one since at the next question."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Final

from benchmarks.commits import commit_moves, temporary_scene
from benchmarks.comparison import Measurement
from scenecypher.db.past import build_past
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore

EVENTS: Final = 10_000
ONE_LOAD_S: Final = 5.0


def facts(database: Database) -> Iterator[Measurement]:
    """Compare the first build of 10,000 events with five seconds, and reading on by one event with a tenth of one."""
    store = SceneStore(database)
    with temporary_scene(store) as scene:
        move = commit_moves(store, scene)
        for _ in range(EVENTS):
            move()
        started = perf_counter()
        assert build_past(database, scene).built == EVENTS
        yield Measurement(f"facts: {EVENTS:,} events (5 s)", perf_counter() - started, ONE_LOAD_S, 1.0, unit="s")
        times = []
        for _ in range(20):
            move()
            started = perf_counter()
            build_past(database, scene)
            times.append(perf_counter() - started)
        yield Measurement("facts: one event more (100 ms)", sorted(times)[10], ONE_LOAD_S / 50, 1.0, unit="s")

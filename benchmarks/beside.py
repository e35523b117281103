"""Actions beside askers whose queries cost much: alone, with the slots of the local server, and without."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Final

from benchmarks.acting import action_loop, with_agent_close
from benchmarks.commits import temporary_scene
from benchmarks.comparison import Call, Measurement
from benchmarks.home import make_home
from scenecypher.db.connect import local_slots
from scenecypher.db.gate import Gate, Limits, SceneRef
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore

ASKERS: Final = 6
HEAVY: Final = "MATCH (a:Object)-[:CLOSE]-(b)-[:CLOSE]-(c)-[:CLOSE]-(d) RETURN count(DISTINCT a.name + d.name)"
"""Nine million paths: seconds of work, and accepted."""
WARM_UP, ACTIONS = 300, 60
SETTLE_S: Final = 3.0


def beside(database: Database) -> Iterator[Measurement]:
    """An action beside six askers of heavy queries, who share slots, beside one alone and one without slots."""
    store = SceneStore(database)
    with temporary_scene(store, with_agent_close(make_home())) as acted, temporary_scene(store) as asked:
        act = action_loop(store, acted)
        for _ in range(WARM_UP):
            act()
        alone = _times(act)
        shared = _beside(database, asked, act, slots=local_slots())
        without = _beside(database, asked, act, slots=ASKERS)
    for name, of in (("median", median), ("longest", max)):
        yield Measurement(f"{name} action beside {ASKERS} askers (alone)", of(shared), of(alone), 10.0)
        yield Measurement(f"{name} action beside {ASKERS} askers (without slots)", of(shared), of(without), 1.0)


def _beside(database: Database, asked: SceneInfo, act: Call, *, slots: int) -> list[float]:
    with Database(database.address, slots=slots) as others, _asking(others, asked) as answered:
        sleep(SETTLE_S)
        before, began = len(answered), perf_counter()
        times = _times(act)
        seconds = perf_counter() - began
    found = len(answered) - before
    print(f"{slots} slots: {len(times)} actions and {found} answers in {seconds:.1f} s", file=sys.stderr)
    return times


@contextmanager
def _asking(database: Database, asked: SceneInfo) -> Iterator[list[float]]:
    """Ask heavy queries from six threads while the block runs; yields the seconds of each that was answered."""
    gate, done = Gate(database, limits=Limits(seconds=300)), Event()
    ref = SceneRef.of(asked)
    answered: list[float] = []

    def ask() -> None:
        while not done.is_set():
            answered.append(gate.run(HEAVY, ref).seconds)

    threads = [Thread(target=ask) for _ in range(ASKERS)]
    for thread in threads:
        thread.start()
    try:
        yield answered
    finally:
        done.set()
        for thread in threads:
            thread.join()


def _times(act: Call) -> list[float]:
    """Return what each action took, in ms."""
    times = []
    for _ in range(ACTIONS):
        began = perf_counter()
        act()
        times.append((perf_counter() - began) * 1_000)
    return times

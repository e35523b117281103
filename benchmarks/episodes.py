"""Overhead of Inspect and ours around an episode, and the gain from eight parallel episodes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, thread_time
from typing import Any, Final

from pydantic import SecretStr

from benchmarks.comparison import Measurement
from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Database
from scenecypher.evaluation.episodes import episodes_task
from scenecypher.evaluation.experiment import Experiment
from scenecypher.evaluation.grasif import grasif
from scenecypher.evaluation.replies import ModelSource
from scenecypher.evaluation.running import RunOptions, run_task
from scenecypher.evaluation.world_pool import World, WorldPool
from scenecypher.settings import Settings
from tests.oracle import provider

OVERHEAD_MS: Final = 50.0
FASTER: Final = 1.6
REPLY_S: Final = 0.2
TASKS: Final = 4
ROUNDS: Final = 5
METHODS: Final = "lookplangraph,lookplangraph+full-graph"
"""Two rows of four tasks, which are eight episodes."""


def episodes(database: Database) -> Iterator[Measurement]:
    """Measure a sample's overhead, and compare eight parallel episodes with one, with a model of 200 ms a reply."""
    assert provider.PROGRAMS
    made = grasif.plan(data="behavior-1k", methods=METHODS, wording="goal", limit=TASKS)
    pool = _TimedPool(_settings(database))
    for at_once in (1, 8):
        _played_s(made, pool, at_once=at_once)  # imports scenes, makes copies and beliefs
    try:
        yield from _overhead(made, pool)
        yield _parallel_episodes(made, pool)
    finally:
        pool.close()


class _TimedPool(WorldPool):
    """Pool that sums the thread time of its worlds, and records it at the end of each.

    `ends` has, for each world that ended, the processor time of the process, within worlds, and for leases and resets.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._within_s = self._copy_s = 0.0
        self.ends: list[tuple[float, float, float]] = []

    @contextmanager
    def world(self, scene: ImportedScene, *, belief: bool, moved: Delta | None = None) -> Iterator[World]:
        began = thread_time()
        with super().world(scene, belief=belief, moved=moved) as world:
            entered = thread_time()
            yield world
            left = thread_time()
        self._within_s += left - entered
        self._copy_s += thread_time() - began - (left - entered)
        self.ends.append((process_time(), self._within_s, self._copy_s))


def _overhead(made: Experiment, pool: _TimedPool) -> Iterator[Measurement]:
    """Measure processor time from the end of one episode to the end of the next, without the episode's own.

    The time of its copy is separate, since a bare episode needs it too. The program that acts as model counts as
    Inspect's time.
    """
    rounds = [_between_s(made, pool) for _ in range(ROUNDS)]
    inspect, copy = (median(column) * 1_000 for column in zip(*rounds, strict=True))
    yield Measurement("harness, processor time per sample", inspect, OVERHEAD_MS, 1.0)
    yield Measurement("lease and reset of its copies, likewise", copy, OVERHEAD_MS, 1.0)


def _between_s(made: Experiment, pool: _TimedPool) -> tuple[float, float]:
    """Return a round's means in seconds: outside leased copies, and for the copies."""
    pool.ends.clear()
    _played_s(made, pool, at_once=1)
    spent, within, copy = (
        (last - first) / (len(pool.ends) - 1) for first, last in zip(pool.ends[0], pool.ends[-1], strict=True)
    )
    return spent - within - copy, copy


def _parallel_episodes(made: Experiment, pool: WorldPool) -> Measurement:
    eight, one = (_played_s(made, pool, at_once=count, delay_s=REPLY_S) for count in (8, 1))
    return Measurement("8 episodes at once, replies of 200 ms", eight, one, 1 / FASTER, unit="s")


def _played_s(
    made: Experiment,
    pool: WorldPool,
    *,
    at_once: int,
    delay_s: float = 0.0,
) -> float:
    from inspect_ai.model import get_model

    model: Any = get_model("oracle/lookplangraph", delay_s=delay_s)
    task = episodes_task(made, ModelSource(), pool=pool)
    with TemporaryDirectory() as folder:
        began = perf_counter()
        log = run_task(task, RunOptions(model, at_once=at_once, log_dir=folder))
        spent = perf_counter() - began
        assert log.status == "success", log.error
        assert all(sample.error is None for sample in log.samples or ())
    return spent


def _settings(database: Database) -> Settings:
    address = database.address
    return Settings(
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=SecretStr(address.password),
        neo4j_database=address.database,
    )

"""What Inspect and we take around an episode, and what it brings to play eight of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, Final

from pydantic import SecretStr

from benchmarks.frame import Row
from chat.model import Reply, Request, Usage
from db.connection import Database
from evaluation.episodes import episodes_task
from evaluation.experiment import Experiment
from evaluation.grasif import experiment
from evaluation.playing import play
from evaluation.replies import Replies
from evaluation.running import Run, run
from evaluation.stage import Stage
from scenecypher.settings import Settings
from tests.oracle import lookplangraph, provider

OVERHEAD_MS: Final = 50.0
FASTER: Final = 1.6
REPLY_S: Final = 0.2
TASKS: Final = 4
FEW: Final = 2
METHODS: Final = "lookplangraph,lookplangraph+full-graph"
"""Two rows of four tasks: eight episodes."""


def episodes(database: Database) -> Iterator[Row]:
    """A sample's overhead over the bare episode, and eight at a time beside one, by a model of 200 ms a reply."""
    assert provider.PROGRAMS
    made = experiment(data="behavior-1k", methods=METHODS, wording="goal", limit=TASKS)
    stage = Stage(_settings(database))
    _bare_s(made, stage)  # scenes are imported, copies and beliefs are made
    _played_s(made, stage, at_once=8)
    try:
        yield _overhead(made, stage)
        yield _side_by_side(made, stage)
    finally:
        stage.close()


def _overhead(made: Experiment, stage: Stage) -> Row:
    """Processor time of one more sample, without the run's beginning and end, beside that of one more bare episode."""
    count = len([*made.episodes()])
    more = count - FEW
    spent = [
        (_processor_s(made, stage, count) - _processor_s(made, stage, FEW)) - (_bare_s(made, stage, start=FEW))
        for _ in range(3)
    ]
    return Row("harness, processor time per sample", median(spent) * 1_000 / more, OVERHEAD_MS, 1.0)


def _side_by_side(made: Experiment, stage: Stage) -> Row:
    eight, one = (_played_s(made, stage, at_once=count, delay_s=REPLY_S) for count in (8, 1))
    return Row("8 episodes at once, replies of 200 ms", eight, one, 1 / FASTER, unit="s")


def _bare_s(made: Experiment, stage: Stage, *, start: int = 0) -> float:
    """Processor time of the episodes from `start` on, one by one without Inspect."""
    began = process_time()
    for episode in list(made.episodes())[start:]:
        play(stage, made.book, episode, model=Program())
    return process_time() - began


def _processor_s(made: Experiment, stage: Stage, limit: int) -> float:
    return _played_s(made, stage, at_once=1, limit=limit, clock=process_time)


def _played_s(
    made: Experiment,
    stage: Stage,
    *,
    at_once: int,
    delay_s: float = 0.0,
    limit: int | None = None,
    clock: Callable[[], float] = perf_counter,
) -> float:
    from inspect_ai.model import get_model

    model: Any = get_model("oracle/lookplangraph", delay_s=delay_s)
    task = episodes_task(made, Replies(), stage=stage)
    with TemporaryDirectory() as folder:
        began = clock()
        log = run(task, Run(model, limit, at_once=at_once, log_dir=folder))
        spent = clock() - began
        assert log.status == "success", log.error
        assert all(sample.error is None for sample in log.samples or ())
    return spent


class Program:
    """The oracle without Inspect."""

    def reply(self, request: Request) -> Reply:
        """What the program answers."""
        text = lookplangraph.reply(request.messages[0].text, request.messages[-1].text)
        return Reply(text, Usage(), "oracle", source="scripted")


def _settings(database: Database) -> Settings:
    address = database.address
    return Settings(
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=SecretStr(address.password),
        neo4j_database=address.database,
    )

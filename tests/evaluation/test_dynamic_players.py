"""`dynamic` tells players apart: one that replays the plan from before the move, and one that looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from scenecypher.chat.model import Model, Reply, Request, Usage
from scenecypher.evaluation import dynamic
from scenecypher.evaluation.episode import EpisodePlan
from scenecypher.evaluation.episodes import success_figure
from scenecypher.evaluation.measures import figures
from scenecypher.evaluation.playing import play
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.importers.datasets import reference_plans
from tests.oracle.lookplangraph import reply

pytestmark = pytest.mark.usefixtures("server_settings")

TASKS: Final = 4


class Player:
    """Program as a model: of the task's plan, or of the last prompt."""

    def __init__(self, program: Callable[[Request], str]) -> None:
        self._program = program

    def reply(self, request: Request) -> Reply:
        return Reply(self._program(request), Usage(1, 1), "player", source="scripted")


def looking(row: EpisodePlan) -> Model:
    del row
    return Player(lambda request: reply(request.messages[0].text, request.messages[-1].text))


def replaying(row: EpisodePlan) -> Model:
    return Player(lambda _: f"Solution: [{', '.join(reference_plans()[row.task])}]")


@pytest.mark.parametrize(
    ("method", "player", "solved"),
    [("zero-shot", replaying, 0), ("lookplangraph-gt", looking, TASKS)],
    ids=["replays the plan", "looks"],
)
def test_who_knows_an_earlier_place_alone_does_not_get_there(
    method: str, player: Callable[[EpisodePlan], Model], solved: int
) -> None:
    """Kind of fault: walking to a thing by its id works wherever it is, so that a move hurts nobody."""
    made = dynamic.dynamic.plan(data="behavior", methods=method, wording="goal")
    moved = [row for row in made.episodes() if row.moved]
    chosen = moved[:: max(1, len(moved) // TASKS)][:TASKS]
    assert len(chosen) == TASKS
    pool = WorldPool()
    try:
        traces = [play(pool, made.assignments, row, model=player(row)) for row in chosen]
    finally:
        pool.close()
    won = [figures(row, trace)[success_figure(row)] for row, trace in zip(chosen, traces, strict=True)]
    assert sum(won) == solved, [(row.task, trace.reason) for row, trace in zip(chosen, traces, strict=True)]


@pytest.mark.parametrize("method", ["zero-shot"])
def test_where_nothing_moved_the_plan_gets_there(method: str) -> None:
    made = dynamic.dynamic.plan(data="behavior", methods=method, wording="goal")
    row = next(row for row in made.episodes() if not row.moved)
    pool = WorldPool()
    try:
        trace = play(pool, made.assignments, row, model=replaying(row))
    finally:
        pool.close()
    assert figures(row, trace)[success_figure(row)] == 1

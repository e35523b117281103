"""`scenecypher eval grasif`: LookPlanGraph's tables IV and V."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from scenecypher.cli.evaluate_episodes import (
    Asked,
    Limit,
    Logs,
    Methods,
    ModelName,
    Record,
    Replies,
    Resume,
    Steps,
    Workers,
    played,
)
from scenecypher.cli.scenes import AsJson


def grasif(
    *,
    data: Annotated[
        str, typer.Option("--data", help="all, or some of sayplan-office,behavior-1k,robothow,ablations.")
    ] = "all",
    wording: Annotated[
        Literal["source", "goal"],
        typer.Option("--wording", help="Instructions of the data set, or goals in words, where these tell all."),
    ] = "source",
    model: ModelName = None,
    replies: Replies = None,
    record: Record = None,
    method: Methods = None,
    limit: Limit = 0,
    workers: Workers = 4,
    steps: Steps = 0,
    logs: Logs = None,
    resume: Resume = None,
    as_json: AsJson = False,
) -> None:
    """Play GraSIF's tasks by the methods that LookPlanGraph compares, and by its ablations."""
    told = Asked(model, replies, record, tuple(method or ()), limit, workers, steps, logs, resume, as_json)
    played("grasif", {"data": data, "wording": wording}, told)

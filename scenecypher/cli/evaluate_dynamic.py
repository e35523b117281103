"""`scenecypher eval dynamic`: LookPlanGraph's table II."""

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


def dynamic(
    *,
    data: Annotated[str, typer.Option("--data", help="all, or some of virtualhome,behavior.")] = "all",
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Also LookPlanGraph and ReAct with an observer that errs, by a seed.")
    ] = False,
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
    """Play tasks in worlds where things were moved since they were seen."""
    told = Asked(model, replies, record, tuple(method or ()), limit, workers, steps, logs, resume, as_json)
    played("dynamic", {"data": data, "wording": wording, "simulated": simulated}, told)

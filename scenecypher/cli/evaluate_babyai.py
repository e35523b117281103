"""`scenecypher eval babyai`: SG2's tables 1 and 3, SG-RwR's tables 1 and 3."""

from __future__ import annotations

from typing import Annotated

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


def babyai(
    *,
    data: Annotated[str, typer.Option("--data", help="all, or some of numqa,trv1,trv2.")] = "all",
    tables: Annotated[str, typer.Option("--tables", help="all, or some of sg2-1,sg2-3,sg-rwr-1,sg-rwr-3.")] = "all",
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
    """Play BabyAI's questions and traversals by the methods of SG2 and SG-RwR."""
    told = Asked(model, replies, record, tuple(method or ()), limit, workers, steps, logs, resume, as_json)
    played("babyai", {"data": data, "tables": tables}, told)

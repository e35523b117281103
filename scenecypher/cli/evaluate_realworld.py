"""`scenecypher eval realworld`: LookPlanGraph's section VII-E."""

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


def realworld(
    *,
    hands: Annotated[
        Literal["scripted", "person"],
        typer.Option(
            "--hands", help="Who acts and looks: the simulator, or a person at this terminal, one task at a time."
        ),
    ] = "scripted",
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
    """Play our office's tasks, by a person's hands and eyes or scripted."""
    told = Asked(
        model,
        replies,
        record,
        tuple(method or ()),
        limit,
        1 if hands == "person" else workers,
        steps,
        logs,
        resume,
        as_json,
    )
    played("realworld", {"hands": hands, "wording": wording}, told)

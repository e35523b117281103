"""`scenecypher eval household`: SG2's and SG-RwR's tables 2."""

from __future__ import annotations

from pathlib import Path
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


def household(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="A home, or a folder of homes; none is our two.")
    ] = None,
    *,
    wording: Annotated[
        Literal["states", "source"],
        typer.Option("--wording", help="Tasks as desired states, as in the papers, or in words."),
    ] = "states",
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
    """Play household tasks in our homes, or in those of a folder in VirtualHome's form."""
    told = Asked(model, replies, record, tuple(method or ()), limit, workers, steps, logs, resume, as_json)
    played("household", {"folder": str(folder.resolve()) if folder else "", "wording": wording}, told)

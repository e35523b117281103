"""`scenecypher eval augmentation`: pictures with gold subgraphs, read by a model and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenecypher.cli.context import print_json, tell
from scenecypher.cli.result_view import show_result
from scenecypher.cli.scenes import AsJson
from scenecypher.errors import InputError


def augmentation(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]", help="A folder of views with gold; none is the rendered ones that come along."
        ),
    ] = None,
    *,
    model: Annotated[
        str | None, typer.Option("--model", help="As Inspect names it; one that takes pictures. None asks no model.")
    ] = None,
    replies: Annotated[
        Path | None, typer.Option("--replies", metavar="CASSETTE", help="Score these recorded replies instead.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="CASSETTE", help="Record the model's replies in a new file.")
    ] = None,
    simulated: Annotated[
        int | None, typer.Option("--simulated", metavar="SEED", help="A simulated observer with seeded mistakes.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many pictures.")] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="How many of them at a time.")] = 4,
    logs: Annotated[str | None, typer.Option("--log-dir", help="Where log and result go (./logs).")] = None,
    as_json: AsJson = False,
) -> None:
    """Read pictures into subgraphs and compare them with gold. Without a model: the gold, as one would tell it."""
    from evaluation.running import Run, check_installed, run

    check_installed()
    chosen = _chosen(model, replies, simulated)
    if record is not None and model is None:
        raise InputError("there is nothing to record without a model; name one with --model")
    from evaluation.augmentation import augmentation as task
    from evaluation.augmentation_report import result
    from evaluation.result import result_path, write

    made = task(folder=str(folder or ""), replies=chosen, record=str(record or ""), seed=simulated or 0)
    tell("looking; each picture is a sample in Inspect's log…")
    found = result(run(made, Run(model, limit, at_once=workers, log_dir=logs)))
    write(found, result_path(found.provenance.log))
    print_json(found.model_dump(mode="json")) if as_json else show_result(found)
    if not found.finished:
        raise typer.Exit(2)


def _chosen(model: str | None, replies: Path | None, simulated: int | None) -> str:
    given = {"--model": model, "--replies": replies, "--simulated": simulated}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InputError(f"{' and '.join(named)} are two ways to look; give one of them")
    if replies is not None:
        return str(replies)
    return "live" if model else "reference" if simulated is None else "simulated"

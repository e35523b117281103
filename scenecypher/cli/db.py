"""`scenecypher db`: start, stop and inspect the database server; clean its space."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scenecypher.cli.browser import browser, configured, connected_facts, local_facts, named_facts, waiting
from scenecypher.cli.context import counted, open_database, progress_bar, say, show
from scenecypher.cli.options import AsJson, option
from scenecypher.cli.scene_files import backup, restore

NOT_RUNNING, UNUSABLE = 1, 2
DAY_S = 86_400

db_app = typer.Typer(
    name="db",
    help="The database server: a local Neo4j, started on first use and left running, unless NEO4J_URI names one.",
    no_args_is_help=True,
)
db_app.command()(backup)
db_app.command()(restore)
db_app.command()(browser)


@db_app.command()
def start(*, as_json: AsJson = False) -> None:
    """Start the local server, or check that the one at NEO4J_URI answers."""
    settings = configured()
    with waiting() as tell:
        facts = connected_facts(settings, tell=tell)
    _show(facts, as_json=as_json)


@db_app.command()
def stop() -> None:
    """Stop the local server; its data stay and are there after the next start."""
    from scenecypher.db import local

    with waiting() as tell:
        tell("stopping the local server…")
        stopped = local.stop(configured(), tell=tell)
    say("stopped; all data are kept" if stopped else "no local server was running")


@db_app.command()
def status(*, as_json: AsJson = False) -> None:
    """Show the configured server, its state, and where its files are.

    Exit code 1 if none runs, 2 if one can't be used.
    """
    settings = configured()
    facts = named_facts(settings) if settings.neo4j_uri else local_facts(settings)
    _show(facts, as_json=as_json)
    if not facts["running"]:
        raise typer.Exit(UNUSABLE if "problem" in facts else NOT_RUNNING)


@db_app.command()
def clean(
    *,
    grace_s: Annotated[
        float, option("--grace", "SECONDS", "Keep what was replaced or left since then.", min=0)
    ] = 3_600,
    as_json: AsJson = False,
) -> None:
    """Free the space of deleted and replaced scenes, unfinished imports, cached and leased copies, and old runs.

    A replaced scene with a history or with runs, and runs, are kept for SCENECYPHER_KEEP_DAYS (365), of runs the last
    SCENECYPHER_KEEP_RUNS (10,000).
    """
    from scenecypher.db.store.runs import delete_expired

    with open_database() as database, progress_bar("cleaning") as progress:
        settings, store = database.settings, database.store
        runs = delete_expired(store.database, keep_days=settings.keep_days, keep_runs=settings.keep_runs)
        keep_s = settings.keep_days * DAY_S
        cleaned = store.delete_leftovers(grace_s=grace_s, keep_s=keep_s, progress=progress)
    said = f"{counted(cleaned, 'scene')} removed" + (f", {counted(runs, 'run')} too" if runs else "")
    show({"cleaned": cleaned, "runs": runs}, said, as_json=as_json)


def _show(facts: dict[str, Any], *, as_json: bool) -> None:
    words = {name: ("no", "yes")[it] if isinstance(it, bool) else str(it) for name, it in facts.items()}
    lines = [f"{name.replace('_', ' '):14} {it}" for name, it in words.items()]
    if facts["server"] == "local" and not facts["running"] and "problem" not in facts:
        lines.append("It starts when it is needed, or now with `scenecypher db start`.")
    show(facts, *lines, as_json=as_json)

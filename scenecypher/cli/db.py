"""`scenecypher db`: start, stop and inspect the database server; clean its space."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from scenecypher.cli.archives import backup, restore
from scenecypher.cli.context import counted, errors, open_database, output, print_json, progress_bar
from scenecypher.cli.waits import LINE
from scenecypher.errors import ServiceError

if TYPE_CHECKING:
    from scenecypher.db.store.connection import Address
    from scenecypher.settings import Settings

NOT_RUNNING, UNUSABLE = 1, 2
DAY_S = 86_400
TELL_BROWSER = "Enter the user name and the password there; `:help` and `MATCH (n:Entity) RETURN n LIMIT 50` to begin."

db_app = typer.Typer(
    name="db",
    help="The database server: a local Neo4j, started on first use and left running, unless NEO4J_URI names one.",
    no_args_is_help=True,
)
db_app.command()(backup)
db_app.command()(restore)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@db_app.command()
def start(*, as_json: AsJson = False) -> None:
    """Start the local server, or check that the one at NEO4J_URI answers."""
    settings = _settings()
    with _waiting() as tell:
        facts = _connected_facts(settings, tell=tell)
    _show(facts, as_json=as_json)


@db_app.command()
def stop() -> None:
    """Stop the local server; its data stay and are there after the next start."""
    from scenecypher.db import local

    with _waiting() as tell:
        tell("stopping the local server…")
        stopped = local.stop(_settings(), tell=tell)
    output().print("stopped; all data are kept" if stopped else "no local server was running")


@db_app.command()
def status(*, as_json: AsJson = False) -> None:
    """Show the configured server, its state, and where its files are.

    Exit code 1 if none runs, 2 if one can't be used.
    """
    settings = _settings()
    facts = _named_facts(settings) if settings.neo4j_uri else _local_facts(settings)
    _show(facts, as_json=as_json)
    if not facts["running"]:
        raise typer.Exit(UNUSABLE if "problem" in facts else NOT_RUNNING)


@db_app.command()
def browser(*, open_it: Annotated[bool, typer.Option("--open", help="Open it in a web browser too.")] = False) -> None:
    """Show the address of Neo4j Browser and how to log in."""
    settings = _settings()
    with _waiting() as tell:
        facts = _connected_facts(settings, tell=tell)
    url = facts.get("browser") or f"http://{urlsplit(facts['uri']).hostname}:7474/browser/"
    out = output()
    out.print(f"Neo4j Browser  {url}", markup=False)
    out.print(f"server         {facts['uri']}", markup=False)
    out.print(f"user           {facts['username']}", markup=False)
    out.print(f"password       {_password_place(facts)}", markup=False)
    out.print(TELL_BROWSER, markup=False)
    if open_it and not webbrowser.open(url):
        errors().print("no web browser could be opened here; open the address yourself")


@db_app.command()
def clean(
    *,
    grace_s: Annotated[
        float, typer.Option("--grace", metavar="SECONDS", min=0, help="Keep what was replaced or left since then.")
    ] = 3_600,
    as_json: AsJson = False,
) -> None:
    """Free the space of deleted and replaced scenes, unfinished imports, cached copies of earlier states, and old runs.

    A replaced scene with a history or with runs, and runs, are kept for SCENECYPHER_KEEP_DAYS (365), of runs the last
    SCENECYPHER_KEEP_RUNS (10,000).
    """
    from scenecypher.db.store.runs import delete_expired

    with open_database() as database, progress_bar("cleaning") as progress:
        settings, store = database.settings, database.store
        runs = delete_expired(store.database, keep_days=settings.keep_days, keep_runs=settings.keep_runs)
        keep_s = settings.keep_days * DAY_S
        cleaned = store.delete_leftovers(grace_s=grace_s, keep_s=keep_s, progress=progress)
    if as_json:
        print_json({"cleaned": cleaned, "runs": runs})
    else:
        output().print(f"{counted(cleaned, 'scene')} removed" + (f", {counted(runs, 'run')} too" if runs else ""))


def _settings() -> Settings:
    from scenecypher.settings import Settings

    return Settings()


@contextmanager
def _waiting() -> Iterator[Callable[[str], None]]:
    """Show a spinner on standard error with the latest message; yield a function that sets it."""
    console = errors()
    with LINE.hidden(), console.status("looking at the server…") as spinner:

        def tell(line: str) -> None:
            spinner.update(line)
            if not console.is_terminal:
                console.print(line, markup=False)

        yield tell


def _connected_facts(settings: Settings, *, tell: Callable[[str], None]) -> dict[str, Any]:
    """Connect to the configured server, starting a local one; return its facts. Raises DatabaseUnavailable."""
    from scenecypher.db.connect import connect

    with connect(settings, tell=tell):
        return _named_facts(settings) if settings.neo4j_uri else _local_facts(settings)


def _local_facts(settings: Settings) -> dict[str, Any]:
    from scenecypher.db import local
    from scenecypher.db.store.connection import Address

    files = local.ServerHome.of(settings)
    facts: dict[str, Any] = {
        "server": "local",
        "running": False,
        "home": str(files.root),
        "log": str(files.log),
        "password_file": str(files.password_file),
    }
    server = local.status(settings)
    if server is None:
        return facts
    ours = {"uri": server.uri, "browser": server.browser, "username": server.username, "pid": server.pid}
    return facts | ours | _probe(Address(server.uri, server.username, server.password))


def _named_facts(settings: Settings) -> dict[str, Any]:
    from scenecypher.db.connect import address_of

    address = address_of(settings, tell=lambda _: None)
    facts = {"server": "NEO4J_URI", "uri": address.uri, "username": address.username, "database": address.database}
    return facts | _probe(address)


def _probe(address: Address) -> dict[str, Any]:
    """Return the version and edition of a server that answers, else the problem."""
    from scenecypher.db.store.connection import Database

    with Database(address) as database:
        try:
            info = database.verify()
        except ServiceError as error:
            return {"running": False, "problem": str(error)}
    return {"running": True, "version": info.version, "edition": info.edition}


def _show(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    out = output()
    for name, value in facts.items():
        words = ("no", "yes")[value] if isinstance(value, bool) else str(value)
        out.print(f"{name.replace('_', ' '):14} {words}", markup=False)
    if facts["server"] == "local" and not facts["running"] and "problem" not in facts:
        out.print("It starts when it is needed, or now with `scenecypher db start`.", markup=False)


def _password_place(facts: dict[str, Any]) -> str:
    return f"in the file {facts['password_file']}" if "password_file" in facts else "that of NEO4J_PASSWORD"

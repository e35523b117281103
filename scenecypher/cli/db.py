"""`scenecypher db`: start, stop and inspect the server; clean its space; Neo4j Browser with a view of a scene."""

from __future__ import annotations

import secrets
import webbrowser
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import typer

from scenecypher.cli.context import (
    LINE,
    errors,
    open_database,
    open_store,
    print_line,
    progress_bar,
    say,
    show,
    tell,
    warn,
)
from scenecypher.cli.options import AsJson, option, scene_names
from scenecypher.cli.scene_files import backup, restore
from scenecypher.errors import InputError, ServiceError
from scenecypher.files import write_files
from scenecypher.wording import counted

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

    from scenecypher.db.browser.views import Wanted
    from scenecypher.db.store.connection import Address
    from scenecypher.settings import Settings

View = Literal["overview", "room", "robot", "version", "run", "belief"]
HOW_TO = "Type the password there and connect; --scene NAME brings a query of a scene along."
HOW_TO_RUN = "Type the password there, connect, and run the query in the editor with Ctrl+Enter."
BY_HAND: Final = """This server does not set Browser up. Once, in Browser:
  run :{config}
  drop the file that `scenecypher db browser --style scenecypher.grass` writes onto it"""
SLIDE: Final = """<slide class="row-fluid"><div class="col-sm-12">
<h3>{title}</h3>
<figure><pre mode="cypher" class="pre-scrollable programlisting cm-s-neo code runnable">{query}</pre></figure>
</div></slide>
"""
PAGE: Final = """<article class="guide">
<title>{title}</title>
<carousel class="deck container-fluid">
{slides}</carousel>
</article>
"""
NOT_RUNNING, UNUSABLE = 1, 2
DAY_S = 86_400

db_app = typer.Typer(
    name="db",
    help="The database server: a local Neo4j, started on first use and left running, unless NEO4J_URI names one.",
    no_args_is_help=True,
)
db_app.command()(backup)
db_app.command()(restore)


def configured() -> Settings:
    """Return the settings of the environment."""
    from scenecypher.settings import Settings

    return Settings()


@contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """Show a spinner on standard error with the latest message; yield a function that sets it."""
    console = errors()
    with LINE.hidden(), console.status("looking at the server…") as spinner:

        def tell(line: str) -> None:
            spinner.update(line)
            if not console.is_terminal:
                warn(line)

        yield tell


def connected_facts(settings: Settings, *, tell: Callable[[str], None]) -> dict[str, Any]:
    """Connect to the configured server, starting a local one; return its facts. Raises DatabaseUnavailable."""
    from scenecypher.db.connect import connect

    with connect(settings, tell=tell):
        return named_facts(settings) if settings.neo4j_uri else local_facts(settings)


def local_facts(settings: Settings) -> dict[str, Any]:
    """Return the facts of the local server, whether it runs or not."""
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
    return facts | ours | probe(Address(server.uri, server.username, server.password))


def named_facts(settings: Settings) -> dict[str, Any]:
    """Return the facts of the server at NEO4J_URI."""
    from scenecypher.db.connect import address_of

    address = address_of(settings, tell=lambda _: None)
    facts = {"server": "NEO4J_URI", "uri": address.uri, "username": address.username, "database": address.database}
    return facts | probe(address)


def probe(address: Address) -> dict[str, Any]:
    """Return the version and edition of a server that answers and its copies for episodes, else the problem."""
    from scenecypher.db.store.connection import Database
    from scenecypher.db.store.lease import count_copies

    with Database(address) as database:
        try:
            info = database.verify()
            copies = count_copies(database)
        except ServiceError as error:
            return {"running": False, "problem": str(error)}
    return {"running": True, "version": info.version, "edition": info.edition, **copies}


@db_app.command()
def browser(
    *,
    scene: Annotated[
        str | None, option("--scene", "NAME", "Bring a query of this scene.", autocompletion=scene_names)
    ] = None,
    view: Annotated[View | None, option("--view", "What of the scene to show; else its overview.")] = None,
    room: Annotated[str | None, option("--room", "ROOM", "A room by id, name or class; else the robot's.")] = None,
    version: Annotated[
        int | None, option("--version", "N", "The version whose change to show; else the last.", min=1)
    ] = None,
    run: Annotated[int | None, option("--run", "N", "A run by its number; else the scene's last.", min=1)] = None,
    style: Annotated[Path | None, option("--style", "FILE", "Write the style, to be dropped onto Browser.")] = None,
    queries: Annotated[
        Path | None, option("--queries", "FILE", "Write saved queries of the scene, a zip to be dropped likewise.")
    ] = None,
    guide: Annotated[
        bool, option("--guide", "Serve a guide with the queries of the scene, for Browser, until Ctrl-C.")
    ] = False,
    at: Annotated[str | None, option("--at", "URL", "Where Browser is; else at the server's usual port.")] = None,
    open_it: Annotated[bool, option("--open", "Open it in a web browser too.")] = False,
) -> None:
    """Show the address of Neo4j Browser, with the server and a view of a scene filled in, and how to log in.

    --room, --version and --run choose their views too.
    """
    from scenecypher.db.browser.views import Wanted, browser_of, filled_in

    wanted = Wanted(room, version, run)
    chosen = _view_of(scene, view, wanted, with_queries=guide or queries is not None)
    with waiting() as report:
        facts = connected_facts(configured(), tell=report)
    text, is_styled = _prepared(scene, chosen, wanted)
    base = at or facts.get("browser") or browser_of(facts["uri"])
    database = facts.get("database", "neo4j")
    url = filled_in(base, uri=facts["uri"], username=facts["username"], database=database, text=text)
    _write_files(style, queries, scene or "")
    password = f"in the file {facts['password_file']}" if "password_file" in facts else "that of NEO4J_PASSWORD"
    say(f"Neo4j Browser  {url}", is_whole=True)
    say(f"server         {facts['uri']}\nuser           {facts['username']}\npassword       {password}")
    say(HOW_TO_RUN if text else HOW_TO)
    if not is_styled:
        from scenecypher.db.browser.style import CONFIG

        say(BY_HAND.format(config=CONFIG))
    if open_it and not webbrowser.open(url):
        warn("no web browser could be opened here; open the address yourself")
    if guide:
        _serve_guide(scene or "", base)


def _view_of(scene: str | None, view: View | None, wanted: Wanted, *, with_queries: bool) -> View:
    """Return the view that is asked for. Raises InputError for options that don't go together."""
    named: dict[View, object] = {"room": wanted.room, "version": wanted.version, "run": wanted.run}
    given: list[View] = [name for name, value in named.items() if value is not None]
    usual: View = given[0] if given else "overview"
    chosen = view or usual
    other = next((name for name in given if name != chosen), None)
    if other:
        raise InputError(f"--{other} is for --view {other}; leave one of them out")
    if scene is None and (view or given or with_queries):
        raise InputError("which scene? Give --scene NAME, as `scenecypher scenes list` shows it")
    return chosen


def _prepared(scene: str | None, view: View, wanted: Wanted) -> tuple[str, bool]:
    """Return the query to fill in, empty without a scene, and whether this server tells Browser our style."""
    from scenecypher.db.browser.views import chosen_value, find_present, tells_style, view_query

    with open_store() as store:
        is_styled = tells_style(store.database)
        if scene is None:
            return "", is_styled
        found = find_present(store.database, scene)
        value = chosen_value(store.database, found, view, wanted)
    return view_query(view, found.name, value), is_styled


def _write_files(style: Path | None, queries: Path | None, scene: str) -> None:
    from scenecypher.db.browser.style import grass
    from scenecypher.db.browser.views import saved_queries

    files = dict[Path, str | bytes]()
    if style is not None:
        files[style] = grass()
    if queries is not None:
        files[queries] = saved_queries(scene)
    write_files(files)
    for file in files:
        tell(f"wrote {file}")


def _serve_guide(scene: str, browser: str) -> None:
    """Serve the guide of a scene until Ctrl-C."""
    from scenecypher.db.browser.views import titled_queries

    parts = urlsplit(browser)
    server, url = guide_server(
        guide_page(scene, titled_queries(scene)), browser_origin=f"{parts.scheme}://{parts.netloc}"
    )
    with server:
        print_line(f"A guide, until Ctrl-C: run :guide {url}")
        server.serve_forever()


def guide_page(title: str, queries: Iterable[tuple[str, str]]) -> str:
    """Return a guide as Browser shows it: a slide for each query, given as (title, query)."""
    slides = "".join(SLIDE.format(title=escape(name), query=escape(query)) for name, query in queries)
    return PAGE.format(title=escape(title), slides=slides)


def guide_server(page: str, *, browser_origin: str) -> tuple[ThreadingHTTPServer, str]:
    """Return a server of one guide that pages of Browser may read, and its address, which nobody else knows.

    Browser takes guides from the host name ``localhost``, unless the server's settings say otherwise.
    """
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    path = f"/{secrets.token_urlsafe(16)}.html"

    class Guide(BaseHTTPRequestHandler):
        def do_OPTIONS(self) -> None:
            """Allow the request that Browser is about to send."""
            self.answer(204)

        def do_GET(self) -> None:
            """Answer with the page, at its address only."""
            is_ours = secrets.compare_digest(self.path.encode(), path.encode())
            self.answer(200 if is_ours else 404, page.encode() if is_ours else b"")

        def answer(self, status: int, body: bytes = b"") -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Access-Control-Allow-Origin", browser_origin)
            self.send_header("Access-Control-Allow-Headers", "*")  # which ones Browser adds differs
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the standard library
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Guide)
    return server, f"http://localhost:{server.server_port}{path}"


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

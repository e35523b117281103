"""`scenecypher db browser`: Neo4j Browser with the server, a view of a scene, and a style."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

import typer

from scenecypher.cli.completion import scene_names
from scenecypher.cli.context import errors, open_store, output, print_line, tell
from scenecypher.cli.server import configured, connected_facts, password_place, waiting
from scenecypher.errors import InputError
from scenecypher.files import write_files

if TYPE_CHECKING:
    from scenecypher.db.browser.choose import Wanted

View = Literal["overview", "room", "robot", "version", "run", "belief"]

HOW_TO = "Type the password there and connect; --scene NAME brings a query of a scene along."
HOW_TO_RUN = "Type the password there, connect, and run the query in the editor with Ctrl+Enter."


def browser(
    *,
    scene: Annotated[
        str | None,
        typer.Option("--scene", metavar="NAME", help="Bring a query of this scene.", autocompletion=scene_names),
    ] = None,
    view: Annotated[View | None, typer.Option("--view", help="What of the scene to show; else its overview.")] = None,
    room: Annotated[
        str | None, typer.Option("--room", metavar="ROOM", help="A room by id, name or class; else the robot's.")
    ] = None,
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", min=1, help="The version whose change to show; else the last."),
    ] = None,
    run: Annotated[
        int | None, typer.Option("--run", metavar="N", min=1, help="A run by its number; else the scene's last.")
    ] = None,
    style: Annotated[
        Path | None, typer.Option("--style", metavar="FILE", help="Write the style, to be dropped onto Browser.")
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            "--queries", metavar="FILE", help="Write saved queries of the scene, a zip to be dropped likewise."
        ),
    ] = None,
    guide: Annotated[
        bool, typer.Option("--guide", help="Serve a guide with the queries of the scene, for Browser, until Ctrl-C.")
    ] = False,
    at: Annotated[
        str | None, typer.Option("--at", metavar="URL", help="Where Browser is; else at the server's usual port.")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in a web browser too.")] = False,
) -> None:
    """Show the address of Neo4j Browser, with the server and a view of a scene filled in, and how to log in.

    --room, --version and --run choose their views too.
    """
    from scenecypher.db.browser.choose import Wanted
    from scenecypher.db.browser.views import browser_of, filled_in

    wanted = Wanted(room, version, run)
    chosen = _view_of(scene, view, wanted, with_queries=guide or queries is not None)
    with waiting() as report:
        facts = connected_facts(configured(), tell=report)
    text, is_styled = _prepared(scene, chosen, wanted)
    base = at or facts.get("browser") or browser_of(facts["uri"])
    database = facts.get("database", "neo4j")
    url = filled_in(base, uri=facts["uri"], username=facts["username"], database=database, text=text)
    _write_files(style, queries, scene or "")
    _print_facts(url, facts)
    output().print(HOW_TO_RUN if text else HOW_TO, markup=False)
    if not is_styled:
        _print_by_hand()
    if open_it and not webbrowser.open(url):
        errors().print("no web browser could be opened here; open the address yourself")
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
    from scenecypher.db.browser.choose import chosen_value, find_present, tells_style
    from scenecypher.db.browser.views import view_query

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
    from scenecypher.cli.browser_guide import guide_page, guide_server
    from scenecypher.db.browser.views import titled_queries

    parts = urlsplit(browser)
    server, url = guide_server(
        guide_page(scene, titled_queries(scene)), browser_origin=f"{parts.scheme}://{parts.netloc}"
    )
    with server:
        print_line(f"A guide, until Ctrl-C: run :guide {url}")
        server.serve_forever()


def _print_facts(url: str, facts: dict[str, Any]) -> None:
    out = output()
    out.print(f"Neo4j Browser  {url}", markup=False, soft_wrap=True)
    out.print(f"server         {facts['uri']}", markup=False)
    out.print(f"user           {facts['username']}", markup=False)
    out.print(f"password       {password_place(facts)}", markup=False)


def _print_by_hand() -> None:
    from scenecypher.db.browser.style import CONFIG

    out = output()
    out.print("This server does not set Browser up. Once, in Browser:", markup=False)
    out.print(f"  run :{CONFIG}", markup=False)
    out.print("  drop the file that `scenecypher db browser --style scenecypher.grass` writes onto it", markup=False)

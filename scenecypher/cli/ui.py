"""`scenecypher ui`: a local page with all homes."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from typing import Annotated
from urllib.parse import urlencode

import typer

from scenecypher.cli.completion import scene_names
from scenecypher.cli.context import errors, open_database, print_line, tell
from scenecypher.errors import InputError

LOOPBACK = "127.0.0.1"
GOODBYE_S = 10
"""Longest wait for open streams once the page ends; they end by themselves at once, unless the machine is busy."""


def ui(
    scene: Annotated[
        str | None, typer.Argument(metavar="[SCENE]", help="Show this home first.", autocompletion=scene_names)
    ] = None,
    *,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Where to listen; 0: any.")] = 0,
    read_only: Annotated[bool, typer.Option("--read-only", help="For showing others: nothing can be changed.")] = False,
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a web browser too.")] = False,
) -> None:
    """Show all homes on a local page: rooms and things, versions, questions, actions. Ends with Ctrl-C.

    The page is served on this machine only, at an address whose token counts once.
    """
    import uvicorn

    from scenecypher.ui.drawing import cytoscape
    from scenecypher.ui.guard import TOKEN, Guard
    from scenecypher.ui.server import application

    token = secrets.token_urlsafe(24)
    with open_database() as database, listening_socket(port) as listening:
        host = f"{LOOPBACK}:{listening.getsockname()[1]}"
        shown = (
            f"home?{urlencode({'scene': database.home(scene).name, TOKEN: token})}" if scene else f"?{TOKEN}={token}"
        )
        address = f"http://{host}/{shown}"
        print_line(f"open {address}")
        if open_it and not webbrowser.open(address):
            errors().print("no web browser could be opened here; open the address yourself")
        # After the address: without a network this may wait, and a browser waits with it.
        app = application(database, read_only=read_only, library=cytoscape(tell))
        guard = Guard(app, host=host, token=token)
        config = uvicorn.Config(
            guard, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=GOODBYE_S
        )
        server = uvicorn.Server(config)
        app.state.is_ending = lambda: server.should_exit
        server.run(sockets=[listening])


def listening_socket(port: int) -> socket.socket:
    """Return a socket that listens on this machine only. Raises InputError if the port is taken."""
    try:
        return socket.create_server((LOOPBACK, port), backlog=128)
    except OSError as error:
        raise InputError(
            f"port {port} can't be used ({error.strerror}); choose another, or leave --port out"
        ) from error

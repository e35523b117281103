"""`scenecypher ui` and `scenecypher mcp`: homes served on this machine, as a local page, and as tools of agents."""

from __future__ import annotations

import gc
import os
import secrets
import socket
import sys
import webbrowser
from typing import TYPE_CHECKING, Annotated, Final, NoReturn
from urllib.parse import urlencode

from scenecypher.cli import INTERRUPTED
from scenecypher.cli.context import WAS_INTERRUPTED, open_database, print_line, tell, warn
from scenecypher.cli.options import argument, option, scene_names
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.scenes import SceneDatabase

LOOPBACK = "127.0.0.1"
GOODBYE_S = 10
"""Longest wait for open streams once the page ends; they end by themselves at once, unless the machine is busy."""
INSTALL: Final = "the protocol's SDK is missing ({error}): run `pip install 'scenecypher[agents]'`"


def ui(
    scene: Annotated[str | None, argument("[SCENE]", "Show this home first.", autocompletion=scene_names)] = None,
    *,
    port: Annotated[int, option("--port", "N", "Where to listen; 0: any.", min=0, max=65_535)] = 0,
    read_only: Annotated[bool, option("--read-only", "For showing others: nothing can be changed.")] = False,
    open_it: Annotated[bool, option("--open", "Open the page in a web browser too.")] = False,
) -> None:
    """Show all homes on a local page: rooms and things, versions, questions, actions. Ends with Ctrl-C.

    The page is served on this machine only, at an address whose token counts once.
    """
    import uvicorn

    from scenecypher.ui.guard import TOKEN, Guard
    from scenecypher.ui.render import cytoscape
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
            warn("no web browser could be opened here; open the address yourself")
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


def mcp(
    *,
    scene: Annotated[
        str | None,
        option(
            "--scene",
            "NAME",
            "Serve this scene and the belief about it; others do not exist for the client.",
            autocompletion=scene_names,
        ),
    ] = None,
    read_only: Annotated[bool, option("--read-only", "Only tools that change nothing.")] = False,
    http: Annotated[
        bool, option("--http", "Serve over HTTP on this machine, behind a token, in place of stdio.")
    ] = False,
    port: Annotated[int, option("--port", "N", "With --http; 0: any.", min=0, max=65_535)] = 0,
) -> None:
    """Serve homes to agents by the Model Context Protocol, over standard input and output. An agent's client starts it.

    The database is opened at the first call. With --http the token is that of SCENECYPHER_MCP_TOKEN, else a new one.
    """
    gc.disable()  # the SDK makes hundreds of classes: without collections between them it starts a quarter faster
    try:
        from scenecypher.mcp.server import Front
        from scenecypher.mcp.serving import PATH, serve_http, serve_stdio
    except ImportError as error:
        raise InputError(INSTALL.format(error=error)) from error
    finally:
        gc.enable()

    front = Front(_connect, only=scene)
    if not http:
        if port:
            raise InputError("--port belongs to --http; add it, or leave --port out")
        if sys.stdin.isatty():
            tell("waiting for an agent's client, which starts this command by itself; Ctrl-C ends it")
        serve_stdio(front, read_only=read_only, interrupted=_end)
        return
    from scenecypher.settings import Settings

    given = Settings().mcp_token
    token = secrets.token_urlsafe(24) if given is None else given.get_secret_value()
    with listening_socket(port) as listening:
        host, number = listening.getsockname()[:2]
        print_line(f"serving http://{host}:{number}{PATH}")
        if given is None:
            print_line(f"Authorization: Bearer {token}")
        serve_http(front, listening, token=token, read_only=read_only)


def _end() -> NoReturn:
    tell(WAS_INTERRUPTED)
    os._exit(INTERRUPTED)


def _connect() -> SceneDatabase:
    from scenecypher.scenes import connect

    return connect(tell=tell)

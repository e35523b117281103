"""`scenecypher mcp`: homes as tools of any agent that speaks the Model Context Protocol."""

from __future__ import annotations

import gc
import os
import secrets
import sys
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from scenecypher.cli import INTERRUPTED
from scenecypher.cli.completion import scene_names
from scenecypher.cli.context import WAS_INTERRUPTED, print_line, tell
from scenecypher.cli.ui import listening_socket
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.scenes import SceneDatabase

INSTALL: Final = "the protocol's SDK is missing ({error}): run `pip install 'scenecypher[agents]'`"


def mcp(
    *,
    scene: Annotated[
        str | None,
        typer.Option(
            "--scene",
            metavar="NAME",
            help="Serve this scene and the belief about it; others do not exist for the client.",
            autocompletion=scene_names,
        ),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Only tools that change nothing.")] = False,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP on this machine, behind a token, in place of stdio.")
    ] = False,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65_535, help="With --http; 0: any.")] = 0,
) -> None:
    """Serve homes to agents by the Model Context Protocol, over standard input and output. An agent's client starts it.

    The database is opened at the first call. With --http the token is that of SCENECYPHER_MCP_TOKEN, else a new one.
    """
    from scenecypher.mcp.front import Front

    gc.disable()  # the SDK makes hundreds of classes: without collections between them it starts a quarter faster
    try:
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

"""The transports of the protocol's server: standard input and output, or HTTP on this machine."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Final, NoReturn

import anyio
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from scenecypher.mcp.server import Front, HomeServer
from scenecypher.ui.guard import TokenGuard

PATH: Final = "/mcp"
BODY_BYTES: Final = 1_000_000
GOODBYE_S: Final = 3
"""Time that open streams have to end once the server is stopped."""


def serve_stdio(front: Front, *, read_only: bool, interrupted: Callable[[], NoReturn]) -> None:
    """Serve one client over standard input and output until it closes them; nothing else is written there.

    On SIGINT the present steps of the calls under way are waited for, and `interrupted` ends the process.
    """
    homes = HomeServer(front, read_only=read_only)
    try:
        anyio.run(_over_stdio, homes, interrupted)
    finally:
        homes.close()


async def _over_stdio(homes: HomeServer, interrupted: Callable[[], NoReturn]) -> None:
    def stop() -> None:
        homes.close()
        interrupted()

    # A thread that waits for a line of standard input can't be cancelled: so the process ends without it.
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop)
    server = homes.server()
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def serve_http(front: Front, listening: socket.socket, *, token: str, read_only: bool) -> None:
    """Serve any number of clients over streamable HTTP until it is interrupted; each request is by itself."""
    import uvicorn

    homes = HomeServer(front, read_only=read_only, can_push=False)
    address, port = listening.getsockname()[:2]
    app = homes.server().streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=BODY_BYTES,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    # The guard is the page's: host, origin and token are checked before the protocol's own code sees a request.
    guard = TokenGuard(app, host=f"{address}:{port}", token=token)
    config = uvicorn.Config(
        guard, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=GOODBYE_S
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        homes.close()

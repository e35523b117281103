"""Configuration of the local server: the text of `neo4j.conf` and the options of its Java machine."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from scenecypher.db.browser.style import connect_commands
from scenecypher.db.local.home import ServerHome, ServerState
from scenecypher.settings import Settings

HOST: Final = "127.0.0.1"
DEFAULT_BOLT_PORT: Final = 7687
DEFAULT_HTTP_PORT: Final = 7474
PORT_WAIT_S: Final = 5.0
PORT_POLL_S: Final = 0.1

ADMIN_CLASS: Final = "org.neo4j.cli.AdminTool"
"""Class that `neo4j-admin` runs in a second Java machine; run directly it takes a quarter of the time."""

JAVA_OPTIONS: Final = (
    "-XX:+IgnoreUnrecognizedVMOptions",  # Java 21, which runs Neo4j 5.26, lacks the last one
    "-XX:+UseSerialGC",  # the least memory and processor time on small heaps
    "-XX:+ExitOnOutOfMemoryError",  # timeouts fail after the heap is exhausted: end, to be started again
    "-XX:-UsePerfData",
    "-XX:-OmitStackTraceInFastThrow",
    "-Dlog4j2.disable.jmx=true",
    "-Djava.awt.headless=true",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
)
FAST_START_OPTIONS: Final = ("-XX:TieredStopAtLevel=1",)


def transaction_mb(heap_mb: int) -> int:
    """Return the memory limit of one transaction in MB: a quarter of the heap.

    Measured: 12 MB for a batch of 2,000 nodes, 9 MB for one of 5,000 relations, 8 MB for a commit of 5,000 changes
    with its event; 78 MB for 2,000 nodes of 20 properties of 200 letters each. The usual heap of 512 MB allows 128 MB.
    """
    return heap_mb // 4


def conf_text(settings: Settings, state: ServerState) -> str:
    """Return `neo4j.conf` for these settings and ports: the file beside this module, filled in."""
    return (
        Path(__file__)
        .with_name("neo4j.conf")
        .read_text(encoding="utf-8")
        .format(
            strict=str(settings.server_jars is None).lower(),
            host=HOST,
            bolt=state.bolt,
            http=state.http,
            browser=connect_commands(),
            page_cache=settings.page_cache_mb,
            transaction=transaction_mb(settings.heap_mb),
            transactions=settings.heap_mb * 6 // 10,
        )
    )


def java_arguments(home: ServerHome, jars: Sequence[Path], *, heap_mb: int, short_run: bool) -> str:
    """Return Java's options as an argument file: 238 jars are too long for some systems' command lines.

    For a short run Java compiles soon but not well: a start takes three fifths of the processor time.
    """
    options = (
        f"-Xmx{heap_mb}m",
        *JAVA_OPTIONS,
        *(FAST_START_OPTIONS if short_run else ()),
        f"-Djava.io.tmpdir={home.neo4j / 'tmp'}",
        "-cp",
        ":".join(str(jar) for jar in jars),
    )
    return "".join(f"{_quoted(option)}\n" for option in options)


def choose_ports(last: ServerState | None, *, wait_s: float = PORT_WAIT_S) -> ServerState:
    """Return the ports of the last start, else the default ones; a taken port is replaced by a free one.

    Ports of the last start are waited for, `wait_s` in all: a process that was killed lets go of them a little later.
    """
    deadline = time.monotonic() + wait_s
    while last and time.monotonic() < deadline and not (_is_free(last.bolt) and _is_free(last.http)):
        time.sleep(PORT_POLL_S)
    bolt = _free_port(last.bolt if last else DEFAULT_BOLT_PORT)
    http = _free_port(last.http if last else DEFAULT_HTTP_PORT, other_than=bolt)
    return ServerState(pid=None, bolt=bolt, http=http, restarting=last is not None and last.restarting)


def other_ports(last: ServerState) -> ServerState:
    """Return the state with free ports in place of its own."""
    return last.model_copy(update={"bolt": _free_port(None), "http": _free_port(None)})


def _free_port(wanted: int | None, *, other_than: int | None = None) -> int:
    if wanted is not None and wanted != other_than and _is_free(wanted):
        return wanted
    with socket.create_server((HOST, 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _is_free(port: int) -> bool:
    """Check that nothing answers at the port, on any address, and that we may listen there."""
    with suppress(OSError):
        socket.create_connection((HOST, port), timeout=1).close()
        return False
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return False
    return True


def _quoted(option: str) -> str:
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

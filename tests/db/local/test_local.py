"""The local Neo4j: started once, found again, restarted with its data, never started twice."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final, LiteralString
from urllib.parse import urlsplit

import psutil
import pytest
from typer.testing import CliRunner

import scenecypher
from scenecypher.cli.db import db_app
from scenecypher.db import local
from scenecypher.db.connect import connect
from scenecypher.db.local import config
from scenecypher.db.local import server as server_module
from scenecypher.db.local.config import ServerHome, ServerState
from scenecypher.db.local.jars import Release
from scenecypher.db.local.server import PortTaken, _process_mark, _wait_until_ready
from scenecypher.db.store.connection import RETRY_S, Address, Database
from scenecypher.errors import DatabaseUnavailable, ServiceError
from scenecypher.mcp.server import Front
from scenecypher.settings import Settings
from tests.waiting import until

pytestmark = [pytest.mark.database, pytest.mark.timeout(900)]

REMEMBER: Final[LiteralString] = "MERGE (n:Scene {key: 'kept'}) SET n.times = coalesce(n.times, 0) + 1"
REMEMBERED: Final[LiteralString] = "MATCH (n:Scene {key: 'kept'}) RETURN n.times AS times"
# Text is not what the memory limit counts: each step doubles it, until the heap is full.
EXHAUST: Final[LiteralString] = "RETURN size(reduce(text = 'x', i IN range(1, 40) | text + text)) AS size"

START: Final = """
import sys
from pathlib import Path
from scenecypher.db.local import start
from scenecypher.settings import Settings

print(start(Settings(home=Path(sys.argv[1])), tell=lambda line: print(line, flush=True)).pid, flush=True)
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings with a home of this file's own, its path with a blank; the server ends with the last test.

    Its ports are outside the range that the system gives to connections: nobody takes them while the server restarts.
    """
    settings = Settings(home=tmp_path_factory.mktemp("home of a user"))
    home = ServerHome.of(settings)
    home.create()
    home.save_state(ServerState(pid=None, bolt=27_687, http=27_474))
    yield settings
    local.stop(settings, tell=print)


@pytest.fixture
def server(settings: Settings) -> local.Server:
    """The running server of this file."""
    return local.start(settings, tell=print)


def database_of(server: local.Server, *, retry_s: float = RETRY_S) -> Database:
    return Database(Address(server.uri, server.username, server.password), retry_s=retry_s)


def remember(server: local.Server) -> int:
    """Increment a counter in the database and return it."""
    with database_of(server) as database:
        database.execute(REMEMBER, timeout_s=30)
        return remembered(database)


def remembered(database: Database) -> int:
    return int(database.rows(REMEMBERED, timeout_s=30)[0]["times"])


def starter(settings: Settings) -> subprocess.Popen[str]:
    """Start another process that needs the server."""
    return subprocess.Popen(
        [sys.executable, "-c", START, str(settings.home)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


# --- one server


def test_it_answers_after_its_start(server: local.Server) -> None:
    with database_of(server) as database:
        info = database.verify()
    assert (info.version, info.edition) == (Release.of(Settings().server_jars).version, "community")
    assert server.ready


def test_it_listens_on_loopback_only(server: local.Server) -> None:
    listening = [c.laddr for c in psutil.Process(server.pid).net_connections() if c.status == psutil.CONN_LISTEN]
    assert {place.ip.removeprefix("::ffff:") for place in listening} == {"127.0.0.1"}
    assert len(listening) == 2, "Bolt and Browser, and no port for a cluster or a debugger"


def test_only_the_owner_can_read_the_password(server: local.Server) -> None:
    assert stat.S_IMODE(server.password_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.home.stat().st_mode) & 0o077 == 0
    assert len(server.password) >= 32
    assert server.password not in repr(server)
    arguments = " ".join(psutil.Process(server.pid).cmdline()) + (server.home / "neo4j/conf/java.args").read_text()
    assert server.password not in arguments


def test_the_server_sees_none_of_our_secrets(server: local.Server) -> None:
    assert set(psutil.Process(server.pid).environ()) <= {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH"}


def test_neo4j_browser_is_included(server: local.Server) -> None:
    with urllib.request.urlopen(server.browser, timeout=30) as page:  # noqa: S310
        assert "Neo4j Browser" in page.read().decode()


def test_the_server_runs_with_the_limits_of_the_settings(server: local.Server, settings: Settings) -> None:
    with database_of(server) as database:
        found = {row["name"]: row["value"] for row in database.rows("SHOW SETTINGS YIELD name, value", timeout_s=30)}
    expected = {
        "db.memory.transaction.max": "128.00MiB",
        "server.memory.pagecache.size": f"{settings.page_cache_mb}.00MiB",
        "dbms.usage_report.enabled": "false",
        "server.fleet_discovery.enabled": "false",
        "client.allow_telemetry": "false",
    }
    assert {name: found.get(name) for name in expected} == expected
    arguments = (server.home / "neo4j/conf/java.args").read_text()
    assert f'"-Xmx{settings.heap_mb}m"' in arguments
    assert '"-XX:+ExitOnOutOfMemoryError"' in arguments


def test_only_a_server_of_a_short_run_compiles_in_one_stage(
    server: local.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, option = ServerHome(server.home), '"-XX:TieredStopAtLevel=1"'
    assert option in home.arguments.read_text().splitlines(), "the tests' own setting"
    assert option not in config.java_arguments(home, (), heap_mb=256, short_run=False)
    monkeypatch.delenv("SCENECYPHER_SHORT_RUN")
    assert not Settings().short_run


def test_a_second_start_finds_the_first(server: local.Server, settings: Settings) -> None:
    lines: list[str] = []
    assert local.start(settings, tell=lines.append) == server
    assert lines == []


def test_there_is_a_log(server: local.Server) -> None:
    assert "Started." in server.log.read_text()


def test_connect_uses_the_local_server(server: local.Server, settings: Settings) -> None:
    with connect(settings, tell=print) as database:
        assert database.address.uri == server.uri


def test_a_password_changed_outside(server: local.Server, settings: Settings) -> None:
    right = server.password_file.read_text()
    server.password_file.write_text("not it")
    try:
        with pytest.raises(DatabaseUnavailable, match="password"):
            connect(settings, tell=print)
    finally:
        server.password_file.write_text(right)


def test_the_status_command(server: local.Server, settings: Settings) -> None:
    done = CliRunner().invoke(db_app, ["status", "--json"], env={"SCENECYPHER_HOME": str(settings.home)})
    facts = json.loads(done.stdout)
    assert done.exit_code == 0
    assert facts["running"] is True
    assert (facts["uri"], facts["browser"], facts["pid"]) == (server.uri, server.browser, server.pid)
    assert server.password not in done.output


def test_the_browser_command_prints_the_address(server: local.Server, settings: Settings) -> None:
    done = CliRunner().invoke(db_app, ["browser"], env={"SCENECYPHER_HOME": str(settings.home)})
    assert done.exit_code == 0
    assert server.browser in done.stdout
    assert str(server.password_file) in done.stdout.replace("\n", "")


# --- ends and new beginnings; each test leaves a server that runs, or none


def test_a_server_out_of_memory_is_started_again_with_its_data(server: local.Server, settings: Settings) -> None:
    times = remember(server)
    with database_of(server, retry_s=0) as database, pytest.raises(ServiceError):
        database.rows(EXHAUST, timeout_s=120)
    until(lambda: local.status(settings) is None)
    lines: list[str] = []
    with connect(settings, tell=lines.append) as database:
        assert remembered(database) == times
        assert database.address.uri == server.uri, "at the same port, for those who know it"
    assert "ended without being stopped" in lines[0]
    assert str(server.log) in lines[0]


def test_a_stop_keeps_the_data_and_an_interrupted_start_is_continued(server: local.Server, settings: Settings) -> None:
    times = remember(server)
    assert local.stop(settings, tell=print)
    assert not psutil.pid_exists(server.pid) or psutil.Process(server.pid).status() == psutil.STATUS_ZOMBIE
    assert '"Database shutdown\\" @' in (server.log.parent / "debug.log").read_text()
    assert not local.stop(settings, tell=print)

    home = ServerHome.of(settings)
    last = home.load_state()
    assert last is not None
    assert last.pid is None
    home.save_state(ServerState(pid=os.getpid(), bolt=last.bolt, http=last.http, ready=True))
    assert local.status(settings) is None
    assert not local.stop(settings, tell=print), "and this test was not stopped instead"

    # Of three that need it now the first is killed while its server starts: the others go on with that one.
    with socket.create_server(("127.0.0.1", last.bolt)):
        first = starter(settings)
        assert first.stdout
        assert any("starting Neo4j" in line for line in first.stdout)
        others = [starter(settings) for _ in range(2)]
        until(lambda: (state := home.load_state()) and state.pid and state.pid != os.getpid())
        first.kill()
        first.communicate()
        launched = home.load_state()
        assert launched is not None
        assert not launched.ready
        said = [process.communicate(timeout=600)[0] for process in others]
    assert "starting Neo4j" not in "".join(said)
    running = local.status(settings)
    assert running is not None
    assert [text.splitlines()[-1] for text in said] == [f"{running.pid}"] * 2, "both have the id of one server"
    assert (running.pid, running.ready) == (launched.pid, True)
    assert running.uri != server.uri, "the port was taken"
    with database_of(running) as database:
        assert remembered(database) == times


def test_a_server_that_is_being_ended_is_no_start_to_wait_for(server: local.Server, settings: Settings) -> None:
    """A restart whose process was killed halfway: the next starter took the server that ended for one that starts."""
    home = ServerHome.of(settings)
    last = home.load_state()
    assert last is not None
    psutil.Process(server.pid).suspend()  # so that it ends late
    psutil.Process(server.pid).terminate()
    home.save_state(last.model_copy(update={"ready": False, "restarting": True, "ending": True}))
    resumed = threading.Timer(1, psutil.Process(server.pid).resume)
    resumed.start()
    successor = local.start(settings, tell=print)
    resumed.join()
    assert successor.pid != server.pid
    assert successor.uri == server.uri
    assert remember(successor) > 0


def test_a_start_that_another_began_and_that_fails_is_begun_anew(server: local.Server, settings: Settings) -> None:
    """A bystander is told that the server "did not start", without a reason, though none was started for it."""
    home = ServerHome.of(settings)
    last = home.load_state()
    assert last is not None
    home.save_state(last.model_copy(update={"ready": False}))
    psutil.Process(server.pid).suspend()
    killed = threading.Timer(1, psutil.Process(server.pid).kill)
    killed.start()
    successor = local.start(settings, tell=print)
    killed.join()
    assert (successor.pid != server.pid, successor.uri) == (True, server.uri)
    assert remember(successor) > 0


def test_a_port_that_is_let_go_late_is_waited_for() -> None:
    """A killed server's port is open until the system has closed it: the next server moved to another one."""
    with socket.create_server(("127.0.0.1", 0)) as held, socket.create_server(("127.0.0.1", 0)) as free:
        wanted = ServerState(pid=None, bolt=held.getsockname()[1], http=free.getsockname()[1])
        free.close()
        closed = threading.Timer(0.7, held.close)
        closed.start()
        assert config.choose_ports(wanted) == wanted
        closed.join()


def test_connections_that_were_closed_leave_the_port_free() -> None:
    """TIME_WAIT: closed connections are kept for a minute, and a check that minds them finds the port taken."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        place = listening.getsockname()
        for _ in range(5):
            client = socket.create_connection(place)
            accepted, _address = listening.accept()
            accepted.close()  # the server's end closes first, and waits
            client.close()
    waiting = [it for it in psutil.net_connections("tcp") if it.laddr == place and it.status == psutil.CONN_TIME_WAIT]
    assert waiting
    assert config.choose_ports(ServerState(pid=None, bolt=place[1], http=1)).bolt == place[1]


def test_a_call_of_a_tool_starts_the_server_again_though_a_port_is_taken_after_it_was_chosen(
    settings: Settings,
) -> None:
    """Kind: a service that is asked for ever after its server has gone, where only the first call started it."""
    front, home = Front(lambda: scenecypher.connect(settings=settings)), ServerHome.of(settings)
    taken: list[socket.socket] = []

    def take(port: int) -> None:
        until(lambda: (state := home.load_state()) and state.pid)
        taken.append(socket.create_server(("127.0.0.1", port)))

    try:
        front.scenes()
        assert local.stop(settings, tell=print)
        last = home.load_state()
        assert last is not None
        thief = threading.Thread(target=take, args=(last.http,))
        thief.start()
        assert front.scenes() == []
        thief.join()
    finally:
        front.close()
    server = local.status(settings)
    assert server is not None
    assert f":{last.http}/" not in server.browser
    assert remember(server) > 0
    taken[0].close()


def test_the_last_try_asks_for_none_of_the_usual_ports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server is started: each try finds its ports taken."""
    home = ServerHome.of(Settings(home=tmp_path))
    home.create()
    tries: list[ServerState] = []

    def launch(*_: object, last: ServerState | None, tell: object) -> ServerState:
        tries.append(config.choose_ports(last))
        return tries[-1]

    def wait(*_: object) -> None:
        raise PortTaken("taken")

    monkeypatch.setattr(server_module, "_launch", launch)
    monkeypatch.setattr(server_module, "_wait_until_ready", wait)
    with pytest.raises(PortTaken):
        server_module._start_and_wait(home, Settings(), tell=print)
    first, second, third = ({state.bolt, state.http} for state in tries)
    assert first == second
    assert first.isdisjoint(third)


def test_a_password_that_is_gone_is_told_and_not_made_anew(tmp_path: Path) -> None:
    """A getter that writes: the look at a server made a new password, and what helps was never said."""
    home = ServerHome.of(Settings(home=tmp_path))
    home.create()
    running = subprocess.Popen([sys.executable, "-c", "input()", _process_mark(home)], stdin=subprocess.PIPE)
    home.save_state(ServerState(pid=running.pid, bolt=1, http=2, ready=True))
    with pytest.raises(DatabaseUnavailable, match="password of the local server is gone; put it back into"):
        until(lambda: local.status(Settings(home=tmp_path)) is not None, within_s=30)
    assert not home.password_file.exists()
    running.communicate(b"\n")


def test_a_folder_that_was_there_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    """A promise kept only for what is made anew: a folder of mode 755 stayed readable by all."""
    (tmp_path / "home").mkdir(mode=0o755)
    home = ServerHome.of(Settings(home=tmp_path / "home"))
    home.create()
    assert home.root.stat().st_mode & 0o777 == 0o700


def test_another_neo4j_at_our_port_is_not_taken_for_ours(address: Address, tmp_path: Path) -> None:
    home = ServerHome.of(Settings(home=tmp_path))
    home.create()
    home.create_password()
    home.console.write_text("Optional[java.net.BindException: Failed to bind to the port]")
    late = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1)", _process_mark(home)])
    taken = ServerState(pid=late.pid, bolt=urlsplit(address.uri).port or 0, http=1)
    with pytest.raises(PortTaken):
        _wait_until_ready(home, taken)
    late.wait()


def test_a_failed_start_names_cause_and_alternatives(settings: Settings) -> None:
    local.stop(settings, tell=print)
    home = ServerHome.of(settings)
    with (home.neo4j / "data" / "databases" / "store_lock").open("r+") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        with pytest.raises(DatabaseUnavailable, match="NEO4J_URI") as caught:
            local.start(settings, tell=print)
    assert "another process" in str(caught.value)
    assert str(home.log) in str(caught.value)
    assert local.status(settings) is None
    left = home.load_state()
    assert left is not None
    assert left.pid is None, "the next start does not speak of a server that died"


def test_a_lost_password_file_is_reported_and_no_data_is_deleted(settings: Settings) -> None:
    local.stop(settings, tell=print)
    home = ServerHome.of(settings)
    aside = home.password_file.rename(home.root / "aside")
    with pytest.raises(DatabaseUnavailable, match="put it back"):
        local.start(settings, tell=print)
    assert not home.password_file.exists()
    aside.rename(home.password_file)


# --- without a server


def test_a_server_that_never_ran_is_not_running(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "none")
    assert local.status(settings) is None
    assert not local.stop(settings, tell=print)
    assert not settings.home.exists(), "a look leaves nothing behind"


def test_the_commands_without_a_server(tmp_path: Path) -> None:
    env = {"SCENECYPHER_HOME": str(tmp_path / "none")}
    done = CliRunner().invoke(db_app, ["status", "--json"], env=env)
    assert json.loads(done.stdout)["running"] is False
    assert done.exit_code == 1
    stopped = CliRunner().invoke(db_app, ["stop"], env=env)
    assert stopped.exit_code == 0
    assert "no local server was running" in stopped.stdout


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "many"}'])
def test_a_malformed_state_is_ignored(tmp_path: Path, text: str) -> None:
    home = ServerHome.of(Settings(home=tmp_path))
    home.state_file.write_text(text)
    assert home.load_state() is None


def test_taken_ports_are_replaced() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("0.0.0.0", 0)) as two:  # noqa: S104
        wanted = ServerState(pid=None, bolt=one.getsockname()[1], http=two.getsockname()[1])
        chosen = config.choose_ports(wanted, wait_s=0)
        assert not {chosen.bolt, chosen.http} & {wanted.bolt, wanted.http}
        assert chosen.bolt != chosen.http
    assert config.choose_ports(wanted) == wanted, "free again"


def test_the_memory_limit_follows_the_heap() -> None:
    assert [config.transaction_mb(heap) for heap in (256, 512, 4096)] == [64, 128, 1024]

"""Queries that the server can't terminate: the local server is restarted, and no write is lost."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

import psutil
import pytest

from scenecypher.db import local
from scenecypher.db.connect import connect
from scenecypher.db.gate import Gate, Limits, SceneRef
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.local.config import ServerHome
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Intent
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.runs import RunFacts, RunProgress, StepRow, add_steps, begin_run, find_run, this_process
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import CommitUnknown, DatabaseUnavailable, QueryRefused
from scenecypher.settings import Settings
from scenecypher.waiting import waits
from tests.db.gate.conftest import HOME, send_unchecked
from tests.db.store.test_replica import Toggling, home
from tests.waiting import until

pytestmark = [pytest.mark.database, pytest.mark.timeout(900)]

ENDLESS: Final = "RETURN $__text =~ '.*a.*a.*a.*a.*ab' AS x"
"""A query of some 10^16 steps within one expression: the server marks it as terminated, and it runs on."""
TEXT: Final = {"__text": "a" * 3_000}
DISGUISE: Final = "RETURN true AS x"
FACTS: Final = RunFacts("", "test/home", "plan", "Tidy up.", "stepwise", "scripted", "robot", 0, None, "{}")
LIMITS: Final = Limits(seconds=1, lost_seconds=3)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings of a running server of this file's own; lost, it is killed after a second."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), retry_s=2)
    local.start(settings, tell=print)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scenecypher.db.local.server.LOST_STOP_S", 1.0)
        yield settings
    local.stop(settings, tell=print)


class ProcessConnection:
    """A minimal stand-in for one process: a store, a gate, and the progress messages that it got."""

    def __init__(self, settings: Settings, database: Database | None = None) -> None:
        self.told: list[str] = []
        self.database = database or connect(settings, tell=self.told.append)
        self.store = SceneStore(self.database)
        self.store.prepare()
        self.gate = Gate(self.database, limits=LIMITS)

    def scene(self) -> SceneInfo:
        name = f"test/{uuid4().hex}"
        self.store.put(ImportedScene(name, home()))
        return self.store.find(name)

    def ask(self, text: str, info: SceneInfo) -> list[Any]:
        return self.gate.run(text, SceneRef.of(info)).rows


@pytest.fixture
def one(settings: Settings) -> Iterator[ProcessConnection]:
    connected = ProcessConnection(settings)
    yield connected
    connected.database.close()


@pytest.fixture
def other(settings: Settings) -> Iterator[ProcessConnection]:
    connected = ProcessConnection(settings)
    yield connected
    connected.database.close()


def pid_of(settings: Settings) -> int:
    server = local.status(settings)
    assert server is not None
    return server.pid


def is_restarting(settings: Settings) -> bool:
    state = ServerHome.of(settings).load_state()
    return state is not None and state.restarting


def test_a_lost_server_is_restarted_and_each_write_done_once(
    settings: Settings, one: ProcessConnection, other: ProcessConnection
) -> None:
    info, another, going = one.scene(), one.scene(), threading.Event()

    def wait_for_the_end() -> None:
        going.set()
        until(lambda: not psutil.pid_exists(before), within_s=60)

    before, decide = pid_of(settings), Toggling(wait_for_the_end)
    send_unchecked(one.gate, ENDLESS, DISGUISE, TEXT, scene=SceneRef(info.key, info.name))
    with ThreadPoolExecutor(7) as pool:
        acted: Future[int] = pool.submit(toggle, other.store, another, "a", decide)
        assert going.wait(60), "it has read, and commits when the server has ended"
        asked = pool.submit(one.ask, DISGUISE, info)
        until(lambda: is_restarting(settings), within_s=60)
        written = [pool.submit(toggle, it.store, info, f"{number}") for number, it in enumerate((one, other))]
        imported = pool.submit(other.scene)
        read = pool.submit(one.ask, "RETURN 1 AS x", info)
        until(lambda: "the local server, which is being restarted" in waits(over_s=0), within_s=60)
        with pytest.raises(QueryRefused) as refused:
            asked.result(timeout=300)
        versions = {done.result(timeout=300) for done in written}
        assert read.result(timeout=300) == [[1]]
        with suppress(CommitUnknown):  # reported, and nothing was published
            assert imported.result(timeout=300).version == 0
        assert acted.result(timeout=300) == 1
    assert decide.seen == [(0, ("clean",)), (0, ("clean",))], "it retries both the read and the commit"
    assert [event.action_id for event in one.store.history(another)] == ["a"], "and commits once"
    assert refused.value.code == "lost"
    assert pid_of(settings) != before
    assert not psutil.pid_exists(before)
    assert versions == {1, 2}
    assert sorted(event.action_id for event in one.store.history(info)) == ["0", "1"]
    assert one.told[0].startswith("restarting the local server: a query still runs after it was ended")
    assert any("is being restarted; waiting" in line for line in other.told), other.told

    again = time.monotonic()
    with pytest.raises(QueryRefused) as refused:
        one.ask(DISGUISE, info)
    assert refused.value.code == "lost"
    assert time.monotonic() - again < 1, "its shape is refused from then on"
    assert other.ask("RETURN 1 AS x", info) == [[1]]


@pytest.mark.slow
def test_a_server_that_answers_nobody_is_restarted(settings: Settings) -> None:
    """The process is stopped, as one that hangs: it takes connections and answers none, SHOW TRANSACTIONS neither."""
    before, server = pid_of(settings), local.status(settings)
    assert server is not None
    address = Address(server.uri, server.username, server.password)
    supervisor = local.Supervisor(settings, server, tell=print)
    with (
        Database(address, connect_timeout_s=1, supervisor=supervisor) as database,
        ThreadPoolExecutor(1) as pool,
    ):
        asker = ProcessConnection(settings, database)
        info = asker.scene()
        assert asker.ask("RETURN 1 AS x", info) == [[1]]
        assert not database.is_silent()
        psutil.Process(before).suspend()
        asked = pool.submit(asker.ask, "RETURN 1 AS x", info)
        with pytest.raises(QueryRefused) as refused:
            asked.result(timeout=100)
        assert refused.value.code == "lost"
        assert pid_of(settings) != before
        assert asker.ask("RETURN 2 AS x", info) == [[2]]


def test_only_the_checked_process_is_ended(settings: Settings) -> None:
    pid = pid_of(settings)
    assert not local.restart(settings, pid=pid + 1, is_lost=lambda: True, tell=print)
    assert not local.restart(settings, pid=pid, is_lost=lambda: False, tell=print)
    assert pid_of(settings) == pid


def test_only_transactions_with_the_mark_that_were_ended_are_a_reason(
    one: ProcessConnection, settings: Settings
) -> None:
    pid = pid_of(settings)
    assert not one.database.restart_if_lost("gate-nobody")
    with one.database.run_read_only("UNWIND range(1, 100000) AS x RETURN x", {}, timeout_s=60, mark="gate-runs"):
        assert one.database.running_transactions("gate-runs")
        assert not one.database.restart_if_lost("gate-runs"), "nobody has ended it"
    assert pid_of(settings) == pid


def test_a_server_that_was_stopped_is_not_waited_for(settings: Settings, one: ProcessConnection) -> None:
    info = one.scene()
    local.stop(settings, tell=print)
    begun = time.monotonic()
    with pytest.raises(DatabaseUnavailable):
        toggle(one.store, info, "before")
    assert time.monotonic() - begun < 60
    assert local.status(settings) is None
    local.start(settings, tell=print)
    assert toggle(one.store, info, "after") == 1


def test_another_server_is_only_warned_about(scenes: Database, caplog: pytest.LogCaptureFixture) -> None:
    """Without a supervisor one warning says what to do, and the query is refused from then on."""
    gate = Gate(scenes, limits=Limits(seconds=0.2, lost_seconds=0.5))
    slow = "RETURN $__text =~ '.*a.*a.*ab' AS x"
    send_unchecked(gate, slow, DISGUISE, {"__text": "a" * 1_200})
    with caplog.at_level(logging.WARNING, "scenecypher.db"), pytest.raises(QueryRefused):
        gate.run(DISGUISE, HOME)
    said = [record.getMessage() for record in caplog.records if "still runs" in record.getMessage()]
    assert len(said) == 1
    assert "restart that server" in said[0]
    with pytest.raises(QueryRefused) as refused:
        gate.run(DISGUISE, HOME)
    assert refused.value.code == "lost"


def toggle(store: SceneStore, info: SceneInfo, action_id: str, decide: Toggling | None = None) -> int:
    """Toggle the cup, as an action does; return the new version."""
    intent = Intent("robot", "toggle", action_id)
    return store.change(info, decide or Toggling(), intent=intent).version


def test_a_server_that_was_killed_is_started_again_by_who_needs_it(
    settings: Settings, one: ProcessConnection, other: ProcessConnection
) -> None:
    """A connected writer is told to run its command again, though a new command would start the server."""
    info, run = one.scene(), begin_run(one.database, FACTS, this_process())
    step, progress = StepRow(1, {"line": "{}"}), RunProgress(1, None, 0, 0)
    before, uri = pid_of(settings), one.database.address.uri
    psutil.Process(before).kill()
    with ThreadPoolExecutor(5) as pool:
        written = [pool.submit(toggle, it.store, info, f"{number}") for number, it in enumerate((one, other))]
        read = pool.submit(one.ask, "RETURN 1 AS x", info)
        reached, kept = pool.submit(other.database.reach), pool.submit(add_steps, one.database, run, [step], progress)
        versions = {done.result(timeout=300) for done in written}
        assert read.result(timeout=300) == [[1]]
        assert (reached.result(timeout=300), kept.result(timeout=300)) == (None, None)
    assert versions == {1, 2}
    assert sorted(event.action_id for event in one.store.history(info)) == ["0", "1"]
    assert find_run(one.database, run).steps == 1
    assert (pid_of(settings) != before, one.database.address.uri) == (True, uri)
    assert any("ended without being stopped" in line for line in (*one.told, *other.told))

"""The connection to the server: limits, retries, and the error of each failure."""

from __future__ import annotations

import json
import logging
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, LiteralString
from urllib.parse import urlsplit
from uuid import uuid4

import neo4j
import pytest
from neo4j import ManagedTransaction
from neo4j.exceptions import SessionExpired

from scenecypher.chat.endpoint import Endpoint
from scenecypher.db.connect import connect
from scenecypher.db.graph.delta import ChangeList, Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import OLDEST_VERSION, Access, Address, Database, _version_numbers
from scenecypher.db.store.faults import OURS, forward_notices, translate_driver_errors
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.watchdog import Watchdog
from scenecypher.errors import (
    CommitUnknown,
    ConflictError,
    ConstraintViolated,
    DatabaseUnavailable,
    InputError,
    MemoryExceeded,
    QueryFailed,
    QueryTimeout,
    ServiceError,
)
from scenecypher.settings import Settings, without_password
from tests.db.store.test_store import fresh, small
from tests.proxy import Proxy, proxied
from tests.waiting import until

LONG: Final[LiteralString] = "UNWIND range(1, 1000000000) AS i WITH i WHERE i % 7 = 99 RETURN count(*)"
GREEDY: Final[LiteralString] = """
UNWIND range(1, 30000000) AS i WITH collect(toString(i) + 'a text of some length, to fill the heap') AS texts
RETURN size(texts)
"""
CREATE: Final[LiteralString] = "CREATE (:Scene {key: $key, status: 'importing'})"
COUNT: Final[LiteralString] = "MATCH (s:Scene {key: $key}) RETURN count(s) AS n"
DROP: Final[LiteralString] = "MATCH (s:Scene {key: $key}) DELETE s"


def count(database: Database, key: str) -> int:
    return int(database.rows(COUNT, {"key": key}, timeout_s=10)[0]["n"])


def test_an_address_does_not_show_its_password() -> None:
    assert "secret" not in repr(Address("bolt://localhost:7687", "neo4j", "secret"))


def test_the_server_names_version_and_edition(database: Database) -> None:
    info = database.verify()
    assert info.edition in {"community", "enterprise"}
    assert _version_numbers(info.version) >= OLDEST_VERSION
    assert info.address.endswith(database.address.uri.rpartition(":")[2])


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("5.25.1", (5, 25)), ("5.26.0", (5, 26)), ("5.27-aura", (5, 27)), ("2025.01.0", (2025, 1)), ("4.4.30", (4, 4))],
)
def test_versions_are_compared_as_numbers(version: str, numbers: tuple[int, int]) -> None:
    assert _version_numbers(version) == numbers


def test_versions_before_the_oldest_are_older() -> None:
    assert _version_numbers("5.9.0") < OLDEST_VERSION < _version_numbers("2026.08.1")


# --- what can be wrong with an address


@pytest.mark.parametrize("uri", ["localhost:7687", "http://localhost:7474", "", "bolt://localhost:seven"])
def test_an_invalid_address_is_an_input_error(uri: str) -> None:
    with pytest.raises(InputError, match="bolt://localhost:7687"):
        Database(Address(uri, "neo4j", "secret"))


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def test_nobody_listens_there() -> None:
    uri = f"bolt://127.0.0.1:{unused_port()}"
    with Database(Address(uri, "neo4j", "x")) as database, pytest.raises(DatabaseUnavailable) as caught:
        database.verify()
    assert uri in str(caught.value)
    assert "refused" in str(caught.value)
    assert "NEO4J_URI" in str(caught.value)
    assert caught.value.retryable


def test_a_listener_that_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"bolt://127.0.0.1:{silent.getsockname()[1]}"
        with Database(Address(uri, "neo4j", "x"), connect_timeout_s=0.2) as database:
            started = time.monotonic()
            with pytest.raises(DatabaseUnavailable, match="NEO4J_URI"):
                database.verify()
            assert time.monotonic() - started < 5


def test_a_name_that_does_not_resolve() -> None:
    address = Address("bolt://no-such-host.invalid:7687", "neo4j", "x")
    with Database(address) as database, pytest.raises(DatabaseUnavailable, match="no-such-host"):
        database.verify()


def test_a_wrong_password(address: Address) -> None:
    with Database(replace(address, password="wrong")) as database:
        with pytest.raises(DatabaseUnavailable, match="NEO4J_PASSWORD") as caught:
            database.verify()
        assert not caught.value.retryable


def test_a_database_that_does_not_exist(address: Address) -> None:
    elsewhere = replace(address, database="nowhere")
    with Database(elsewhere) as database, pytest.raises(DatabaseUnavailable, match="NEO4J_DATABASE"):
        database.verify()


def test_connect_uses_the_named_server_and_closes_what_it_cannot_use(address: Address) -> None:
    settings = Settings(
        neo4j_uri=address.uri,
        neo4j_username=address.username,
        neo4j_password=address.password,
        read_timeout_s=4,
        commit_timeout_s=5,
    )
    told: list[str] = []
    with connect(settings, tell=told.append) as database:
        assert database.address == address
        assert (database.read_timeout_s, database.commit_timeout_s) == (4, 5)
    with pytest.raises(DatabaseUnavailable):
        connect(settings.model_copy(update={"neo4j_password": None}), tell=told.append)
    assert told == []


# --- transactions


def test_a_write_is_there_for_the_next_read(database: Database) -> None:
    key = uuid4().hex
    database.execute(CREATE, {"key": key}, timeout_s=10)
    assert count(database, key) == 1
    database.execute(DROP, {"key": key}, timeout_s=10)


def test_our_errors_roll_back_and_pass_unchanged(database: Database) -> None:
    key, tries = uuid4().hex, []
    ours = ConflictError("not as the change says")

    def work(tx: ManagedTransaction) -> None:
        tries.append(1)
        tx.run(CREATE, key=key).consume()
        raise ours

    with pytest.raises(ConflictError) as caught:
        database.transaction(work, access="write", timeout_s=10)
    assert caught.value is ours
    assert len(tries) == 1
    assert count(database, key) == 0


def test_an_error_of_the_work_function_passes_unchanged(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        database.transaction(lambda _: 1 // 0, timeout_s=10)


def test_reads_do_not_write(database: Database) -> None:
    with pytest.raises(QueryFailed) as caught:
        database.rows("CREATE (:Scene)", timeout_s=10)
    assert caught.value.code == "Neo.ClientError.Statement.AccessMode"


def test_only_the_first_line_of_an_error_is_passed_on(database: Database) -> None:
    with pytest.raises(QueryFailed) as caught:
        database.rows("MATCH (secret_text)\nRETURN", timeout_s=10)
    assert caught.value.code == "Neo.ClientError.Statement.SyntaxError"
    assert "\n" not in str(caught.value)
    assert "secret_text" not in str(caught.value)


def test_a_key_that_exists_already(database: Database, store: object) -> None:
    key = uuid4().hex

    def twice(tx: ManagedTransaction) -> None:
        tx.run(CREATE, key=key).consume()
        tx.run(CREATE, key=key).consume()

    with pytest.raises(ConstraintViolated, match="exists"):
        database.transaction(twice, access="write", timeout_s=10)


def test_a_transaction_ends_at_its_time_limit(database: Database) -> None:
    started = time.monotonic()
    with pytest.raises(QueryTimeout, match="time limit"):
        database.rows(LONG, timeout_s=0.3)
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(("retry_s", "tries"), [(0.0, 1), (15.0, 2)])
def test_a_read_that_was_too_slow_runs_once_more(address: Address, retry_s: float, tries: int) -> None:
    tried: list[int] = []

    def work(tx: ManagedTransaction) -> int:
        tried.append(1)
        if len(tried) < 2:
            tx.run(LONG).consume()
        return len(tried)

    with Database(address, retry_s=retry_s, read_timeout_s=0.5) as database:
        if tries == 2:
            assert database.transaction(work) == 2
        else:
            with pytest.raises(QueryTimeout):
                database.transaction(work)
    assert len(tried) == tries


def test_a_time_limit_names_the_setting_that_grants_more(address: Address) -> None:
    with Database(address, read_timeout_s=0.3, commit_timeout_s=0.3, retry_s=0) as database:
        calls: list[tuple[str, Callable[[], object]]] = [
            ("READ", lambda: database.rows(LONG)),
            ("READ", lambda: database.row(LONG)),
            ("READ", lambda: database.transaction(lambda tx: tx.run(LONG).consume())),
            ("COMMIT", lambda: database.execute(LONG)),
            ("COMMIT", lambda: database.execute(LONG, auto_commit=True)),
        ]
        for limit, call in calls:
            option = rf"\(`--{limit.casefold()}-timeout`\)"
            with pytest.raises(QueryTimeout, match=rf"or raise SCENECYPHER_{limit}_TIMEOUT_S {option}$"):
                call()


def test_a_row_is_read_in_one_round_trip_and_again_if_its_connection_breaks(address: Address) -> None:
    with proxied(address, b"RETURN 7") as (proxy, through), Database(through) as database:
        database.reach()
        before = proxy.round_trips
        assert database.row("RETURN 8 AS n") == database.row("UNWIND [8] AS n RETURN n")
        assert proxy.round_trips == before + 2
        proxy.lose("request")
        row = database.row("RETURN 7 AS n")
        assert row is not None
        assert (row["n"], proxy.lost) == (7, 1)


def test_begin_travels_with_the_first_statement_of_a_transaction(address: Address) -> None:
    """A driver that lost the private flag by which BEGIN waits for the first statement: a round trip more each time."""
    with proxied(address) as (proxy, through), Database(through) as database:
        database.reach()
        both: tuple[Access, ...] = ("read", "write")
        for access in both:
            before = proxy.round_trips
            database.transaction(lambda tx: tx.run("RETURN 1").consume(), access=access)
            assert proxy.round_trips == before + 2, "BEGIN and RUN together, then COMMIT"


def test_rows_are_read_in_one_round_trip(address: Address) -> None:
    with proxied(address) as (proxy, through), Database(through) as database:
        database.reach()
        before = proxy.round_trips
        assert [row["n"] for row in database.rows("UNWIND $all AS n RETURN n", {"all": [1, 2]})] == [1, 2]
        assert proxy.round_trips == before + 1


@pytest.mark.parametrize(("retry_s", "tries"), [(0.0, 1), (15.0, 2)])
def test_a_statement_that_was_too_slow_runs_once_more(
    address: Address, retry_s: float, tries: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A retry within a retry: one statement that waits its time limit more often than it is told to."""
    with Database(address, retry_s=retry_s, read_timeout_s=0.3) as database:
        for call in (database.rows, database.row):
            caplog.clear()
            with caplog.at_level(logging.DEBUG, logger="neo4j.io"), pytest.raises(QueryTimeout):
                call(LONG)
            assert len([record for record in caplog.records if "C: RUN" in record.getMessage()]) == tries


def test_what_is_closed_says_so(address: Address) -> None:
    database = Database(address)
    database.reach()
    database.close()
    for call in (database.verify, database.reach, lambda: database.row("RETURN 1")):
        with pytest.raises(InputError, match="this connection is closed"):
            call()


def test_a_memory_limit_is_not_retried(database: Database) -> None:
    tries = []

    def greedy(tx: ManagedTransaction) -> None:
        tries.append(1)
        tx.run(GREEDY).consume()

    with pytest.raises(MemoryExceeded, match="SCENECYPHER_HEAP_MB"):
        database.transaction(greedy, timeout_s=60)
    assert len(tries) == 1


def test_a_deadlock_is_retried(database: Database) -> None:
    one, two = uuid4().hex, uuid4().hex
    for key in (one, two):
        database.execute(CREATE, {"key": key}, timeout_s=10)
    tries: list[int] = []
    met = threading.Barrier(2, timeout=20)

    def crossing(first: str, second: str) -> Callable[[ManagedTransaction], None]:
        asked: list[int] = []

        def work(tx: ManagedTransaction) -> None:
            tries.append(1)
            asked.append(1)
            tx.run("MATCH (s:Scene {key: $key}) SET s.n = coalesce(s.n, 0) + 1", key=first).consume()
            if len(asked) == 1:
                met.wait()
            tx.run("MATCH (s:Scene {key: $key}) SET s.n = coalesce(s.n, 0) + 1", key=second).consume()

        return work

    others = threading.Thread(target=lambda: database.transaction(crossing(two, one), access="write", timeout_s=20))
    others.start()
    database.transaction(crossing(one, two), access="write", timeout_s=20)
    others.join()
    assert len(tries) > 2, "one of the two met the deadlock and went again"
    for key in (one, two):
        n = database.rows("MATCH (s:Scene {key: $key}) RETURN s.n AS n", {"key": key}, timeout_s=10)[0]["n"]
        assert n == 2
        database.execute(DROP, {"key": key}, timeout_s=10)


@pytest.mark.parametrize(("seconds", "tries"), [(0.0, 1), (15.0, 2)])
def test_the_retry_time_is_a_setting(address: Address, seconds: float, tries: int) -> None:
    named = Settings(neo4j_uri=address.uri, neo4j_username=address.username, neo4j_password=address.password)
    tried: list[int] = []

    def breaking_once(_: ManagedTransaction) -> None:
        tried.append(1)
        if len(tried) == 1:
            raise SessionExpired

    with connect(named.model_copy(update={"retry_s": seconds}), tell=print) as database:
        if tries == 1:
            with pytest.raises(DatabaseUnavailable):
                database.transaction(breaking_once, timeout_s=10)
        else:
            database.transaction(breaking_once, timeout_s=10)
    assert len(tried) == tries


# --- untrusted statements and the watchdog's tools

WRITING: Final[tuple[LiteralString, ...]] = (
    "CREATE (:Written)",
    "MERGE (:Written {key: 1})",
    "MATCH (s:Scene) SET s:Written",
    "FOREACH (i IN [1] | CREATE (:Written))",
    "CALL () { CREATE (:Written) } IN TRANSACTIONS",
    "UNWIND [1, 2] AS i CALL (i) { CREATE (:Written) } IN 2 CONCURRENT TRANSACTIONS OF 1 ROW",
    "CREATE INDEX written FOR (n:Written) ON (n.key)",
    "CREATE CONSTRAINT written FOR (n:Written) REQUIRE n.key IS UNIQUE",
    "CALL db.createLabel('Written')",
    "CREATE USER written SET PASSWORD 'a-long-password'",
)


@pytest.mark.parametrize("text", WRITING)
def test_the_server_itself_refuses_to_write_for_a_reader(database: Database, text: LiteralString) -> None:
    with (
        pytest.raises(QueryFailed, match="read access mode"),
        database.run_read_only(text, {}, timeout_s=10, mark="w") as it,
    ):
        it.consume()


def test_unread_rows_are_discarded(database: Database) -> None:
    mark = uuid4().hex
    with database.run_read_only("UNWIND range(1, 100000000) AS i RETURN i", {}, timeout_s=60, mark=mark) as result:
        assert next(iter(result))["i"] == 1
    assert database.running_transactions(mark) == ()


def test_a_marked_transaction_is_ended_from_elsewhere(database: Database) -> None:
    mark = uuid4().hex
    caught: list[BaseException] = []

    def run_long() -> None:
        try:
            with database.run_read_only(LONG, {}, timeout_s=120, mark=mark) as result:
                result.consume()
        except ServiceError as error:
            caught.append(error)

    thread = threading.Thread(target=run_long)
    thread.start()
    until(lambda: len(database.running_transactions(mark)) == 1, within_s=30)
    assert database.terminate("a mark of nobody") == 0
    assert database.terminate(mark) == 1
    thread.join(timeout=30)
    assert [type(error) for error in caught] == [QueryTimeout]
    until(lambda: database.running_transactions(mark) == (), within_s=30)
    assert database.terminate(mark) == 0


# --- notifications


def test_notifications_are_records_of_our_logger(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger=OURS):
        database.transaction(lambda tx: tx.run("MATCH (n:Scene) RETURN id(n)").consume(), timeout_s=10)
    records = [record for record in caplog.records if record.name == OURS]
    assert len(records) == 1
    assert "id is deprecated" in records[0].getMessage()


def test_an_autocommit_statement_brings_no_notifications(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger=OURS):
        database.execute("OPTIONAL MATCH (n:Scene) RETURN id(n) LIMIT 1", timeout_s=10, auto_commit=True)
    assert caplog.records == []


def test_unused_registry_types_are_no_notification(database: Database) -> None:
    summary = database.transaction(lambda tx: tx.run("MATCH (n:NoSuchKindOfThing) RETURN n").consume(), timeout_s=10)
    assert [it for it in summary.gql_status_objects if it.is_notification] == []


READ_DEPRECATED: Final = """
import json, sys
from scenecypher.db.store.connection import Address, Database

with Database(Address(**json.load(sys.stdin))) as database:
    database.transaction(lambda tx: tx.run("MATCH (n:Scene) RETURN id(n)").consume(), timeout_s=10)
"""


def test_notifications_stay_off_the_terminal_of_a_program_without_logging(address: Address) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ_DEPRECATED],
        input=json.dumps(asdict(address)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_forwarding_is_idempotent() -> None:
    forward_notices()
    before = len(logging.getLogger("neo4j.notifications").handlers)
    forward_notices()
    assert len(logging.getLogger("neo4j.notifications").handlers) == before


@pytest.mark.parametrize(("limit", "kind"), [("read", DatabaseUnavailable), ("commit", CommitUnknown)])
def test_a_socket_s_own_error_is_one_of_ours(limit: str, kind: type[ServiceError]) -> None:
    """An error of a foreign type that leaves by a door: the driver passes some of a socket's on as they are."""
    said = "Transport endpoint is not connected"
    with pytest.raises(kind, match=said) as caught, translate_driver_errors("bolt://here:1", limit):
        raise OSError(107, said)
    assert caught.value.retryable


def test_an_action_whose_socket_fails_is_done_once(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit whose connection fails in a way that the driver does not know is asked for again, by its id."""
    name = fresh("socket")
    store.put(ImportedScene(name, small()))
    info, left = store.find(name), [OSError(107, "Transport endpoint is not connected")]
    run = neo4j.Session.run

    def failing(session: neo4j.Session, *given: Any, **options: Any) -> Any:
        done = run(session, *given, **options)
        if left and "AS unchanged" in str(getattr(given[0], "text", given[0])):
            raise left.pop()
        return done

    monkeypatch.setattr(neo4j.Session, "run", failing)
    delta = Delta.of([ChangeList("cup", "states", ("dirty",), ())])
    assert store.commit(info, delta, actor="t", action="soil").version == 1
    assert not left
    assert len(store.history(info)) == 1


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_a_watchdog_ends_with_its_connection(address: Address, seconds: float) -> None:
    """A thread that outlives what it works on: it ends without a traceback."""
    raised: list[threading.ExceptHookArgs] = []
    before, threading.excepthook = threading.excepthook, raised.append
    try:
        database = Database(address)
        watchdog = Watchdog(database, lost_s=60, tick_s=0.01)
        with watchdog.watch("mark", seconds):
            database.close()
            if not seconds:
                until(lambda: not watchdog._is_running, within_s=30)
        assert not raised
    finally:
        threading.excepthook = before


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("bolt://neo4j:secret@host:7687", "bolt://host:7687"),
        ("bolt://neo4j:se/cret@host:7687", "bolt://host:7687"),
        ("bolt://:secret@host", "bolt://host"),
        ("neo4j:secret@host:7687", "host:7687"),
        ("bolt://neo4j:a@secret@host", "bolt://host"),
        ("https://user:secret@example.org/v1?a=b@c", "https://example.org/v1?a=b@c"),
        ("https://example.org/v1/@team", "https://example.org/v1/@team"),
        ("https://example.org:8000/v1/@team", "https://example.org:8000/v1/@team"),
        ("bolt://[::1]:7687", "bolt://[::1]:7687"),
    ],
)
def test_an_address_is_shown_without_its_password(written: str, shown: str) -> None:
    """A secret in a field that is no secret: whatever shows an address shows it without."""
    assert without_password(written) == shown
    with pytest.raises(InputError, match="is no HTTP address") as caught:
        Endpoint(f"x{written}", "", 1.0, 1)
    assert "secret" not in str(caught.value)
    if "secret" in written:
        with pytest.raises(InputError, match="set NEO4J_USERNAME and NEO4J_PASSWORD") as caught:
            Database(Address(written, "neo4j", ""))
        assert "secret" not in str(caught.value)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-made certificate of 127.0.0.1, with its key."""
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=here -addext subjectAltName=IP:127.0.0.1 "
        "-keyout key.pem -out ca.pem"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.skipif(shutil.which("openssl") is None, reason="it makes the certificate")
def test_a_certificate_of_one_s_own_is_trusted_by_its_file(address: Address, authority: Path) -> None:
    """A choice that only the system could make: TLS to a server whose certificate an authority of one's own signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "ca.pem", authority / "key.pem")
    place = urlsplit(address.uri)
    with Proxy((place.hostname or "", place.port or 0), tls=context) as proxy:
        ours = replace(address, uri=f"bolt+s://127.0.0.1:{proxy.port}")
        with Database(replace(ours, ca_file=authority / "ca.pem")) as database:
            assert database.verify().version
        with Database(ours, retry_s=0) as database, pytest.raises(DatabaseUnavailable):
            database.verify()


@pytest.mark.parametrize(
    ("uri", "file", "said"),
    [
        ("bolt://127.0.0.1:1", "ca.pem", "NEO4J_CA_FILE is for addresses of"),
        ("bolt+ssc://127.0.0.1:1", "ca.pem", "NEO4J_CA_FILE is for addresses of"),
        ("bolt+s://127.0.0.1:1", "gone.pem", "can't be read"),
    ],
)
def test_a_file_of_certificates_that_is_of_no_use_is_refused(uri: str, file: str, said: str, authority: Path) -> None:
    with pytest.raises(InputError, match=said):
        Database(Address(uri, "neo4j", "", ca_file=authority / file))

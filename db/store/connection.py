"""The Neo4j driver: managed transactions with time limits, and errors translated in one place."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, LiteralString, Self, TypeAlias, TypeVar
from urllib.parse import urlsplit

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    Driver,
    GraphDatabase,
    ManagedTransaction,
    NotificationDisabledClassification,
    NotificationMinimumSeverity,
    Query,
    Record,
    Result,
    Session,
    TrustCustomCAs,
    unit_of_work,
)
from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError

from scenecypher.db.store.faults import (
    first_line,
    forward_notices,
    is_memory_limit,
    memory_exceeded,
    translate_driver_errors,
)
from scenecypher.db.store.sharing import ReadBookmarks, Slots, Versions
from scenecypher.errors import (
    CommitUnknown,
    DatabaseUnavailable,
    InputError,
    MemoryExceeded,
    QueryFailed,
    QueryTimeout,
    ServiceError,
)
from scenecypher.settings import without_password
from scenecypher.waiting import waiting_for

if TYPE_CHECKING:
    from scenecypher.db.local.server import Supervisor

T = TypeVar("T")

TimeLimit: TypeAlias = Literal["read", "commit", "query"]
"""The beginning of a limit's name in the settings, which an error names."""

Access: TypeAlias = Literal["read", "write"]

SCHEMES: Final = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
ROUTED_SCHEMES: Final = ("neo4j", "neo4j+s", "neo4j+ssc")
OLDEST_VERSION: Final = (5, 26)
RETRY_S: Final = 15.0
"""Time limit of the driver's retries after deadlocks, leader changes and lost connections."""
ADMIN_TIMEOUT_S: Final = 10.0
NOTHING: Final[Mapping[str, Any]] = {}
"""No parameters."""
SILENT: Final[Mapping[str, Any]] = {"notifications_min_severity": NotificationMinimumSeverity.OFF}
"""Option of sessions whose statements actions and questions wait for: notifications take 2 %."""
READ_AHEAD: Final = 20
"""Rows that the server sends before it waits; those dropped when an answer is cut still travel."""

COMPONENTS: Final[LiteralString] = """
CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' RETURN versions[0], edition
"""
FIND_MARKED: Final[LiteralString] = """
SHOW TRANSACTIONS YIELD transactionId, metaData, status
WHERE metaData.scenecypher = $mark AND NOT status STARTS WITH 'Terminated'
RETURN transactionId
"""
LINGERING: Final[LiteralString] = """
SHOW TRANSACTIONS YIELD metaData, status
WHERE metaData.scenecypher = $mark AND status STARTS WITH 'Terminated'
RETURN count(*)
"""
TERMINATE: Final[LiteralString] = "TERMINATE TRANSACTIONS $ids YIELD transactionId RETURN count(*)"


@dataclass(frozen=True, slots=True)
class Address:
    """Address and credentials of a server; an empty password means no authentication.

    `ca_file` has the certificates, in PEM, of which one must have signed the server's; None: those of the system.
    """

    uri: str
    username: str
    password: str = field(repr=False)
    database: str = "neo4j"
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A server's version, edition and address, e.g. ``2026.08.1``, ``community``, ``127.0.0.1:7687``."""

    version: str
    edition: str
    address: str


class ServerRestarted(DatabaseUnavailable):
    """The server was restarted while it was asked, and answers again."""

    def __init__(self) -> None:
        super().__init__("the local server was restarted meanwhile; ask again", retryable=True)


class ConnectionClosed(InputError):
    """A connection that is used after it was closed."""

    def __init__(self) -> None:
        super().__init__("this connection is closed; open a new one: `scenecypher.connect()`, or a driver of your own")


class WrongAnswer(CommitUnknown):
    """An answer that is to another statement, as where something between here and the server sends bytes twice."""

    def __init__(self) -> None:
        msg = (
            "the connection gave an answer that belongs to another statement; ask again, and check what stands between "
            "here and the server (proxy, tunnel, load balancer)"
        )
        super().__init__(msg, retryable=True)


class Database:
    """A server to read from and write to, safe to share between threads. The constructor makes no call.

    `read_timeout_s` and `commit_timeout_s` limit transactions that have no limit of their own. A read that was too slow
    runs once more, unless `retry_s` is 0: a cold server is faster then. If `supervisor` restarts the server, a broken
    call waits until it answers; reads and writes then run once more. A `driver` takes the place of a new one.
    Every method raises DatabaseUnavailable, QueryTimeout, MemoryExceeded, QueryFailed or, if the answer to COMMIT was
    lost, CommitUnknown. Our own errors raised in a transaction function roll it back and pass unchanged.
    """

    def __init__(
        self,
        address: Address,
        *,
        connect_timeout_s: float = 10.0,
        retry_s: float = RETRY_S,
        read_timeout_s: float = 30.0,
        commit_timeout_s: float = 30.0,
        slots: int = 4,
        supervisor: Supervisor | None = None,
        driver: Driver | None = None,
    ) -> None:
        self.address = address
        self.read_timeout_s, self.commit_timeout_s = read_timeout_s, commit_timeout_s
        self.slots = Slots(slots)
        """Slots for heavy queries, shared by all askers of this connection."""
        self.planners = Slots(slots)
        """Slots for the planning of queries."""
        self.versions = Versions()
        """Versions of scenes, as this connection saw them last."""
        self.is_prepared = False
        """True once the constraints and indexes are known to be there."""
        self._supervisor, self._connect_timeout_s = supervisor, connect_timeout_s
        self._retries_reads = retry_s > 0
        self._is_closed = False
        self._retry_s, self._is_borrowed = retry_s, driver is not None
        self._driver = driver or self._new_driver()
        self._replaced: Driver | None = None
        self.bookmarks = ReadBookmarks()
        """A read waits until all that earlier reads may have seen a part of is applied, in a cluster too."""
        self._is_routed = urlsplit(address.uri).scheme in ROUTED_SCHEMES
        forward_notices()

    @classmethod
    def of(cls, driver: Driver, *, database: str = "neo4j") -> Self:
        """Return the server of a driver, whose owner closes it; connections and certificates are the driver's."""
        return cls(Address("the driver's server", "", "", database), driver=driver)

    def _new_driver(self) -> Driver:
        address, connect_s = self.address, self._connect_timeout_s
        _check_uri(address.uri)
        try:
            return GraphDatabase.driver(
                # With certificates of one's own, TLS is an option beside the address.
                address.uri.replace("+s://", "://", 1) if address.ca_file else address.uri,
                **_trust(address),
                auth=(address.username, address.password) if address.password else None,
                connection_timeout=connect_s,
                connection_acquisition_timeout=6 * connect_s,
                max_transaction_retry_time=self._retry_s,
                # Registry types that this database lacks are no reason for a notification, which slows queries down.
                notifications_disabled_classifications=[NotificationDisabledClassification.UNRECOGNIZED],
                telemetry_disabled=True,
            )
        except (ConfigurationError, ValueError) as error:
            raise _bad_address(address.uri, first_line(error)) from error
        except OSError as error:
            msg = f"NEO4J_CA_FILE {str(address.ca_file)!r} can't be read: {error}; name a file of certificates in PEM"
            raise InputError(msg) from error

    def reach(self) -> None:
        """Check that a supported server answers, by its greeting alone: the connection made for it is used later.

        Raises DatabaseUnavailable: unreachable, wrong password, before 5.26.
        """

        def attempt() -> str:
            with self._awaiting_restart(), self._calling("read"):
                return self._driver.get_server_info().agent

        self._check_version(retry_once(attempt, errors=ServerRestarted).rpartition("/")[2])

    def verify(self) -> ServerInfo:
        """Return the server that answers a statement. Raises as `reach` does, and if there is no such database."""
        with self._session(READ_ACCESS, "read") as session:
            result = session.run(COMPONENTS)
            record = result.single(strict=True)
            address = result.consume().server.address
        info = ServerInfo(str(record[0]), str(record[1]), f"{address[0]}:{address[1]}")
        self._check_version(info.version)
        return info

    @cached_property
    def takes_vectors(self) -> bool:
        """True if the server takes vectors as such, which it compares faster than lists."""
        with self._calling("read"):
            return self._driver.get_server_info().protocol_version >= (6, 0)

    def rows(
        self, text: LiteralString, parameters: Mapping[str, Any] = NOTHING, *, timeout_s: float | None = None
    ) -> list[Record]:
        """Return the rows of a reading statement, in one round trip; one that fails is tried as in `transaction`.

        A transaction that is begun and committed takes one more.
        """
        return self._ask(text, parameters, _rows_of, timeout_s)

    def row(
        self,
        text: LiteralString,
        parameters: Mapping[str, Any] = NOTHING,
        *,
        timeout_s: float | None = None,
        echo: str = "",
    ) -> Record | None:
        """Return the only row of a reading statement, if any, as `rows` does; `echo` is as for `execute`."""
        value = parameters.get(echo)
        return self._ask(text, parameters, lambda result: row_of(result, echo, value), timeout_s)

    def execute(
        self,
        text: LiteralString,
        parameters: Mapping[str, Any] = NOTHING,
        *,
        timeout_s: float | None = None,
        echo: str = "",
        auto_commit: bool = False,
    ) -> Record | None:
        """Run one writing statement as a transaction, with the retries of `transaction`; return its only row, if any.

        With `auto_commit` it takes one round trip instead of two, and there is no retry: if the answer is lost
        (DatabaseUnavailable), or is one to another statement (WrongAnswer), it may be committed or not. `echo` is the
        parameter that the statement returns under its own name.
        """
        given, value = dict(parameters), parameters.get(echo)
        if not auto_commit:
            return self.transaction(
                lambda tx: row_of(tx.run(text, given), echo, value), access="write", timeout_s=timeout_s
            )
        with self._session(WRITE_ACCESS, "commit", **SILENT) as session:
            return row_of(session.run(Query(text, timeout=timeout_s or self.commit_timeout_s), given), echo, value)

    def transaction(
        self,
        work: Callable[[ManagedTransaction], T],
        *,
        access: Access = "read",
        timeout_s: float | None = None,
    ) -> T:
        """Run `work`, an idempotent function of `tx` alone, in a transaction that may only read, or may write too.

        Deadlocks, leader changes and connections lost before COMMIT are retried; memory limits are not. Nothing that
        writes is retried once COMMIT was sent: a server that shuts down reports work as failed that it has committed.
        """
        if access == "write":
            limited = _limited(_committed_once(work), timeout_s or self.commit_timeout_s)
            return retry_once(lambda: self._write(limited), errors=ServerRestarted)
        limit_s = timeout_s or self.read_timeout_s
        if not self._retries_reads:
            return self._read(work, limit_s)
        return retry_once(lambda: self._read(work, limit_s), errors=QueryTimeout)

    @contextmanager
    def run_read_only(
        self, text: LiteralString, parameters: Mapping[str, Any], *, timeout_s: float, mark: str
    ) -> Iterator[Result]:
        """Run one statement in read access mode, in which the server refuses writes; one round trip without retry.

        This is for queries of others, whose rows are read one by one. Yields the result; unread rows are discarded.
        `terminate(mark)` ends it from elsewhere.
        """
        with self._session(READ_ACCESS, "query", fetch_size=READ_AHEAD, **SILENT) as session:
            query = Query(text, metadata={"scenecypher": mark}, timeout=timeout_s)
            yield session.run(query, dict(parameters))

    def running_transactions(self, mark: str) -> tuple[str, ...]:
        """Return the server's ids of running transactions begun with `mark`."""
        return tuple(record[0] for record in self.rows(FIND_MARKED, {"mark": mark}, timeout_s=ADMIN_TIMEOUT_S))

    def terminate(self, mark: str) -> int:
        """End the transactions begun with `mark`, over a separate connection; return their number."""
        ids = self.running_transactions(mark)
        if ids:
            self.rows(TERMINATE, {"ids": list(ids)}, timeout_s=ADMIN_TIMEOUT_S)
        return len(ids)

    def lingers(self, mark: str) -> bool:
        """Check whether a transaction begun with `mark` still runs though it was terminated."""
        with self._plain_session(READ_ACCESS, "read") as session:
            return bool(session.run(Query(LINGERING, timeout=ADMIN_TIMEOUT_S), mark=mark).single(strict=True)[0])

    @property
    def is_supervised(self) -> bool:
        """Check whether the server can be restarted from here: it is the local one."""
        return self._supervisor is not None

    def ensure_running(self) -> bool:
        """Start the local server if it does not run; False if this connection can't reach it. Raises ServiceError."""
        return self._supervisor is None or self._supervisor.ensure_running()

    def is_silent(self) -> bool:
        """Check whether the local server answers no new connection in time, as one that hangs; others are not asked."""
        if not self.is_supervised:
            return False
        with Database(self.address, connect_timeout_s=self._connect_timeout_s, retry_s=0) as fresh:
            try:
                fresh.verify()
            except DatabaseUnavailable:
                return True
        return False

    def restart_if_lost(self, mark: str) -> bool:
        """Restart the server if the transaction begun with `mark` lingers, or nothing answers; tell whether.

        Only a server with a supervisor can be restarted.
        """
        return self._supervisor is not None and self._supervisor.restart(lambda: self.is_silent() or self.lingers(mark))

    def close(self) -> None:
        """Close all connections."""
        self._is_closed = True
        if not self._is_borrowed:
            self._driver.close()
        if self._replaced:
            self._replaced.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_version(self, version: str) -> None:
        if _version_numbers(version) < OLDEST_VERSION:
            msg = f"Neo4j at {self.address.uri} is {version}; SceneCypher needs 5.26 or newer: upgrade the server"
            raise DatabaseUnavailable(msg)

    def _ask(
        self,
        text: LiteralString,
        parameters: Mapping[str, Any],
        answer: Callable[[Result], T],
        timeout_s: float | None,
    ) -> T:
        """Return the `answer` that is read from a statement's result: in one round trip, else in a transaction."""
        given, limit_s = dict(parameters), timeout_s or self.read_timeout_s

        def work(tx: ManagedTransaction) -> T:
            return answer(tx.run(text, given))

        try:
            with self._session(READ_ACCESS, "read", **SILENT) as session:
                return answer(session.run(Query(text, timeout=limit_s), given))
        except ServiceError as error:
            if not error.retryable or (isinstance(error, QueryTimeout) and not self._retries_reads):
                raise
        return self._read(work, limit_s)

    def _read(self, work: Callable[[ManagedTransaction], T], timeout_s: float) -> T:
        """Read in a transaction; tried once more if the server was restarted under it."""

        def attempt() -> T:
            with self._session(READ_ACCESS, "read") as session, _begun_with_first_statement(session):
                return session.execute_read(_limited(work, timeout_s))

        return retry_once(attempt, errors=ServerRestarted)

    def _write(self, limited: Callable[[ManagedTransaction], T]) -> T:
        with self._session(WRITE_ACCESS, "commit", **SILENT) as session, _begun_with_first_statement(session):
            found = session.execute_write(limited)
            if not session.last_bookmarks().raw_values:  # the answer to COMMIT has one
                raise WrongAnswer
            return found

    @contextmanager
    def _session(self, access: str, limit: TimeLimit, **options: Any) -> Iterator[Session]:
        """Open a session; where it breaks by a restart of the server, wait until that answers again."""
        with self._awaiting_restart(), self._plain_session(access, limit, **options) as session:
            yield session

    def _replace_driver(self) -> None:
        """Use new connections from now on; the ones in use end with their calls, at the latest at the next such end."""
        if self._is_borrowed:
            return
        replaced, self._replaced, self._driver = self._replaced, self._driver, self._new_driver()
        if replaced:
            replaced.close()

    @contextmanager
    def _awaiting_restart(self) -> Iterator[None]:
        """Wait, where the block breaks by a restart of the server, until that answers again."""
        since = self._supervisor.pid if self._supervisor else 0
        try:
            yield
        except ServiceError as error:
            if self._supervisor and _is_broken(error) and self._supervisor.await_restart(since):
                if isinstance(error, CommitUnknown):
                    raise
                raise ServerRestarted from error
            raise

    @contextmanager
    def _plain_session(self, access: str, limit: TimeLimit, **options: Any) -> Iterator[Session]:
        with self._calling(limit):
            session = self._driver.session(
                database=self.address.database,
                default_access_mode=access,
                bookmark_manager=self.bookmarks if access == READ_ACCESS or self._is_routed else None,
                **options,
            )
            try:
                with session:
                    yield session
            except WrongAnswer:
                self._replace_driver()
                raise

    @contextmanager
    def _calling(self, limit: TimeLimit) -> Iterator[None]:
        """Call the server in the block, under the setting `limit`; errors are ours."""
        if self._is_closed:
            raise ConnectionClosed
        try:
            with waiting_for("the database"), translate_driver_errors(self.address.uri, limit):
                yield
        except DriverError as error:
            if self._is_closed or "Driver closed" in str(
                error
            ):  # by another thread meanwhile, or by the driver's owner
                raise ConnectionClosed from error
            raise


def row_of(result: Result, echo: str = "", value: object = None) -> Record | None:
    """Return the only row of a result, if any; check that it answers what was asked.

    A statement's last message has the time that its rows took; its column `echo`, if given, has the `value` that it was
    sent. Raises WrongAnswer.
    """
    record, names = result.single(), result.keys() or ()
    is_ours = not echo or (echo in names and (record is None or record.get(echo) == value))
    if not is_ours or result.consume().result_consumed_after is None:
        raise WrongAnswer
    return record


def _rows_of(result: Result) -> list[Record]:
    """Return the rows of a result. Raises WrongAnswer as `row_of` does."""
    records = list(result)
    if result.consume().result_consumed_after is None:
        raise WrongAnswer
    return records


def _begun_with_first_statement(session: Session) -> AbstractContextManager[Any]:
    """Return the context in which BEGIN travels with a transaction's first statement, as in `execute_query`.

    It saves a round trip. The driver has no public option for it: one that drops the flag begins as usual.
    """
    return getattr(session, "_pipelined_begin", nullcontext())  # it is false until it is entered


def retry_once(read: Callable[[], T], *, errors: type[ServiceError] = ServiceError) -> T:
    """Call `read`, once more if its time was over or its connection had broken; only for functions that write nothing.

    Raises what `read` raises.
    """
    try:
        return read()
    except errors as error:
        if not error.retryable:
            raise
    return read()


def retry_once_on_disconnect(read: Callable[[], T]) -> T:
    """Call `read`, once more if its connection had broken; only for functions that write nothing.

    Raises what `read` raises.
    """
    return retry_once(read, errors=DatabaseUnavailable)


def _committed_once(work: Callable[[ManagedTransaction], T]) -> Callable[[ManagedTransaction], T]:
    """Return `work`, which raises CommitUnknown if it is called again after it had come to its end."""
    ended = False

    def once(tx: ManagedTransaction) -> T:
        nonlocal ended
        if ended:
            msg = "the server failed while it committed: ask again, the work may be done or not"
            raise CommitUnknown(msg, retryable=True)
        found = work(tx)
        ended = True
        return found

    return once


def _is_broken(error: ServiceError) -> bool:
    """Check whether a call failed as it does when its server ends."""
    return error.retryable and not isinstance(error, QueryTimeout | QueryFailed | MemoryExceeded)


def _limited(work: Callable[[ManagedTransaction], T], timeout_s: float) -> Callable[[ManagedTransaction], T]:
    """Add a time limit to `work`, and translate memory errors inside it, so that the driver does not retry them."""

    @unit_of_work(timeout=timeout_s)
    def limited(tx: ManagedTransaction) -> T:
        try:
            return work(tx)
        except Neo4jError as error:
            if is_memory_limit(error):
                raise memory_exceeded(error) from error
            raise

    return limited


def _check_uri(uri: str) -> None:
    """Check what the driver would notice late or not at all."""
    shown = without_password(uri)
    if shown != uri:
        msg = f"the address of {shown!r} holds a user name or password; set NEO4J_USERNAME and NEO4J_PASSWORD instead"
        raise InputError(msg)
    try:
        place = urlsplit(uri)
        usable = place.scheme in SCHEMES and place.hostname and place.port != 0
    except ValueError as error:
        raise _bad_address(uri, str(error)) from error
    if not usable:
        raise _bad_address(uri, "it names no Neo4j server")


def _trust(address: Address) -> dict[str, Any]:
    """Return the driver's options for certificates of one's own. Raises InputError for an address without TLS."""
    if address.ca_file is None:
        return {}
    if not urlsplit(address.uri).scheme.endswith("+s"):
        msg = f"NEO4J_CA_FILE is for addresses of bolt+s:// or neo4j+s://, not {address.uri!r}; correct NEO4J_URI"
        raise InputError(msg)
    ssl.create_default_context(cafile=address.ca_file)  # the driver reads it at its first connection only
    return {"encrypted": True, "trusted_certificates": TrustCustomCAs(str(address.ca_file))}


def _bad_address(uri: str, cause: str) -> InputError:
    return InputError(f"{uri!r} can't be used: {cause}; write an address like bolt://localhost:7687")


def _version_numbers(version: str) -> tuple[int, int]:
    """Return ``5.26.1`` or ``5.27-aura`` as two comparable numbers."""
    major, minor = re.findall(r"\d+", f"{version}.0")[:2]
    return int(major), int(minor)

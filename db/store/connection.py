"""One driver a process: managed transactions with time limits, and driver errors translated in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, LiteralString, Protocol, Self, TypeVar
from urllib.parse import urlsplit

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    GraphDatabase,
    ManagedTransaction,
    NotificationDisabledClassification,
    NotificationMinimumSeverity,
    Query,
    Record,
    Result,
    Session,
    unit_of_work,
)
from neo4j.exceptions import ConfigurationError, Neo4jError

from scenecypher.db.store.faults import first_line, is_memory_limit, memory_exceeded, translated
from scenecypher.db.store.notices import forward_notices
from scenecypher.db.store.slots import Slots
from scenecypher.errors import (
    CommitUnknown,
    ConstraintViolated,
    DatabaseUnavailable,
    InputError,
    MemoryExceeded,
    QueryFailed,
    QueryTimeout,
    ServiceError,
)

__all__ = ["Address", "CommitUnknown", "ConstraintViolated", "Database", "ManagedTransaction", "ServerInfo", "twice"]

T = TypeVar("T")

SCHEMES: Final = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
ROUTED: Final = ("neo4j", "neo4j+s", "neo4j+ssc")
OLDEST: Final = (5, 26)
RETRY_S: Final = 15.0
"""How long the driver tries a transaction again after deadlocks, leader changes and lost connections."""
ADMIN_TIMEOUT_S: Final = 10.0
READ_AHEAD: Final = 20
"""Rows that the server sends before it waits: what is dropped of them where an answer is cut still travels."""

COMPONENTS: Final[LiteralString] = """
CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' RETURN versions[0], edition
"""
MARKED: Final[LiteralString] = """
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
    """Where a server is and who asks; an empty password means a server without authentication."""

    uri: str
    username: str
    password: str = field(repr=False)
    database: str = "neo4j"


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says of itself, e.g. ``2026.08.1``, ``community``, ``127.0.0.1:7687``."""

    version: str
    edition: str
    address: str


class Supervisor(Protocol):
    """Restarts a server that a transaction has taken from everybody, and waits for restarts by others."""

    pid: int
    """The server's process, as last seen."""

    def restart(self, is_lost: Callable[[], bool]) -> bool:
        """Restart the server if `is_lost` holds; False if there was no need. Raises ServiceError."""
        ...

    def await_restart(self, since: int) -> bool:
        """Wait until the successor of process `since` answers; False if there is none. Raises ServiceError."""
        ...


class ServerRestarted(DatabaseUnavailable):
    """The server was restarted while it was asked, and answers again."""

    def __init__(self) -> None:
        super().__init__("the local server was restarted meanwhile; ask again", retryable=True)


class Database:
    """A server to read from and write to; safe to share between threads. Makes no call before a method is used.

    Where `supervisor` restarts the server, a broken call waits until it answers; reads and writes then run once more.
    Every method raises DatabaseUnavailable, QueryTimeout, MemoryExceeded, QueryFailed or, where COMMIT went
    unanswered, CommitUnknown. Errors of our own that a transaction function raises roll back and pass untouched.
    """

    def __init__(
        self,
        address: Address,
        *,
        connect_timeout_s: float = 10.0,
        retry_s: float = RETRY_S,
        slots: int = 4,
        supervisor: Supervisor | None = None,
    ) -> None:
        self.address = address
        self.slots = Slots(slots)
        """For queries that cost much: all askers of this connection share them."""
        self._supervisor = supervisor
        _check(address.uri)
        try:
            self._driver = GraphDatabase.driver(
                address.uri,
                auth=(address.username, address.password) if address.password else None,
                connection_timeout=connect_timeout_s,
                connection_acquisition_timeout=6 * connect_timeout_s,
                max_transaction_retry_time=retry_s,
                # The registry's relation types need not occur in this database: told of each, a query takes longer.
                notifications_disabled_classifications=[NotificationDisabledClassification.UNRECOGNIZED],
            )
        except (ConfigurationError, ValueError) as error:
            raise _unusable(address.uri, first_line(error)) from error
        # In a cluster a reader may be behind: who saw a version before is given no older one.
        self._bookmarks = GraphDatabase.bookmark_manager() if urlsplit(address.uri).scheme in ROUTED else None
        forward_notices()

    def verify(self) -> ServerInfo:
        """Who answers. Raises DatabaseUnavailable: unreachable, wrong password, no such database, before 5.26."""
        with self._session(READ_ACCESS) as session:
            result = session.run(COMPONENTS)
            record = result.single(strict=True)
            address = result.consume().server.address
        info = ServerInfo(str(record[0]), str(record[1]), f"{address[0]}:{address[1]}")
        if _numbers(info.version) < OLDEST:
            msg = f"Neo4j at {self.address.uri} is {info.version}; SceneCypher needs 5.26 or newer: upgrade the server"
            raise DatabaseUnavailable(msg)
        return info

    def read(self, work: Callable[[ManagedTransaction], T], *, timeout_s: float) -> T:
        """Run `work`, an idempotent function of `tx` alone, in a read transaction."""

        def attempt() -> T:
            with self._session(READ_ACCESS) as session:
                return session.execute_read(_limited(work, timeout_s))

        return _through_restart(attempt)

    def write(self, work: Callable[[ManagedTransaction], T], *, timeout_s: float) -> T:
        """Run `work`, an idempotent function of `tx` alone, in a write transaction.

        Deadlocks, leader changes and connections lost before COMMIT are tried again; memory limits are not. Once COMMIT
        was sent nothing is: a server that is shutting down says that it is unavailable of what it has committed.
        """
        limited = _limited(_committed_once(work), timeout_s)

        def attempt() -> T:
            with self._session(WRITE_ACCESS) as session:
                return session.execute_write(limited)

        return _through_restart(attempt)

    def once(self, text: LiteralString, parameters: Mapping[str, Any], *, timeout_s: float) -> Record | None:
        """One statement as a transaction of its own: a single round trip, never tried again; its only row, if any.

        Where the answer is lost (DatabaseUnavailable) it may be committed or not. The server sends no notices of it:
        these are the statements that every action and question waits for, and looking for notices takes 2 %.
        """
        with self._session(WRITE_ACCESS, notifications_min_severity=NotificationMinimumSeverity.OFF) as session:
            return session.run(Query(text, timeout=timeout_s), dict(parameters)).single()

    @contextmanager
    def reading(
        self, text: LiteralString, parameters: Mapping[str, Any], *, timeout_s: float, mark: str
    ) -> Iterator[Result]:
        """One statement's rows, in read mode: the server itself refuses to write. Never tried again.

        A single round trip. What the block leaves unread is dropped; `terminate(mark)` ends it from elsewhere.
        """
        with self._session(READ_ACCESS, fetch_size=READ_AHEAD) as session:
            query = Query(text, metadata={"scenecypher": mark}, timeout=timeout_s)
            yield session.run(query, dict(parameters))

    def running(self, mark: str) -> tuple[str, ...]:
        """The server's ids of transactions begun with `mark` that still run."""
        return self.read(lambda tx: tuple(record[0] for record in tx.run(MARKED, mark=mark)), timeout_s=ADMIN_TIMEOUT_S)

    def terminate(self, mark: str) -> int:
        """End the transactions begun with `mark`, over a connection of its own; how many there were."""
        ids = list(self.running(mark))
        if ids:
            self.read(lambda tx: tx.run(TERMINATE, ids=ids).consume(), timeout_s=ADMIN_TIMEOUT_S)
        return len(ids)

    def lingers(self, mark: str) -> bool:
        """Check whether a transaction begun with `mark` still runs though it was terminated."""
        with self._plain_session(READ_ACCESS) as session:
            return bool(session.run(Query(LINGERING, timeout=ADMIN_TIMEOUT_S), mark=mark).single(strict=True)[0])

    @property
    def is_supervised(self) -> bool:
        """Check whether the server can be restarted from here: it is the local one."""
        return self._supervisor is not None

    def restart_if_lost(self, mark: str) -> bool:
        """Restart the server if the transaction begun with `mark` lingers and there is a supervisor; tell whether."""
        return self._supervisor is not None and self._supervisor.restart(lambda: self.lingers(mark))

    def close(self) -> None:
        """Close all connections."""
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _session(self, access: str, **options: Any) -> Iterator[Session]:
        """Open a session; where it breaks by a restart of the server, wait until that answers again."""
        since = self._supervisor.pid if self._supervisor else 0
        try:
            with self._plain_session(access, **options) as session:
                yield session
        except ServiceError as error:
            if self._supervisor and _is_broken(error) and self._supervisor.await_restart(since):
                if isinstance(error, CommitUnknown):
                    raise
                raise ServerRestarted from error
            raise

    @contextmanager
    def _plain_session(self, access: str, **options: Any) -> Iterator[Session]:
        with (
            translated(self.address.uri),
            self._driver.session(
                database=self.address.database,
                default_access_mode=access,
                bookmark_manager=self._bookmarks,
                **options,
            ) as session,
        ):
            yield session


def twice(read: Callable[[], T]) -> T:
    """What `read` returns, asked again where its connection had broken: safe for what writes nothing, and only there.

    Raises what `read` raises.
    """
    try:
        return read()
    except DatabaseUnavailable as error:
        if not error.retryable:
            raise
    return read()


def _through_restart(attempt: Callable[[], T]) -> T:
    """Return what `attempt` returns; tried a second time, once, if the server was restarted under the first."""
    try:
        return attempt()
    except ServerRestarted:
        return attempt()


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
    """`work` with a time limit, and with memory errors translated inside, where the driver does not retry them."""

    @unit_of_work(timeout=timeout_s)
    def limited(tx: ManagedTransaction) -> T:
        try:
            return work(tx)
        except Neo4jError as error:
            if is_memory_limit(error):
                raise memory_exceeded(error) from error
            raise

    return limited


def _check(uri: str) -> None:
    """What the driver would notice late or not at all."""
    try:
        place = urlsplit(uri)
        usable = place.scheme in SCHEMES and place.hostname and place.port != 0
    except ValueError as error:
        raise _unusable(uri, str(error)) from error
    if not usable:
        raise _unusable(uri, "it names no Neo4j server")


def _unusable(uri: str, cause: str) -> InputError:
    return InputError(f"{uri!r} can't be used: {cause}; write an address like bolt://localhost:7687")


def _numbers(version: str) -> tuple[int, int]:
    """``5.26.1`` or ``5.27-aura`` as two numbers, to compare."""
    major, _, rest = version.partition(".")
    digits = "".join(letter if letter.isdigit() else " " for letter in rest).split()
    return int(major), int(digits[0]) if digits else 0

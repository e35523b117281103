"""Translation of the driver's errors to ours, and its notifications as records of our logger, in one place."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConnectionPoolError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from scenecypher.errors import (
    CommitUnknown,
    ConstraintViolated,
    DatabaseUnavailable,
    InputError,
    MemoryExceeded,
    QueryFailed,
    QueryTimeout,
    SceneCypherError,
    ServiceError,
)
from scenecypher.settings import variable_of

ADVICE: Final = "the server's log may say more"
DUPLICATE: Final = "it exists already: read it again before writing"
MEMORY: Final = frozenset(
    {"Neo.TransientError.General.MemoryPoolOutOfMemoryError", "Neo.TransientError.General.OutOfMemoryError"}
)
TIMED_OUT: Final = frozenset(
    {
        "Neo.ClientError.Transaction.TransactionTimedOut",
        "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
        "Neo.ClientError.Transaction.LockClientStopped",
        "Neo.ClientError.Transaction.Terminated",
    }
)
BROKEN: Final = (ServiceUnavailable, SessionExpired, ConnectionPoolError)


class WrongPassword(DatabaseUnavailable):
    """The server answers, and refuses the user name or password."""


@contextmanager
def translate_driver_errors(uri: str, limit: str) -> Iterator[None]:
    """Raise our errors for the driver's; misuse of the driver passes unchanged, as a bug.

    `limit` is the time limit of the call, by the beginning of its setting's name.
    """
    try:
        yield
    except Neo4jError as error:
        raise _of_server(error, uri, limit) from error
    except IncompleteCommit as error:
        msg = f"the connection to {uri} broke before the answer to COMMIT: ask again, the work may be done or not"
        raise CommitUnknown(msg, retryable=True) from error
    except BROKEN as error:
        raise _unreachable(uri, error) from error
    except OSError as error:
        raise _of_socket(error, uri, limit) from error
    except OverflowError as error:
        raise InputError(f"a number is out of range; whole numbers go up to {2**63 - 1}") from error
    except UnicodeEncodeError as error:
        raise InputError("half a character stands in the text; write whole characters only") from error
    except ConfigurationError as error:
        raise DatabaseUnavailable(f"{uri} can't be used: {first_line(error)}; correct NEO4J_URI") from error


def is_memory_limit(error: Neo4jError) -> bool:
    """Check if a transaction was ended for its use of memory."""
    return error.code in MEMORY


def memory_exceeded(error: Neo4jError) -> MemoryExceeded:
    """Return our error for it; not retryable, unlike in the driver."""
    return MemoryExceeded(
        f"the transaction needs more memory than the server grants one ({error.code}); "
        "ask for less at once, or raise db.memory.transaction.max (SCENECYPHER_HEAP_MB for the local server)"
    )


def first_line(error: BaseException) -> str:
    """Return the first line of a message: the rest echoes the query."""
    return next(iter(str(getattr(error, "message", None) or error).splitlines()), type(error).__name__)


def _of_server(error: Neo4jError, uri: str, limit: str) -> SceneCypherError:
    if error.code in TIMED_OUT:
        return QueryTimeout(
            f"the transaction was ended at its time limit ({error.code}); ask for less, try when the server is less "
            f"busy, or raise {_more_time(limit)}",
            retryable=True,
        )
    if is_memory_limit(error):
        return memory_exceeded(error)
    if isinstance(error, AuthError):
        return _wrong_password(error, uri)
    known = BY_CODE.get(error.code or "")
    if known:
        return known(error, uri)
    if error.is_retryable():
        return ServiceError(f"{first_line(error)} ({error.code}); try again", retryable=True)
    return QueryFailed(str(error.code), first_line(error), advice=ADVICE)


def _more_time(limit: str) -> str:
    """Return the setting and the option that grant more time."""
    return f"{variable_of(f'{limit}_timeout_s')} (`--{limit}-timeout`)"


def _unreachable(uri: str, error: DriverError) -> DatabaseUnavailable:
    _, found, rest = str(error).rpartition("(reason ")  # such as [Errno 111] Connection refused
    reason = rest.rstrip(")\n ") if found else first_line(error).rstrip(":")
    slow = f"; for one that is slow raise {_more_time('connect')}" if "timed out" in reason.casefold() else ""
    return DatabaseUnavailable(
        f"no answer from Neo4j at {uri}: {reason}; `scenecypher db status` says whether the local server "
        f"runs; for a server of your own check that it is up and that NEO4J_URI is right{slow}",
        retryable=True,
    )


def _of_socket(error: OSError, uri: str, limit: str) -> ServiceError:
    """Return the error of a connection that broke where the driver does not expect it; a commit may be done or not."""
    reason = f"the connection to {uri} broke ({first_line(error)})"
    if limit == "commit":
        return CommitUnknown(f"{reason}: ask again, the work may be done or not", retryable=True)
    return DatabaseUnavailable(f"{reason}; try again", retryable=True)


def _wrong_password(error: Neo4jError, uri: str) -> WrongPassword:
    return WrongPassword(
        f"Neo4j at {uri} refuses the user name or password ({error.code}); set NEO4J_USERNAME and NEO4J_PASSWORD "
        "to those of the server"
    )


def _too_many_attempts(_: Neo4jError, uri: str) -> DatabaseUnavailable:
    return DatabaseUnavailable(
        f"Neo4j at {uri} was given wrong passwords too often and refuses all for some seconds; "
        "wait, then try with the right NEO4J_PASSWORD",
        retryable=True,
    )


def _no_such_database(error: Neo4jError, uri: str) -> DatabaseUnavailable:
    return DatabaseUnavailable(f"Neo4j at {uri}: {first_line(error)}; set NEO4J_DATABASE to one that exists")


BY_CODE: Final[dict[str, Callable[[Neo4jError, str], SceneCypherError]]] = {
    "Neo.ClientError.Security.AuthenticationRateLimit": _too_many_attempts,
    "Neo.ClientError.Security.CredentialsExpired": _wrong_password,
    "Neo.ClientError.Database.DatabaseNotFound": _no_such_database,
    "Neo.ClientError.Schema.ConstraintValidationFailed": lambda error, _: ConstraintViolated(
        str(error.code), first_line(error), advice=DUPLICATE
    ),
}


DRIVERS: Final = "neo4j.notifications"
OURS: Final = "scenecypher.db"


class _Forward(logging.Handler):
    """Handler that passes the driver's records to our logger."""

    def emit(self, record: logging.LogRecord) -> None:
        ours = logging.getLogger(OURS)
        if ours.isEnabledFor(record.levelno):
            ours.handle(logging.makeLogRecord({**record.__dict__, "name": OURS}))


def forward_notices() -> None:
    """Send the driver's notifications to `scenecypher.db`; keep its retry warnings off the terminal. Idempotent.

    A null handler, as usual for libraries, keeps records off the terminal of programs without logging.
    """
    source = logging.getLogger(DRIVERS)
    if not any(isinstance(handler, _Forward) for handler in source.handlers):
        source.addHandler(_Forward())
        source.propagate = False
        for name in ("neo4j", "scenecypher"):
            logging.getLogger(name).addHandler(logging.NullHandler())

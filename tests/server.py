"""The throw-away Neo4j that tests and benchmarks write to: never a user's own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import psutil

from scenecypher.db.local import process, start, status, stop
from scenecypher.db.store.connection import Address
from scenecypher.settings import Settings

FOLDER: Final = Path(__file__).resolve().parent.parent / ".test-db"
OLDEST: Final = Path(__file__).resolve().parent / "data" / "neo4j-5.26.txt"
"""The jars of the oldest series of Neo4j that is promised to work: its newest version."""
JARS: Final = OLDEST if os.environ.get("SCENECYPHER_TEST_DB") == "5.26" else None
HOME: Final = FOLDER / f"run-{os.getpid()}"
"""The home of this run's local server: its data are thrown away with it."""


@contextmanager
def throwaway_server() -> Iterator[Address]:
    """The server that `SCENECYPHER_TEST_DB` asks for: `local` (the default), `5.26`, `container` or `uri`."""
    mode = os.environ.get("SCENECYPHER_TEST_DB", "local")
    if mode not in SERVERS:
        msg = f"SCENECYPHER_TEST_DB={mode}: choose one of {', '.join(SERVERS)}"
        raise ValueError(msg)
    with SERVERS[mode]() as address:
        yield address


def discard_homes(*, of_living: bool = False) -> None:
    """Stop the servers of runs that ended without doing so, and throw their data away; of running ones on demand."""
    for home in FOLDER.glob("run-*"):
        if of_living or not psutil.pid_exists(int(home.name.removeprefix("run-"))):
            discard(home)


def discard(home: Path) -> None:
    """Kill the server of a home, if it runs, and throw its data away."""
    settings = _settings(home)
    if server := status(settings):
        process.terminate(server.pid, within_s=0)
    stop(settings, tell=_tell)  # one whose start was interrupted
    shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _local() -> Iterator[Address]:
    discard_homes()
    server = start(_settings(HOME), tell=_tell)
    try:
        yield Address(server.uri, server.username, server.password)
    finally:
        discard(HOME)


@contextmanager
def _container() -> Iterator[Address]:
    from tests.containers import neo4j_container

    with neo4j_container() as address:
        yield address


@contextmanager
def _named() -> Iterator[Address]:
    uri = os.environ.get("SCENECYPHER_TEST_URI")
    if not uri:
        msg = "SCENECYPHER_TEST_DB=uri needs SCENECYPHER_TEST_URI, a server whose data may be thrown away"
        raise ValueError(msg)
    yield Address(
        uri=uri,
        username=os.environ.get("SCENECYPHER_TEST_USERNAME", "neo4j"),
        password=os.environ.get("SCENECYPHER_TEST_PASSWORD", ""),
        database=os.environ.get("SCENECYPHER_TEST_DATABASE", "neo4j"),
    )


SERVERS: Final[Mapping[str, Callable[..., AbstractContextManager[Address]]]] = {
    "local": _local,
    "5.26": _local,
    "container": _container,
    "uri": _named,
}


def _settings(home: Path) -> Settings:
    return Settings(home=home, server_jars=JARS)


def _tell(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 - pytest keeps it for a failure


if __name__ == "__main__":
    discard_homes(of_living=True)


def environment_of(address: Address) -> dict[str, str]:
    """Return the environment of a process that connects to this server."""
    return {
        **os.environ,
        "NEO4J_URI": address.uri,
        "NEO4J_USERNAME": address.username,
        "NEO4J_PASSWORD": address.password,
        "NEO4J_DATABASE": address.database,
    }

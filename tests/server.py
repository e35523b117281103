"""The throw-away Neo4j that tests and benchmarks write to: never a user's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from db.connection import Address

HOME: Final = Path(__file__).resolve().parent.parent / ".test-db"
"""Where the tests' own local server keeps its jars and data."""


@contextmanager
def throwaway_server() -> Iterator[Address]:
    """The server that `SCENECYPHER_TEST_DB` asks for: `local` (the default), `container` or `uri`."""
    mode = os.environ.get("SCENECYPHER_TEST_DB", "local")
    if mode not in SERVERS:
        msg = f"SCENECYPHER_TEST_DB={mode}: choose one of {', '.join(SERVERS)}"
        raise ValueError(msg)
    with SERVERS[mode]() as address:
        yield address


@contextmanager
def _named() -> Iterator[Address]:
    from db.connection import Address

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


@contextmanager
def _local() -> Iterator[Address]:
    raise NotImplementedError
    yield


@contextmanager
def _container() -> Iterator[Address]:
    raise NotImplementedError
    yield


SERVERS: Final = {"local": _local, "container": _container, "uri": _named}

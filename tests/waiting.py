"""Waiting in tests for what another thread, process or server does, and having others wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from neo4j import GraphDatabase

from scenecypher.db.store.connection import Address


def until(holds: Callable[[], object], *, within_s: float = 120) -> None:
    """Wait until `holds` returns something true."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"it did not hold within {within_s:g} s"
        time.sleep(0.02)


@contextmanager
def locked(address: Address, key: str) -> Iterator[None]:
    """Hold the lock of a scene at the server for the block: its changes wait."""
    with (
        GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver,
        driver.session() as session,
        session.begin_transaction() as tx,
    ):
        tx.run("MATCH (s:Scene {key: $key}) SET s:Scene", key=key).consume()
        yield

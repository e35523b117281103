"""A server in a container, restarted and killed under writers: no acknowledged write is lost."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, LiteralString
from uuid import uuid4

import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import DatabaseUnavailable, ServiceError
from tests import containers
from tests.db.store.test_store import small

if TYPE_CHECKING:
    from testcontainers.community.neo4j import Neo4jContainer

pytestmark = [pytest.mark.container, pytest.mark.timeout(900)]

WRITE: Final[LiteralString] = "CREATE (:Scene {key: $run + ':' + toString($number), run: $run, number: $number})"
WRITTEN: Final[LiteralString] = "MATCH (s:Scene {run: $run}) RETURN collect(s.number) AS numbers"


@pytest.fixture(scope="module")
def container() -> Iterator[Neo4jContainer]:
    reason = containers.why_none()
    if reason and os.environ.get("SCENECYPHER_TEST_DB") == "container":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    with containers.running() as container:
        yield container


class Writer:
    """Writer of numbers, one per transaction, that records which were acknowledged."""

    def __init__(self, container: Neo4jContainer) -> None:
        self.run = uuid4().hex
        self.acknowledged: list[int] = []
        self.broke: list[ServiceError] = []
        self._database = Database(containers.address_of(container), retry_s=0)
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def _write(self) -> None:
        with self._database, suppress(StopIteration):
            for number in range(1_000_000):
                self._write_one(number)
                self.acknowledged.append(number)

    def _write_one(self, number: int) -> None:
        try:
            self._database.execute(WRITE, {"run": self.run, "number": number}, timeout_s=30)
        except ServiceError as error:
            self.broke.append(error)
            raise StopIteration from error

    def until(self, count: int) -> None:
        """Wait until so many writes were acknowledged."""
        deadline = time.monotonic() + 120
        while len(self.acknowledged) < count:
            assert self._thread.is_alive(), self.broke
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def end(self) -> None:
        """Wait until the end of the server has ended the writer."""
        self._thread.join(timeout=120)
        assert not self._thread.is_alive()


def written(container: Neo4jContainer, run: str) -> set[int]:
    with Database(containers.address_of(container)) as database:
        return set(
            database.rows(WRITTEN, {"run": run}, timeout_s=30)[0]["numbers"],
        )


def check(container: Neo4jContainer, writer: Writer) -> None:
    """Check that all acknowledged numbers are stored and at most one more, of which the answer was lost."""
    found, acknowledged = written(container, writer.run), set(writer.acknowledged)
    assert acknowledged <= found
    assert len(found - acknowledged) <= 1
    assert len(writer.broke) == 1


def test_a_scene_goes_in_and_comes_out(container: Neo4jContainer) -> None:
    with Database(containers.address_of(container)) as database:
        assert database.verify().version in containers.IMAGE
        store = SceneStore(database)
        store.prepare()
        store.put(ImportedScene("container/home", small()))
        assert store.load("container/home").graph == small()


def test_a_wrong_password_is_reported(container: Neo4jContainer) -> None:
    address = replace(containers.address_of(container), password="wrong")
    with Database(address) as database, pytest.raises(DatabaseUnavailable, match="NEO4J_PASSWORD"):
        database.verify()


def test_a_restart_under_a_writer_loses_nothing_acknowledged(container: Neo4jContainer) -> None:
    writer = Writer(container)
    writer.until(50)
    container.get_wrapped_container().restart(timeout=60)
    writer.end()
    containers.wait(container)
    check(container, writer)


def test_a_kill_under_a_writer_loses_nothing_acknowledged(container: Neo4jContainer) -> None:
    writer = Writer(container)
    writer.until(50)
    container.get_wrapped_container().kill()
    writer.end()
    container.get_wrapped_container().start()
    containers.wait(container)
    check(container, writer)

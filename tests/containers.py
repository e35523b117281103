"""Neo4j in a container: the official image, with the limits of the local server."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.faults import first_line
from scenecypher.errors import ServiceError

if TYPE_CHECKING:
    from testcontainers.community.neo4j import Neo4jContainer

IMAGE: Final = "neo4j:2026.08.1-community"
LABEL: Final = "scenecypher-test"
USERNAME: Final = "neo4j"
PASSWORD: Final = "thrown-away-with-its-container"
READY_S: Final = 300.0
SETTINGS: Final = {
    "NEO4J_server_memory_heap_max__size": "512m",
    "NEO4J_server_memory_pagecache_size": "128m",
    "NEO4J_db_memory_transaction_max": "128m",
    "NEO4J_server_jvm_additional": "-XX:+ExitOnOutOfMemoryError",
    "NEO4J_dbms_usage__report_enabled": "false",
    "NEO4J_server_fleet__discovery_enabled": "false",
    "NEO4J_internal_server_bolt_thread__pool__shutdown__wait__time": "1s",
}


def why_none(image: str = IMAGE) -> str | None:
    """Why no container of an image can run here; None where one can. Pulls the image where it is missing."""
    import docker  # type: ignore[import-untyped]
    from docker.errors import DockerException, ImageNotFound  # type: ignore[import-untyped]

    try:
        with closing(docker.from_env()) as client:
            try:
                client.images.get(image)
            except ImageNotFound:
                client.images.pull(image)
    except DockerException as error:
        why = f"no Docker that can run {image}: {first_line(error)}"
    else:
        return None
    _collect_sockets()
    return why


def _collect_sockets() -> None:
    """Docker's client never closes a socket that nobody answered: collected here, it warns no later test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@contextmanager
def neo4j_container() -> Iterator[Address]:
    """The address of a server in a container, thrown away at the end."""
    with running() as container:
        yield address_of(container)


@contextmanager
def running() -> Iterator[Neo4jContainer]:
    """A container whose server answers."""
    from testcontainers.community.neo4j import Neo4jContainer

    container = Neo4jContainer(IMAGE, username=USERNAME, password=PASSWORD, labels={LABEL: ""})
    for name, value in SETTINGS.items():
        container.with_env(name, value)
    with container:
        wait(container)
        yield container


def address_of(container: Neo4jContainer) -> Address:
    """Return the server's address; its port differs after each start."""
    container.reload()
    return Address(container.get_connection_url(), USERNAME, PASSWORD)


def wait(container: Neo4jContainer) -> None:
    """Wait until its server answers."""
    deadline = time.monotonic() + READY_S
    while True:
        try:
            with Database(address_of(container)) as database:
                database.verify()
        except ServiceError as error:
            if not error.retryable or time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return

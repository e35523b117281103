"""Connect to the configured server; start the local one if none is configured."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from scenecypher.db.local import Server, Supervisor, start
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.stored_form import check_stored_form
from scenecypher.settings import Settings

SLOTS_ELSEWHERE: Final = 4


def connect(settings: Settings, *, tell: Callable[[str], None]) -> Database:
    """Connect to the server of `NEO4J_URI`, or else to the local one, started if needed, and verify that it answers.

    `tell` gets a line for each step that takes time. Raises DatabaseUnavailable, also for scenes that another version
    stored in another form; InputError.
    """
    database = _opened(settings, tell)
    try:
        database.reach()
        check_stored_form(database)
    except BaseException:
        database.close()
        raise
    return database


def address_of(settings: Settings, *, tell: Callable[[str], None]) -> Address:
    """Return the address of the configured server; start the local one if `NEO4J_URI` is not set."""
    if settings.neo4j_uri is None:
        return _address(start(settings, tell=tell))
    password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
    return Address(
        settings.neo4j_uri, settings.neo4j_username, password, settings.neo4j_database, settings.neo4j_ca_file
    )


def _opened(settings: Settings, tell: Callable[[str], None]) -> Database:
    server = start(settings, tell=tell) if settings.neo4j_uri is None else None
    return Database(
        _address(server) if server else address_of(settings, tell=tell),
        connect_timeout_s=settings.connect_timeout_s,
        retry_s=settings.retry_s,
        read_timeout_s=settings.read_timeout_s,
        commit_timeout_s=settings.commit_timeout_s,
        slots=settings.query_slots or (local_slots() if server else SLOTS_ELSEWHERE),
        supervisor=Supervisor(settings, server, tell=tell) if server else None,
    )


def local_slots() -> int:
    """Return how many heavy queries run at once on the local server: one less than the cores, but at least one."""
    return max(1, (os.cpu_count() or 1) - 1)


def _address(server: Server) -> Address:
    return Address(server.uri, server.username, server.password)

"""Connect to the configured server; start the local one if none is configured."""

from __future__ import annotations

from collections.abc import Callable

from scenecypher.db.local import start
from scenecypher.db.store.connection import Address, Database
from scenecypher.settings import Settings


def connect(settings: Settings, *, tell: Callable[[str], None]) -> Database:
    """Connect to the server of `NEO4J_URI`, or else to the local one, started if needed, and verify that it answers.

    `tell` gets a line for each step that takes time. Raises DatabaseUnavailable, InputError.
    """
    database = Database(address_of(settings, tell=tell), retry_s=settings.retry_s)
    try:
        database.verify()
    except BaseException:
        database.close()
        raise
    return database


def address_of(settings: Settings, *, tell: Callable[[str], None]) -> Address:
    """Return the address of the configured server; start the local one if `NEO4J_URI` is not set."""
    if settings.neo4j_uri is None:
        server = start(settings, tell=tell)
        return Address(server.uri, server.username, server.password)
    password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
    return Address(settings.neo4j_uri, settings.neo4j_username, password, settings.neo4j_database)

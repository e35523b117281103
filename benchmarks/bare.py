"""Transactions of the bare driver, as a program without this library writes them; the references of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from neo4j import READ_ACCESS, WRITE_ACCESS, ManagedTransaction

from scenecypher.db.store.connection import Database

T = TypeVar("T")


def bare_read(database: Database, work: Callable[[ManagedTransaction], T]) -> T:
    """Return what `work` returns in `session.execute_read`, over the same connections."""
    name = database.address.database
    with database._driver.session(database=name, default_access_mode=READ_ACCESS) as session:  # noqa: SLF001 - same pool
        return session.execute_read(work)


def bare_write(database: Database, work: Callable[[ManagedTransaction], T]) -> T:
    """Return what `work` returns in `session.execute_write`, over the same connections."""
    name = database.address.database
    with database._driver.session(database=name, default_access_mode=WRITE_ACCESS) as session:  # noqa: SLF001 - same pool
        return session.execute_write(work)

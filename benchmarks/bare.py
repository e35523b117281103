"""Transactions of the bare driver, as a program without this library writes them; the references of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from neo4j import ManagedTransaction

from scenecypher.db.store.connection import Database

T = TypeVar("T")


def bare(database: Database, work: Callable[[ManagedTransaction], T], *, write: bool = False) -> T:
    """Return what `work` returns in `session.execute_read` or `execute_write`, over the same connections."""
    with database._driver.session(database=database.address.database) as session:  # noqa: SLF001 - same pool
        return session.execute_write(work) if write else session.execute_read(work)

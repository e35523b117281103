"""Creation of the constraints and indexes of the registry that the server lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, LiteralString

from neo4j import ManagedTransaction

from scenecypher.db.schema import definitions
from scenecypher.db.store.connection import Database

INDEX_TIMEOUT_S: Final = 120.0
INDEX_NAMES: Final[LiteralString] = "SHOW INDEXES YIELD name, state RETURN name, state"
AWAIT: Final[LiteralString] = "CALL db.awaitIndexes(60)"


def prepare(database: Database) -> list[str]:
    """Create missing indexes and wait until they are online; return their names. Safe for concurrent processes."""
    present = database.read(_names, timeout_s=INDEX_TIMEOUT_S)
    missing: list[tuple[str, LiteralString]] = [(name, text) for name, text in definitions() if name not in present]
    for _, text in missing:
        database.write(_statement_transaction(text), timeout_s=INDEX_TIMEOUT_S)
    if missing:
        database.read(_statement_transaction(AWAIT), timeout_s=INDEX_TIMEOUT_S)
    return [name for name, _ in missing]


def _names(tx: ManagedTransaction) -> frozenset[str]:
    return frozenset(record["name"] for record in tx.run(INDEX_NAMES) if record["state"] == "ONLINE")


def _statement_transaction(text: LiteralString) -> Callable[[ManagedTransaction], None]:
    def work(tx: ManagedTransaction) -> None:
        tx.run(text).consume()

    return work

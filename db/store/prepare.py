"""Creation of the constraints and indexes of the registry that the server lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, LiteralString

from neo4j import ManagedTransaction

from scenecypher.db.schema import definitions
from scenecypher.db.store.connection import Database
from scenecypher.db.store.stored_form import bring_up_to_date
from scenecypher.errors import QueryFailed, ServiceError

ALREADY_THERE: Final = ("EquivalentSchemaRuleAlreadyExists", "IndexAlreadyExists", "ConstraintAlreadyExists")
"""Ends of the codes of a definition that somebody else has created since the look."""
LOOKS: Final = 4
INDEX_NAMES: Final[LiteralString] = "SHOW INDEXES YIELD name, state RETURN name, state"
AWAIT: Final[LiteralString] = "CALL db.awaitIndexes($seconds)"


def prepare(database: Database, *, tell: Callable[[str], None] | None = None) -> list[str]:
    """Create missing indexes, wait until they are online, and bring stored scenes to the form of today.

    Return the names of the created ones. Safe for concurrent processes; `tell` gets a line for each step that is taken.
    """
    created: list[str] = []
    seconds = 2 * database.commit_timeout_s
    for _ in range(LOOKS):
        present = database.read(_names)
        missing: list[tuple[str, LiteralString]] = [(name, text) for name, text in definitions() if name not in present]
        if not missing:
            bring_up_to_date(database, tell=tell)
            database.is_prepared = True
            return created
        created += [name for name, text in missing if _is_created(database, text)]
        database.read(lambda tx: tx.run(AWAIT, seconds=round(seconds)).consume(), timeout_s=2 * seconds)
    names = ", ".join(name for name, _ in missing)
    raise ServiceError(f"the server does not bring online: {names}; `SHOW INDEXES` in Neo4j Browser says why")


def _is_created(database: Database, definition: LiteralString) -> bool:
    """Create an index or a constraint; False if another process was faster, which `IF NOT EXISTS` does not see."""
    try:
        database.write(_statement_transaction(definition), timeout_s=4 * database.commit_timeout_s)
    except QueryFailed as error:
        if not error.code.endswith(ALREADY_THERE):
            raise
        return False
    return True


def _names(tx: ManagedTransaction) -> frozenset[str]:
    return frozenset(record["name"] for record in tx.run(INDEX_NAMES) if record["state"] == "ONLINE")


def _statement_transaction(text: LiteralString) -> Callable[[ManagedTransaction], None]:
    def work(tx: ManagedTransaction) -> None:
        tx.run(text).consume()

    return work

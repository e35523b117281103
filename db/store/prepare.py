"""Creation of the constraints and indexes of the registry that the server lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, LiteralString

from scenecypher.db.schema import definitions
from scenecypher.db.store.connection import Database
from scenecypher.db.store.stored_form import bring_up_to_date
from scenecypher.errors import QueryFailed, ServiceError

ALREADY_THERE: Final = ("EquivalentSchemaRuleAlreadyExists", "IndexAlreadyExists", "ConstraintAlreadyExists")
"""Ends of the codes of a definition that somebody else has created since the look."""
LOOKS: Final = 4
ONLINE_NAMES: Final[LiteralString] = "SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name"
AWAIT: Final[LiteralString] = "UNWIND $names AS name CALL db.awaitIndex(name, $seconds)"
"""Of ours alone: an index of many vectors is made for minutes."""


def prepare(database: Database, *, tell: Callable[[str], None] | None = None) -> list[str]:
    """Create missing indexes, wait until they are online, and bring stored scenes to the form of today.

    Return the names of the created ones. Safe for concurrent processes; `tell` gets a line for each step that is taken.
    """
    created: list[str] = []
    seconds = 2 * database.commit_timeout_s
    for _ in range(LOOKS):
        present = {record["name"] for record in database.rows(ONLINE_NAMES)}
        missing: list[tuple[str, LiteralString]] = [(name, text) for name, text in definitions() if name not in present]
        if not missing:
            bring_up_to_date(database, tell=tell)
            database.is_prepared = True
            return created
        created += [name for name, text in missing if _is_created(database, text)]
        given = {"names": [name for name, _ in missing], "seconds": round(seconds)}
        database.rows(AWAIT, given, timeout_s=2 * seconds)
    names = ", ".join(name for name, _ in missing)
    raise ServiceError(f"the server does not bring online: {names}; `SHOW INDEXES` in Neo4j Browser says why")


def _is_created(database: Database, definition: LiteralString) -> bool:
    """Create an index or a constraint; False if another process was faster, which `IF NOT EXISTS` does not see."""
    try:
        database.execute(definition, timeout_s=4 * database.commit_timeout_s)
    except QueryFailed as error:
        if not error.code.endswith(ALREADY_THERE):
            raise
        return False
    return True

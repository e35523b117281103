"""The form in which scenes are stored: its constraints and indexes, and its number."""

from __future__ import annotations

from typing import Final, LiteralString

from scenecypher.db.schema import definitions
from scenecypher.db.store.connection import Database
from scenecypher.errors import DatabaseUnavailable, QueryFailed, ServiceError

FORM: Final = 3
"""The form of today, which docs/decisions.md describes; an archive has its number too."""
OLDER: Final = (
    "written by SceneCypher before 0.2, which this one does not read; connect to the database once with release 0.2.0 "
    "(`pip install scenecypher==0.2.0`, then `scenecypher scenes list`), which converts it; then back it up "
    "anew for an archive"
)
NEWER: Final = (
    f"written by a newer SceneCypher; this one reads form {FORM}: upgrade (`pip install --upgrade scenecypher`)"
)

# Databases of before there was a number have none, and those without a scene are of any form.
READ_FORM: Final[LiteralString] = """
OPTIONAL MATCH (f:StoredForm {of: 'scenes'})
WITH f.number AS number, EXISTS { MATCH (s:Scene) WHERE s.status IN ['ready', 'retired'] } AS has_scenes
RETURN coalesce(number, CASE WHEN has_scenes THEN 0 ELSE $form END) AS number
"""
SET_FORM: Final[LiteralString] = "MERGE (f:StoredForm {of: 'scenes'}) ON CREATE SET f.number = $form"


def check_stored_form(database: Database) -> None:
    """Check that stored scenes, if there are any, have the form of today. Raises DatabaseUnavailable."""
    record = database.row(READ_FORM, {"form": FORM})
    if record and (fault := fault_of_form(record["number"])):
        raise DatabaseUnavailable(f"the database at {database.address.uri} has {fault}")


def fault_of_form(number: int) -> str:
    """Return why scenes of a form can't be read, and what to do; empty if they can be."""
    return "" if number == FORM else f"form {number}, {OLDER if number < FORM else NEWER}"


ALREADY_THERE: Final = ("EquivalentSchemaRuleAlreadyExists", "IndexAlreadyExists", "ConstraintAlreadyExists")
"""Ends of the codes of a definition that somebody else has created since the look."""
LOOKS: Final = 4
ONLINE_NAMES: Final[LiteralString] = "SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name"
AWAIT: Final[LiteralString] = "UNWIND $names AS name CALL db.awaitIndex(name, $seconds)"
"""Of ours alone: an index of many vectors is made for minutes."""


def prepare(database: Database) -> list[str]:
    """Create missing indexes and wait until they are online; return their names. Safe for concurrent processes.

    Raises DatabaseUnavailable if stored scenes have another form than that of today.
    """
    check_stored_form(database)
    created: list[str] = []
    seconds = 2 * database.commit_timeout_s
    for _ in range(LOOKS):
        present = {record["name"] for record in database.rows(ONLINE_NAMES)}
        missing: list[tuple[str, LiteralString]] = [(name, text) for name, text in definitions() if name not in present]
        if not missing:
            database.execute(SET_FORM, {"form": FORM})
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

"""Commits in one statement: a change is written only if its scene is still at the version that it was decided at."""

from __future__ import annotations

from typing import Final, LiteralString

from neo4j import ManagedTransaction

from scenecypher.db.store.commit import WritePlan
from scenecypher.db.store.connection import Database, WrongAnswer, row_of
from scenecypher.errors import QueryFailed

# Takes the scene's lock. At another version the division by zero rolls the transaction back.
VERSION_GUARD: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene, s.version = s.version + 1
WITH s, 1 / CASE WHEN s.version = $read_at + 1 AND s.status = 'ready' THEN 1 ELSE 0 END AS unchanged
"""
DIVISION_BY_ZERO: Final = "Neo.ClientError.Statement.ArithmeticError"
"""Server error code of a division by zero."""


def commit_at(database: Database, plan: WritePlan, version: int, *, timeout_s: float) -> int | None:
    """Write a change that was decided at `version`; return the version it made, None if the scene is at another.

    Raises ServiceError; ConstraintViolated if the action id is taken. If a connection breaks, or answers another
    statement, the change may be committed: try again only with the same action id.
    """
    try:
        given = {**plan.parameters, "read_at": version}
        written = database.execute(
            conditional_write(plan), given, timeout_s=timeout_s, echo="action_id", auto_commit=True
        )
    except QueryFailed as error:
        if error.code != DIVISION_BY_ZERO:
            raise
        return None
    return written["version"] if written else None


def commit_in(tx: ManagedTransaction, plan: WritePlan, version: int) -> int:
    """Write a change that was decided at `version` in a transaction that holds the scene's lock; return its version.

    Raises WrongAnswer. Where a row does not match, the server's DIVISION_BY_ZERO ends the transaction.
    """
    given = {**plan.parameters, "read_at": version}
    record = row_of(tx.run(conditional_write(plan), given), "action_id", given["action_id"])
    if record is None:
        raise WrongAnswer
    return int(record["version"])


def conditional_write(plan: WritePlan) -> LiteralString:
    """Return the statement that writes a change if the scene is at the expected version and every row matches."""
    fits: LiteralString = " AND ".join(name + " = size($" + name + ")" for name in plan.groups) or "true"
    end: LiteralString = ", unchanged, 1 / CASE WHEN " + fits + " THEN 1 ELSE 0 END AS fits"
    return VERSION_GUARD + plan.body + "RETURN $action_id AS action_id, s.version AS version" + end

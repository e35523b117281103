"""An action in two round trips where nobody else writes meanwhile: read under the lock, decide, write if unmoved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Committed, Decide, Intent, WritePlan, plan_write, read_locked
from scenecypher.db.store.connection import Database
from scenecypher.db.store.footprint import Footprint
from scenecypher.errors import QueryFailed

# The lock again. If the scene has moved since it was read, the division ends the transaction, as a misfit does below.
VERSION_GUARD: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s.version = s.version + 1
WITH s, 1 / CASE WHEN s.version = $read_at + 1 AND s.status = 'ready' THEN 1 ELSE 0 END AS unmoved
"""
GUARD_ERROR: Final = "Neo.ClientError.Statement.ArithmeticError"
"""What the server says of the divisions."""
ROW_CHECKS: Final[Mapping[str, LiteralString]] = {
    "remove_relations": "remove_relations = size($remove_relations)",
    "remove_nodes": "remove_nodes = size($remove_nodes)",
    "add_nodes": "add_nodes = size($add_nodes)",
    "set_kinds": "set_kinds = size($set_kinds)",
    "set_values": "set_values = size($set_values)",
    "add_relations": "add_relations = size($add_relations)",
}


LOCKED_AFTER_LOSS: Final = 50
"""Actions that are not tried this way on a scene where another writer came first: among many, most tries are lost."""
MOST_SCENES: Final = 1_024


class Contention:
    """Which scenes had another writer lately. Safe to share between threads: a count lost among them costs one try."""

    def __init__(self) -> None:
        self._left: dict[str, int] = {}

    def should_try(self, key: str) -> bool:
        """Whether an action may be alone on this scene; asked once an action."""
        left = self._left.pop(key, 0)
        if left > 1:
            self._left[key] = left - 1
        return not left

    def record_loss(self, key: str) -> None:
        """Take note that another writer came first."""
        if len(self._left) >= MOST_SCENES:
            self._left.clear()
        self._left[key] = LOCKED_AFTER_LOSS


def try_act(
    database: Database, scene: SceneInfo, footprint: Footprint, decide: Decide, *, intent: Intent, timeout_s: float
) -> Committed | None:
    """Read, decide, and write all of it or nothing. None: the scene moved meanwhile; do it with the lock kept.

    What was read is one version of the scene, so a refusal is as final as under a lock held to the end. Raises what
    `decide` raises, ConflictError, SceneReplaced, AlreadyDone, ServiceError; that may be after the commit where a
    connection broke, so who tries again does so with the same action id.
    """
    visit = footprint.plan.brief_lock_new_id_statement if intent.new else footprint.plan.brief_lock_statement
    parameters = {**footprint.parameters, "key": scene.key, "action_id": intent.action_id}
    try:
        record = database.run_autocommit(visit, parameters, timeout_s=timeout_s)
        read = read_locked(record, scene, intent, None)
        delta = decide(read)
        change = plan_write(scene, read, delta, intent=intent)
        given = {**change.parameters, "read_at": read.version}
        written = database.run_autocommit(guarded_write(change), given, timeout_s=timeout_s)
    except QueryFailed as error:
        if error.code != GUARD_ERROR:
            raise
        return None
    return None if written is None else Committed(written["version"], delta)


def guarded_write(change: WritePlan) -> LiteralString:
    """The statement that writes a change to a scene that has not moved, if every row of it fits."""
    fits: LiteralString = " AND ".join(ROW_CHECKS[name] for name in change.groups) or "true"
    end: LiteralString = "RETURN s.version AS version, unmoved, 1 / CASE WHEN " + fits + " THEN 1 ELSE 0 END AS fits"
    return VERSION_GUARD + change.body + end

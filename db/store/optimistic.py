"""Optimistic actions in two round trips: read under a brief lock, decide, write if the version is unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Committed, Decide, Intent, WritePlan, plan_write, read_locked
from scenecypher.db.store.connection import Database
from scenecypher.db.store.footprint import Footprint
from scenecypher.errors import QueryFailed

# Takes the lock again. If the version has changed, the division by zero ends the transaction; so do missing rows below.
VERSION_GUARD: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene, s.version = s.version + 1
WITH s, 1 / CASE WHEN s.version = $read_at + 1 AND s.status = 'ready' THEN 1 ELSE 0 END AS unchanged
"""
GUARD_ERROR: Final = "Neo.ClientError.Statement.ArithmeticError"
"""Error code of the division by zero."""
ROW_CHECKS: Final[Mapping[str, LiteralString]] = {
    "remove_relations": "remove_relations = size($remove_relations)",
    "remove_nodes": "remove_nodes = size($remove_nodes)",
    "add_nodes": "add_nodes = size($add_nodes)",
    "set_kinds": "set_kinds = size($set_kinds)",
    "set_values": "set_values = size($set_values)",
    "add_relations": "add_relations = size($add_relations)",
}


LOCKED_AFTER_LOSS: Final = 50
"""Actions on a scene that keep the lock after another writer came first: with many writers most attempts fail."""
MOST_SCENES: Final = 1_024


class Contention:
    """Scenes with recent concurrent writers. Safe to share between threads: a lost update costs one attempt."""

    def __init__(self) -> None:
        self._left: dict[str, int] = {}

    def should_try(self, key: str) -> bool:
        """Check if an action should be tried optimistically on this scene; called once per action."""
        left = self._left.pop(key, 0)
        if left > 1:
            self._left[key] = left - 1
        return not left

    def record_loss(self, key: str) -> None:
        """Record that another writer came first."""
        if len(self._left) >= MOST_SCENES:
            self._left.clear()
        self._left[key] = LOCKED_AFTER_LOSS


def try_act(
    database: Database, scene: SceneInfo, footprint: Footprint, decide: Decide, *, intent: Intent, timeout_s: float
) -> Committed | None:
    """Read, decide, and write all or nothing; None if the scene changed meanwhile and the lock must be kept.

    The data read belongs to one version of the scene, so a refusal is as final as under a lock. Raises what `decide`
    raises, ConflictError, SceneReplaced, AlreadyCommitted, ServiceError; after a lost connection the commit may have
    happened, so a retry must use the same action id.
    """
    text = footprint.plan.brief_lock_new_id_statement if intent.new else footprint.plan.brief_lock_statement
    parameters = {**footprint.parameters, "key": scene.key, "action_id": intent.action_id}
    try:
        record = database.run_autocommit(text, parameters, timeout_s=timeout_s)
        read = read_locked(record, scene, intent, None)
        delta = decide(read)
        plan = plan_write(scene, read, delta, intent=intent)
        given = {**plan.parameters, "read_at": read.version}
        written = database.run_autocommit(guarded_write(plan), given, timeout_s=timeout_s)
    except QueryFailed as error:
        if error.code != GUARD_ERROR:
            raise
        return None
    return None if written is None else Committed(written["version"], delta)


def guarded_write(plan: WritePlan) -> LiteralString:
    """Return the statement that applies a plan if the scene is unchanged and every row matches."""
    fits: LiteralString = " AND ".join(ROW_CHECKS[name] for name in plan.groups) or "true"
    end: LiteralString = "RETURN s.version AS version, unchanged, 1 / CASE WHEN " + fits + " THEN 1 ELSE 0 END AS fits"
    return VERSION_GUARD + plan.body + end

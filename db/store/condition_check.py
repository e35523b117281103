"""Checks of Conditions on a scene in the database: a compiled query each, and the missing facts in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neo4j import ManagedTransaction

from scenecypher.db.condition import Condition, to_cypher, unmet_parts
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.steady import steady_transaction


@dataclass(frozen=True, slots=True)
class ConditionCheck:
    """The value of a condition on the scene at `version`, and a sentence about each smallest part that fails."""

    holds: bool
    version: int
    missing: tuple[str, ...] = ()


def check_goal(store: SceneStore, scene: SceneInfo, condition: Condition) -> ConditionCheck:
    """Evaluate a closed `condition` by one query; only if it is false, load the graph to explain why.

    Raises SceneReplaced, ServiceError.
    """
    (holds,), version = _values(store, scene, [condition])
    missing = () if holds else unmet_parts(condition, store.as_of(scene.name, version), {})
    return ConditionCheck(holds, version, missing)


def condition_values(store: SceneStore, scene: SceneInfo, conditions: Sequence[Condition]) -> tuple[bool, ...]:
    """Return the value of each closed condition, all at one version. Raises as `check_goal` does."""
    return _values(store, scene, conditions)[0]


def _values(store: SceneStore, scene: SceneInfo, conditions: Sequence[Condition]) -> tuple[tuple[bool, ...], int]:
    """Return the values and the version."""
    queries = [to_cypher(condition, {}) for condition in conditions]

    def work(tx: ManagedTransaction) -> tuple[bool, ...]:
        rows = [tx.run(query.text, {**query.parameters, "scene": scene.key}).single(strict=True) for query in queries]
        return tuple(bool(row["holds"]) for row in rows)

    return steady_transaction(store.database, scene, work)

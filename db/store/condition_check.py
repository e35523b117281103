"""Checks of Conditions on a scene, and the missing facts in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenecypher.db.condition import Condition, evaluate, unmet_parts
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore


@dataclass(frozen=True, slots=True)
class ConditionCheck:
    """The value of a condition on the scene at `version`, and a sentence about each smallest part that fails."""

    holds: bool
    version: int
    missing: tuple[str, ...] = ()


def check_goal(store: SceneStore, scene: SceneInfo, condition: Condition) -> ConditionCheck:
    """Evaluate a closed `condition` on the scene as it is now. Raises SceneReplaced, ServiceError."""
    now = store.now(scene)
    holds = evaluate(condition, now.graph, {})
    return ConditionCheck(holds, now.info.version, () if holds else unmet_parts(condition, now.graph, {}))


def condition_values(store: SceneStore, scene: SceneInfo, conditions: Sequence[Condition]) -> tuple[bool, ...]:
    """Return the value of each closed condition, all at one version. Raises as `check_goal` does."""
    graph = store.now(scene).graph
    return tuple(evaluate(condition, graph, {}) for condition in conditions)

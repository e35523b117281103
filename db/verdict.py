"""Whether a Condition holds of a scene in the database: one compiled query, and in words what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from neo4j import ManagedTransaction

from db.catalog import BY_KEY, SceneInfo
from db.condition import Condition, to_cypher, unmet
from db.condition.cypher import CypherCondition
from db.store import SceneStore
from scenecypher.errors import SceneReplaced, ServiceError

CHECK_TIMEOUT_S: Final = 30.0
CHECK_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether it holds of the scene at `version`, and each smallest part that fails, as a sentence."""

    holds: bool
    version: int
    missing: tuple[str, ...] = ()


def judge(store: SceneStore, scene: SceneInfo, condition: Condition) -> Verdict:
    """The value of a closed `condition` by one query; only where it is false the graph is read, to say why.

    Raises SceneReplaced; ServiceError where the scene moved during each of CHECK_TRIES readings.
    """
    query = to_cypher(condition, {})
    for _ in range(CHECK_TRIES):
        found = store.database.read(_asking(query, scene), timeout_s=CHECK_TIMEOUT_S)
        if found is None:
            continue
        holds, version = found
        missing = () if holds else unmet(condition, store.as_of(scene.name, version), {})
        return Verdict(holds, version, missing)
    raise _restless(scene)


def truths(store: SceneStore, scene: SceneInfo, conditions: Sequence[Condition]) -> tuple[bool, ...]:
    """The value of each closed condition, all at one version. Raises SceneReplaced, ServiceError as `judge` does."""
    queries = [to_cypher(condition, {}) for condition in conditions]

    def work(tx: ManagedTransaction) -> tuple[bool, ...] | None:
        before = _version(tx, scene)
        rows = [tx.run(query.text, {**query.parameters, "scene": scene.key}).single(strict=True) for query in queries]
        return tuple(bool(row["holds"]) for row in rows) if _version(tx, scene) == before else None

    for _ in range(CHECK_TRIES):
        found = store.database.read(work, timeout_s=CHECK_TIMEOUT_S)
        if found is not None:
            return found
    raise _restless(scene)


def _restless(scene: SceneInfo) -> ServiceError:
    msg = f"{scene.name!r} changed during each of {CHECK_TRIES} checks; check again when it rests, or check a copy"
    return ServiceError(msg, retryable=True)


def _asking(query: CypherCondition, scene: SceneInfo) -> Callable[[ManagedTransaction], tuple[bool, int] | None]:
    """The answer and its version; None where the scene moved meanwhile."""

    def work(tx: ManagedTransaction) -> tuple[bool, int] | None:
        before = _version(tx, scene)
        holds: bool = tx.run(query.text, {**query.parameters, "scene": scene.key}).single(strict=True)["holds"]
        return (holds, before) if _version(tx, scene) == before else None

    return work


def _version(tx: ManagedTransaction, scene: SceneInfo) -> int:
    record = tx.run(BY_KEY, key=scene.key).single()
    if record is None or record["s"]["status"] != "ready":
        raise SceneReplaced(scene.name)
    version: int = record["s"]["version"]
    return version

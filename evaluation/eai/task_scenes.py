"""Leased copies of one home, each brought into the initial state of a task.

All tasks begin in the same home, and their scenes differ from one another in some 230 of 6,000 nodes and relations. So
a task is imported like a changed source: by the Delta from the present scene, in one commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache

from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.evaluation.eai.tasks import CACHE_SIZE, TaskStart, all_task_ids, task_start
from scenecypher.evaluation.world_pool import WorldPool

IMPORT = "import"
"""Actor, in a copy's history, of the change to a task's initial state."""


class TaskScenePool:
    """Copies on one connection, as many as are in use at a time; safe to share between threads."""

    def __init__(self, pool: WorldPool | None = None) -> None:
        self._pool = pool or WorldPool()

    @contextmanager
    def lease(self, task_id: str) -> Iterator[tuple[SceneStore, SceneInfo]]:
        """Yield a leased copy in the task's initial state; all changes are undone at the end. Raises ServiceError."""
        store, base, start = self._pool.database().store, _base_start(), task_start(task_id)
        if start.scene.declared != base.scene.declared:
            with store.lease_imported(start.scene, digest=start.scene.digest) as own:
                yield store, own
            return
        with store.lease_imported(base.scene, digest=base_digest()) as copy:
            delta, version = _delta_to_task(task_id), copy.base
            if delta:
                version = store.commit(copy, delta, actor=IMPORT, action=f"{IMPORT} {start.scene.name}").version
            yield store, replace(copy, version=version, base=version)


@cache
def base_digest() -> str:
    """Return the digest of the home that is copied."""
    return _base_start().scene.digest


@cache
def _base_start() -> TaskStart:
    """Return the home in the first task's initial state."""
    return task_start(all_task_ids()[0])


@lru_cache(CACHE_SIZE)
def _delta_to_task(task_id: str) -> Delta:
    return diff(_base_start().graph, task_start(task_id).graph)

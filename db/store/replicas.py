"""Replicas: the scenes that one process acts in, each kept in memory and brought up to date by what it commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from cachetools import LRUCache

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Committed
from scenecypher.db.store.connection import Database
from scenecypher.db.store.load import load_generation
from scenecypher.db.store.replica import Replica

MAX_MEMBERS: Final = 50_000
"""Nodes and relations of the largest scene that is kept: loading it takes a second or two, and about 40 MB."""
TOTAL_MEMBERS: Final = 300_000
"""Nodes and relations of all scenes that are kept."""
ACTIONS_BEFORE_LOADING: Final = 2
"""Actions in a scene before it is loaded: loading a home takes as long as some twenty actions without a replica."""
SCENES_COUNTED: Final = 10_000


class Replicas:
    """The replicas of one store, by scene key. Safe to share between threads: a replica has one user at a time."""

    def __init__(self, database: Database) -> None:
        self._database, self._lock = database, Lock()
        self._kept: LRUCache[str, Replica] = LRUCache(TOTAL_MEMBERS, getsizeof=len)
        self._actions: LRUCache[str, int] = LRUCache(SCENES_COUNTED)
        self._in_use: set[str] = set()

    @contextmanager
    def of(self, scene: SceneInfo) -> Iterator[Replica | None]:
        """Yield the scene's replica for an action; None if it is not worth it, too large, or used by another thread.

        Raises SceneReplaced, ServiceError.
        """
        if not self._is_wanted(scene):
            yield None
            return
        try:
            yield self._replica(scene)
        finally:
            with self._lock:
                self._in_use.discard(scene.key)

    def follow(self, scene: SceneInfo, done: Committed) -> None:
        """Take over a commit that this process made without the replica, if it is the next one and nobody uses it."""
        with self._lock:
            replica = self._kept.get(scene.key)
            if replica is not None and scene.key not in self._in_use:
                replica.follow(done)

    def _is_wanted(self, scene: SceneInfo) -> bool:
        if scene.nodes + scene.relations > MAX_MEMBERS:
            return False
        with self._lock:
            self._actions[scene.key] = actions = self._actions.get(scene.key, 0) + 1
            if actions <= ACTIONS_BEFORE_LOADING or scene.key in self._in_use:
                return False
            self._in_use.add(scene.key)
            return True

    def _replica(self, scene: SceneInfo) -> Replica:
        with self._lock:
            kept = self._kept.get(scene.key)
        if kept is None:
            kept = Replica(self._database, load_generation(self._database, scene))
            with self._lock:
                if len(kept) <= TOTAL_MEMBERS:
                    self._kept[scene.key] = kept
        return kept

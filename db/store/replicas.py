"""Replicas: the scenes that a process touches, kept in memory and brought forward by their events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from cachetools import LRUCache

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.load import LoadedScene
from scenecypher.db.store.replica import Replica, is_alike

KEPT_MEMBERS: Final = 300_000
"""Nodes and relations of all scenes that are kept, some 60 MiB, unless a setting says otherwise."""


class Replicas:
    """The replicas of one store, by scene key; together of `most` members. Safe to share between threads.

    A scene that has more is kept alone.
    """

    def __init__(self, database: Database, *, most: int = KEPT_MEMBERS) -> None:
        self.database, self._lock = database, Lock()
        self._kept: LRUCache[str, Replica] = LRUCache(most, getsizeof=lambda it: min(it.size, most))
        self._loading: dict[str, Replica] = {}

    @contextmanager
    def of(self, scene: SceneInfo) -> Iterator[Replica]:
        """Yield the scene's replica to change the scene by, loaded if it is not kept.

        Raises SceneReplaced, also if the scene has other actions or declarations by now; ServiceError.
        """
        with self._lent(scene) as replica:
            replica.load()
            if not is_alike(replica.scene, scene):
                replica.reload(scene)
            yield replica

    def now(self, scene: SceneInfo, *, at_least: int | None = None) -> LoadedScene:
        """Return the scene as it is now, or as it is known if that is `at_least` of a version.

        Raises SceneReplaced, ServiceError.
        """
        with self._lent(scene) as replica:
            is_known = replica.load() or scene.is_past_copy or (at_least is not None and replica.version >= at_least)
            if not is_known:
                replica.catch_up()
            found = replica.snapshot()
        self.database.versions.note(scene.key, found.info.version)
        return found

    @contextmanager
    def _lent(self, scene: SceneInfo) -> Iterator[Replica]:
        """Yield the scene's replica; measure it anew afterwards, since it may have grown."""
        with self._lock:
            kept = self._kept.get(scene.key, self._loading.get(scene.key))
            replica = self._loading[scene.key] = Replica(self.database, scene) if kept is None else kept
        try:
            yield replica
        finally:
            with self._lock:
                self._loading.pop(scene.key, None)
                self._kept.pop(scene.key, None)
                if replica.is_loaded:
                    self._kept[scene.key] = replica

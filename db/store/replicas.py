"""Replicas: the scenes in which a process acts, kept in memory and updated by each of its commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from cachetools import LRUCache

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.load import load_generation
from scenecypher.db.store.replica import Replica, is_alike

MAX_MEMBERS: Final = 50_000
"""Nodes and relations of the largest scene that is kept: loading that many took 0.75 s and 10 MiB."""
TOTAL_MEMBERS: Final = 300_000
"""Nodes and relations of all scenes that are kept."""
COMMITS_BEFORE_LOADING: Final = 30
"""Commits in a scene before it is loaded for the next: a home (300 nodes, 5,700 relations) takes 0.05 s of processor
time, as much as thirty actions save."""
MAX_COUNTED: Final = 10_000
"""Nodes and relations of the largest scene that is loaded to be counted, once it was changed here.

That takes as much as four or five counts by the server, of which each change makes one necessary."""
SCENES_COUNTED: Final = 50
"""Scenes whose actions are counted, about as many homes as are kept: in turn among more, a home is loaded in vain."""


class Replicas:
    """The replicas of one store, by scene key. Safe to share between threads: one thread at a time uses a replica."""

    def __init__(self, database: Database) -> None:
        self._database, self._lock = database, Lock()
        self._kept: LRUCache[str, Replica] = LRUCache(TOTAL_MEMBERS, getsizeof=_size)
        self._commits: LRUCache[str, int] = LRUCache(SCENES_COUNTED)
        self._in_use: set[str] = set()

    @contextmanager
    def of(self, scene: SceneInfo, *, at_once: bool = False) -> Iterator[Replica | None]:
        """Yield the scene's replica for a commit.

        None for the first commits in a scene that is not kept or if it is too large, unless `at_once`, or if another
        thread uses the replica. Raises SceneReplaced, ServiceError.
        """
        with self._lock:
            self._commits[scene.key] = commits = self._commits.get(scene.key, 0) + 1
            is_due = commits > COMMITS_BEFORE_LOADING or scene.key in self._kept
        with self._lent(scene, is_due=at_once or (is_due and _members(scene) <= MAX_MEMBERS)) as replica:
            if replica is not None and not is_alike(replica.scene, scene):
                replica.reload(scene)
            yield replica

    @contextmanager
    def at(self, scene: SceneInfo, version: int) -> Iterator[Replica | None]:
        """Yield the scene's replica for counting; None if there is none at `version` or later that nobody uses.

        A small scene that was changed here is loaded for it. Raises SceneReplaced, ServiceError.
        """
        with self._lock:
            is_due = scene.key in self._kept or (scene.key in self._commits and _members(scene) <= MAX_COUNTED)
        with self._lent(scene, is_due=is_due) as replica:
            yield replica if replica is not None and replica.version >= version else None

    @contextmanager
    def _lent(self, scene: SceneInfo, *, is_due: bool) -> Iterator[Replica | None]:
        """Yield the scene's replica, loaded if it is not kept; None if it is not due or another thread uses it."""
        with self._lock:
            if is_free := is_due and scene.key not in self._in_use:
                self._in_use.add(scene.key)
        if not is_free:
            yield None
            return
        try:
            yield self._replica(scene)
        finally:
            with self._lock:
                self._in_use.discard(scene.key)
                kept = self._kept.pop(scene.key, None)
                if kept is not None:
                    self._kept[scene.key] = kept  # measured anew: it may have grown

    def _replica(self, scene: SceneInfo) -> Replica:
        with self._lock:
            kept = self._kept.get(scene.key)
        if kept is None:
            kept = Replica(self._database, load_generation(self._database, scene))
            with self._lock:
                self._kept[scene.key] = kept
        return kept


def _members(scene: SceneInfo) -> int:
    return scene.nodes + scene.relations


def _size(replica: Replica) -> int:
    """Return a replica's part of TOTAL_MEMBERS; a scene that is read whole, however large, is kept alone."""
    return min(len(replica), TOTAL_MEMBERS)

"""Enumerations of scenes: what occurs in a scene, counted in memory and cached by version; who has acted there."""

from __future__ import annotations

from typing import Final

from scenecypher.db.store.cache import LRUCache
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.counting import LISTED_NODES_LIMIT, count_graph
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.store.history import read_actors
from scenecypher.db.store.replicas import Replicas

SCENES_CACHED: Final = 64


class Enumerator:
    """Enumerations of scenes, of the latest version each; safe to share between threads."""

    def __init__(
        self,
        replicas: Replicas,
        *,
        scenes_cached: int = SCENES_CACHED,
        listed_nodes_limit: int = LISTED_NODES_LIMIT,
    ) -> None:
        self.replicas, self._listed_nodes_limit = replicas, listed_nodes_limit
        self._cached: LRUCache[str, tuple[int, Enumerations]] = LRUCache(scenes_cached)
        self._actors: LRUCache[tuple[str, int], tuple[int, frozenset[str]]] = LRUCache(scenes_cached)

    def latest(self, scene: SceneInfo) -> int:
        """Return the latest version of a scene that was seen."""
        return max(scene.version, self.replicas.database.versions.latest(scene.key) or 0)

    def of(self, scene: SceneInfo) -> Enumerations:
        """Return Enumerations of `scene.version`, or of a later one that was seen. Raises SceneReplaced."""
        version, cached = self._cached.get(scene.key) or (-1, None)
        wanted = self.latest(scene)
        if cached is not None and version >= wanted:
            return cached
        now = self.replicas.now(scene, at_least=wanted)
        found = count_graph(now.graph, listed_nodes_limit=self._listed_nodes_limit)
        self._cached.put(scene.key, (now.info.version, found))
        return found

    def actors(self, scene: SceneInfo) -> frozenset[str]:
        """Return who acted in a scene up to its latest version that was seen; nobody where nothing happened."""
        since = scene.key, scene.base
        done, found = self._actors.get(since) or (scene.base, frozenset())
        wanted = self.latest(scene)
        if wanted > done:
            found |= read_actors(self.replicas.database, scene.key, after=done, until=wanted)
            self._actors.put(since, (wanted, found))
        return found
